/**
 * What a person is shown of an action that waits: rendered from what was resolved and will run, never
 * from anything that a model says about it. Facts come first, then the payload: what is written, sent or
 * run. A text that is too long keeps its head and its tail, and says that it isn't whole.
 *
 * @module
 */

import type {
  ActionContext,
  ApprovalBrief,
  ApprovalView,
  CommandTarget,
  ResolvedAction,
  Target,
} from "../contract/actions.ts";
import { secretsNamedIn } from "../policy/secret_references.ts";
import { disguisedNames, mixedWords } from "../base/look_alikes.ts";
import { automationFacts, deliveryWords, scheduleWords } from "../policy/automation_words.ts";
import { recipientText } from "../policy/grant_target.ts";
import { describeRecipient } from "../policy/refusal.ts";
import {
  lineEnds,
  linesEnds,
  visibleCut,
  visibleLine,
  visibleLines,
} from "../base/visible_text.ts";

/** Characters that are shown. */
interface Limits {
  /** Of the target's line and of each fact. */
  maxLine: number;
  /** Of an argument's name. */
  maxName: number;
  /** Of one argument. */
  maxValue: number;
  /** Of all arguments. */
  maxPayload: number;
}

const BOUNDED: Limits = { maxLine: 2_000, maxName: 100, maxValue: 8_000, maxPayload: 24_000 };
const WHOLE: Limits = {
  maxLine: Infinity,
  maxName: Infinity,
  maxValue: Infinity,
  maxPayload: Infinity,
};
/**
 * Characters that a chat shows; what is longer can't be approved there. With the words around them they
 * fit one message of every platform with buttons (Discord takes 2,000), so no split makes new lines.
 */
const MAX_BRIEF_CHARS = 1_700;
/** Of what is longer: characters of a fact, and of the payload. */
const MAX_BRIEF_LINE_CHARS = 400;
const MAX_BRIEF_PAYLOAD_CHARS = 1_000;
/** Look-alike words that are named, and characters of one. */
const MAX_LOOK_ALIKES = 5;
const MAX_WORD_CHARS = 40;

/** What is shown of one action. */
interface Shown {
  /** One line: what it is about. */
  target: string;
  facts: string[];
  payload: string[];
  isWhole: boolean;
}

/** What a view is made of. `id` and the times come from whoever keeps it. */
export interface ApprovalViewOptions {
  action: ResolvedAction;
  context: ActionContext;
  id: string;
  createdAt: number;
  expiresAt: number;
}

/** The view of an action; with `whole` nothing in it is cut. */
export function approvalView(
  { action, context, id, createdAt, expiresAt }: ApprovalViewOptions,
  { whole = false } = {},
): ApprovalView {
  const { target, facts, payload, isWhole } = show(action, whole ? WHOLE : BOUNDED);
  return {
    id,
    digest: action.digest,
    capability: action.capability,
    tool: action.tool,
    target,
    details: [...facts, ...payload].join("\n"),
    isWhole,
    session: visibleCut(context.sessionKey, 200),
    channel: visibleCut(context.channel, 100),
    actor: visibleCut(context.actor, 200),
    createdAt,
    expiresAt,
  };
}

/** What a chat shows of an action. */
export function approvalBrief(action: ResolvedAction): ApprovalBrief {
  const { target, facts, payload, isWhole } = show(action, BOUNDED);
  // A command is its payload, and what it runs with is said before.
  const lead = commandOf(action.target) === undefined ? [target, ...facts] : facts;
  const text = [...lead, ...payload].join("\n");
  if (isWhole && text.length <= MAX_BRIEF_CHARS) return { text, isWhole };
  const ends = [
    ...lead.map((line) => lineEnds(line, MAX_BRIEF_LINE_CHARS)),
    ...linesEnds(payload, MAX_BRIEF_PAYLOAD_CHARS),
  ];
  return { text: ends.join("\n"), isWhole: false };
}

function show(action: ResolvedAction, limits: Limits): Shown {
  const { maxLine, maxName, maxValue, maxPayload } = limits;
  const { args, target } = action;
  const line = visibleLine(targetLine(target));
  const facts = [...targetFacts(target), ...secretFacts(action)].map(visibleLine);
  const values = valuesOf(args, target);
  const shown = values.flatMap(([name, text]) => valueLines(name, text, limits));
  // What a tool of others calls its arguments is not to look like a fact: they stand apart.
  const lines = target.kind === "mcp" && shown.length > 0
    ? ["arguments:", ...shown.map((each) => `  ${each}`)]
    : shown;
  const payload = linesEnds(lines, maxPayload);
  const isCommand = commandOf(target) !== undefined;
  // A command stands in the payload too.
  const isCut = (isCommand ? facts : [line, ...facts]).some(({ length }) => length > maxLine) ||
    values.some(([name, text]) => name.length > maxName || text.length > maxValue) ||
    payload.length < lines.length || payload.some((each, at) => each !== lines[at]);
  const texts = values.map(([, text]) => text);
  return {
    target: lineEnds(line, isCommand ? BOUNDED.maxLine : maxLine),
    facts: [
      ...cautions([line, ...facts, ...isCommand ? texts : []], isCommand ? [] : texts),
      ...facts.map((each) => lineEnds(each, maxLine)),
    ],
    payload,
    isWhole: !isCut,
  };
}

