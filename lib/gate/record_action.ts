/**
 * An action on record: one line before it, one after it. Arguments and anything derived
 * from them alone stand as keyed digests, and a URL without its query, since either may hold a secret.
 *
 * @module
 */

import { toErrorData } from "../base/errors.ts";
import type {
  ActionContext,
  ActionResult,
  CommandTarget,
  Decision,
  ResolvedAction,
  Target,
} from "../contract/actions.ts";
import type { AuditLog } from "../audit/log.ts";
import { canonicalJson } from "../base/canonical_json.ts";
import { failed } from "./results.ts";

/** The record of an action that was allowed, to be closed exactly once. */
export interface OpenRecord {
  /** Records how it ended, and gives the result back, or one that says that it is not on record. */
  end(
    result: ActionResult | { redirect: string },
    /** What else is to stand in the record; nothing secret. */
    facts?: Record<string, unknown>,
  ): Promise<ActionResult | { redirect: string }>;
  /** Records that it was cut off; never rejects. */
  cut(error: unknown): Promise<void>;
}

/**
 * Records an action before it runs, or that it was refused. Rejects with `audit_unavailable` when it
 * cannot be recorded; then it must not run.
 */
export async function recordAction(
  { audit, now = Date.now }: { audit: AuditLog; now?: () => number },
  { action, context, decision }: {
    action: ResolvedAction;
    context: ActionContext;
    decision: Decision;
  },
): Promise<OpenRecord> {
  const kind = decision.effect === "allow" ? "action.start" : "action.refused";
  const record = await audit.append(kind, {
    tool: action.tool,
    capability: action.capability,
    target: targetData(action.target, audit),
    // Without the key nobody can try out which arguments give a digest.
    digest: audit.digest(action.digest),
    args: audit.digest(canonicalJson(action.args)),
    decision: { effect: decision.effect, rule: decision.rule },
    session: context.sessionKey,
    turn: context.turnId,
    call: context.callId,
    channel: context.channel,
    actor: context.actor,
    attended: context.attended,
    ...context.folder !== undefined && { folder: context.folder },
  });
  const startedAt = now();
  const close = (status: string, fields: Record<string, unknown> = {}) =>
    audit.append("action.end", { start: record.seq, status, ms: now() - startedAt, ...fields });

  return {
    async end(result, facts = {}) {
      try {
        if ("redirect" in result) await close("redirected");
        else if (result.status === "ok") {
          await close("ok", { outputDigest: audit.digest(result.output), ...facts });
        } else await close(result.status, { code: result.error.code, ...facts });
        return result;
      } catch (error) {
        // It has run, and saying otherwise would make the model do it twice.
        const { message } = toErrorData(error);
        const said = "redirect" in result ? "" : `\n${result.output}`;
        return failed(
          "audit_unavailable",
          `It ran, but its end is not on record: ${message}${said}`,
        );
      }
    },
    async cut(error) {
      await close("cut_off", { code: toErrorData(error).code }).catch(() => {});
    },
  };
}

function targetData(target: Target, audit: AuditLog): Record<string, unknown> {
  switch (target.kind) {
    case "path":
      return {
        kind: "path",
        access: target.access,
        real: target.real,
        ...(target.file === undefined ? { isNew: true } : { links: target.file.links }),
        viaLink: target.viaLink,
      };
    case "url": {
      const { origin, pathname, search } = new URL(target.url);
      return {
        kind: "url",
        url: origin + pathname,
        ...(search === "" ? {} : { query: audit.digest(search) }),
        ...(target.headers === undefined ? {} : {
          headers: Object.keys(target.headers),
          headerValues: audit.digest(canonicalJson(target.headers)),
        }),
        addresses: target.addresses,
      };
    }
    case "chat":
      return {
        kind: "chat",
        channel: target.channel,
        chatId: target.chatId,
        ...target.files !== undefined && {
          files: target.files.map(({ real, bytes }) => ({ real, bytes })),
        },
      };
    case "command":
      return commandData(target, audit);
    case "mcp": {
      const { kind, server, tool, definition } = target;
      return { kind, server, tool, definition };
    }
    case "secret": {
      const { kind, name, recipient } = target;
      return {
        kind,
        name,
        recipient: recipient.kind === "host" ? { ...recipient } : commandData(recipient, audit),
      };
    }
    case "automation": {
      const { name, schedule, delivery } = target.spec;
      // What it is told may be anything that a person said.
      return {
        kind: "automation",
        name,
        schedule,
        delivery,
        spec: audit.digest(canonicalJson(target.spec)),
      };
    }
    case "unresolved":
      // It may be anything, a URL with a password too.
      return { kind: "unresolved", what: audit.digest(target.what), reason: target.reason };
  }
}

function commandData(
  { program, cwd, argv, hosts }: CommandTarget,
  audit: AuditLog,
): Record<string, unknown> {
  return {
    kind: "command",
    program,
    cwd,
    // `audit.recordCommands` is the operator's word that no secret stands in a command.
    argv: audit.recordCommands ? argv : audit.digest(canonicalJson(argv)),
    ...(hosts === undefined ? {} : { hosts }),
  };
}
