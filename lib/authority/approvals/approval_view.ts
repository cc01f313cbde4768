/**
 * What a person is shown of an action that waits: rendered from what was resolved and will run, never
 * from anything that a model says about it (decisions E4).
 *
 * @module
 */

import type {
  ActionContext,
  ApprovalView,
  CommandTarget,
  ResolvedAction,
  Target,
} from "../actions.ts";
import { automationFacts, deliveryWords, scheduleWords } from "../policy/automation_words.ts";
import { recipientText } from "../policy/grant_target.ts";
import { describeRecipient } from "../policy/refusal.ts";
import { visibleCut, visibleLine, visibleLines } from "../visible_text.ts";

/** Characters of the target's line. */
const MAX_TARGET_CHARS = 2_000;
/** Characters of one argument, and lines of details that arguments may make. */
const MAX_VALUE_CHARS = 8_000;
const MAX_DETAILS_CHARS = 24_000;

/** The view of an action. `id` and the times come from whoever keeps it. */
export function approvalView(
  { action, context, id, createdAt, expiresAt }: {
    action: ResolvedAction;
    context: ActionContext;
    id: string;
    createdAt: number;
    expiresAt: number;
  },
): ApprovalView {
  return {
    id,
    digest: action.digest,
    capability: action.capability,
    tool: action.tool,
    target: targetLine(action.target),
    details: details(action),
    session: visibleCut(context.sessionKey, 200),
    channel: visibleCut(context.channel, 100),
    actor: visibleCut(context.actor, 200),
    createdAt,
    expiresAt,
  };
}

function targetLine(target: Target): string {
  switch (target.kind) {
    case "path":
      return visibleCut(target.real, MAX_TARGET_CHARS);
    case "url":
      return visibleCut(target.url, MAX_TARGET_CHARS);
    case "chat":
      return visibleCut(`${target.channel}:${target.chatId}`, MAX_TARGET_CHARS);
    case "command":
      return visibleCut(target.argv.map(quoteArg).join(" "), MAX_TARGET_CHARS);
    case "mcp":
      return visibleCut(`${target.server}/${target.tool}`, MAX_TARGET_CHARS);
    case "secret":
      return visibleCut(
        `secret ${target.name} for ${describeRecipient(target.recipient)}`,
        MAX_TARGET_CHARS,
      );
    case "automation": {
      const { name, schedule, delivery } = target.spec;
      const to = delivery === undefined ? "" : `; answers: ${deliveryWords(delivery)}`;
      return visibleCut(`automation ${name}: ${scheduleWords(schedule)}${to}`, MAX_TARGET_CHARS);
    }
    case "unresolved":
      return visibleCut(target.what, MAX_TARGET_CHARS);
  }
}

/** An argument so that its ends can be seen. */
function quoteArg(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`;
}

function details({ args, target }: ResolvedAction): string {
  const shown = argLines(args);
  // What a tool of others calls its arguments is not to look like a fact: they stand apart.
  const lines = target.kind === "mcp" && shown.length > 0
    ? ["arguments:", ...shown.map((line) => `  ${line.replaceAll("\n", "\n  ")}`)]
    : shown;
  const text = [...targetFacts(target), ...lines].join("\n");
  if (text.length <= MAX_DETAILS_CHARS) return text;
  const rest = text.length - MAX_DETAILS_CHARS;
  return `${
    text.slice(0, MAX_DETAILS_CHARS).toWellFormed()
  }\n[… ${rest} more characters; the digest covers them]`;
}

function targetFacts(target: Target): string[] {
  switch (target.kind) {
    case "path": {
      const is = target.file === undefined
        ? "does not exist yet"
        : target.file.isDirectory
        ? "a folder"
        : `a file${target.file.links > 1 ? ` with ${target.file.links} names` : ""}`;
      return [
        `access: ${target.access} (${is})`,
        ...target.viaLink ? [`through a link: ${visibleCut(target.path, MAX_TARGET_CHARS)}`] : [],
      ];
    }
    case "url":
      return [
        `host: ${visibleLine(target.host)}, port ${target.port}`,
        ...target.addresses.length > 0 ? [`addresses: ${target.addresses.join(", ")}`] : [],
      ];
    case "command":
      return [
        `program: ${visibleCut(target.program, MAX_TARGET_CHARS)}`,
        `folder: ${visibleCut(target.cwd, MAX_TARGET_CHARS)}`,
        ...networkFacts(target),
      ];
    case "mcp":
      return [
        `server: ${visibleCut(target.server, 100)}`,
        `tool of the server: ${visibleCut(target.tool, 200)}`,
        `definition: ${visibleCut(target.definition, 100)}`,
      ];
    case "secret": {
      const { recipient } = target;
      return [
        `secret: ${visibleCut(target.name, 100)}`,
        ...recipient.kind === "host" ? [`given to: ${visibleLine(recipientText(recipient))}`] : [
          `given to: ${visibleCut(describeRecipient(recipient), MAX_TARGET_CHARS)}`,
          `program: ${visibleCut(recipient.program, MAX_TARGET_CHARS)}`,
          `folder: ${visibleCut(recipient.cwd, MAX_TARGET_CHARS)}`,
          ...networkFacts(recipient),
        ],
      ];
    }
    case "automation":
      return automationFacts(target.spec).map((line) => visibleCut(line, MAX_TARGET_CHARS));
    case "chat":
    case "unresolved":
      return [];
  }
}

function networkFacts({ hosts }: CommandTarget): string[] {
  return hosts === undefined ? [] : [`network: ${visibleCut(hosts.join(", "), MAX_TARGET_CHARS)}`];
}

function argLines(args: unknown): string[] {
  if (typeof args !== "object" || args === null) return [];
  return Object.entries(args).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
    const shown = `${visibleCut(name, 100)}:`;
    const fits = !/[\r\n]/.test(text) && text.length <= 200;
    return fits
      ? `${shown} ${visibleLine(text)}`
      : `${shown}\n${visibleLines(text, { indent: "  | ", maxChars: MAX_VALUE_CHARS })}`;
  });
}