function targetLine(target: Target): string {
  switch (target.kind) {
    case "path":
      return target.real;
    case "url":
      return target.url;
    case "chat":
      return `${target.channel}:${target.chatId}`;
    case "command":
      return commandLine(target);
    case "mcp":
      return `${target.server}/${target.tool}`;
    case "secret":
      return `secret ${target.name} for ${describeRecipient(target.recipient)}`;
    case "automation": {
      const { name, schedule, delivery } = target.spec;
      const to = delivery === undefined ? "" : `; answers: ${deliveryWords(delivery)}`;
      return `automation ${name}: ${scheduleWords(schedule)}${to}`;
    }
    case "unresolved":
      return target.what;
  }
}

function commandLine({ argv }: CommandTarget): string {
  return argv.map(quoteArg).join(" ");
}

/** An argument so that its ends can be seen. */
function quoteArg(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`;
}

/** The command that runs, or that is given a secret. */
function commandOf(target: Target): CommandTarget | undefined {
  if (target.kind === "command") return target;
  return target.kind === "secret" && target.recipient.kind === "command"
    ? target.recipient
    : undefined;
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
        ...target.viaLink ? [`through a link: ${target.path}`] : [],
      ];
    }
    case "url":
      return [
        `host: ${target.host}, port ${target.port}`,
        ...target.addresses.length > 0 ? [`addresses: ${target.addresses.join(", ")}`] : [],
      ];
    case "command":
      return commandFacts(target);
    case "mcp":
      return [
        `server: ${target.server}`,
        `tool of the server: ${target.tool}`,
        `definition: ${target.definition}`,
      ];
    case "secret": {
      const { name, recipient } = target;
      const given = recipient.kind === "host"
        ? [`given to: ${recipientText(recipient)}`]
        : commandFacts(recipient);
      return [`secret: ${name}`, ...given];
    }
    case "automation":
      return automationFacts(target.spec);
    case "chat":
      return (target.files ?? []).map(({ real, bytes }) => `file: ${real} (${bytes} bytes)`);
    case "unresolved":
      return [];
  }
}

function commandFacts({ program, cwd, hosts }: CommandTarget): string[] {
  return [
    `program: ${program}`,
    `folder: ${cwd}`,
    ...hosts === undefined ? [] : [`network: ${hosts.join(", ")}`],
  ];
}

/** Secrets that a command gets, or that a request sends. */
function secretFacts({ args, target }: ResolvedAction): string[] {
  if (target.kind !== "command" && target.kind !== "url") return [];
  const { secrets } = entriesOf(args);
  const names = target.kind === "command"
    ? Array.isArray(secrets) ? secrets.map(String) : []
    : secretsNamedIn(JSON.stringify(args));
  return names.length === 0 ? [] : [`secrets: ${names.join(", ")}`];
}

/** The payload by name. Of a command that is its text, once, and what the facts don't say. */
function valuesOf(args: unknown, target: Target): [string, string][] {
  const { command: _, cwd: _cwd, hosts: _hosts, secrets: _secrets, ...rest } = entriesOf(args);
  const command = commandOf(target);
  const values = Object.entries(command === undefined ? entriesOf(args) : rest)
    .map(([name, value]): [string, string] => [
      name,
      typeof value === "string" ? value : JSON.stringify(value) ?? "",
    ]);
  return command === undefined ? values : [commandValue(command), ...values];
}

function commandValue(command: CommandTarget): [string, string] {
  const [shell, option, text, ...more] = command.argv;
  const isShell = shell === "/bin/sh" && option === "-c" && text !== undefined &&
    more.length === 0;
  return isShell ? ["shell command", text] : ["command", commandLine(command)];
}

function entriesOf(args: unknown): Record<string, unknown> {
  return typeof args === "object" && args !== null ? args as Record<string, unknown> : {};
}

function valueLines(name: string, text: string, { maxName, maxValue }: Limits): string[] {
  const shown = `${lineEnds(visibleLine(name), maxName)}:`;
  const fits = !/[\r\n]/.test(text) && text.length <= 200;
  return fits
    ? [`${shown} ${visibleLine(text)}`]
    : [shown, ...visibleLines(text, { indent: "  | ", maxChars: maxValue })];
}

/** Says which words could be taken for others, with what makes them so as code points. */
function cautions(names: string[], texts: string[]): string[] {
  const found = new Set([
    ...disguisedNames(names.join("\n")),
    ...texts.flatMap(mixedWords),
  ]);
  if (found.size === 0) return [];
  const words = [...found].slice(0, MAX_LOOK_ALIKES)
    .map((word) => `"${codePoints(word.slice(0, MAX_WORD_CHARS))}"`);
  const more = found.size - words.length;
  return [
    `caution, letters that look like others: ${words.join(", ")}${
      more > 0 ? ` and ${more} more` : ""
    }`,
  ];
}

function codePoints(word: string): string {
  // deno-lint-ignore no-control-regex
  return word.replace(/[^\x00-\x7f]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}
