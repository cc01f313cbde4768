/**
 * Standing grants: what is allowed in advance, exactly, also when nobody is there to ask.
 *
 * @module
 */

import { isAbsolute } from "@std/path";
import { normalize } from "../config/paths.ts";
import { ServiceError } from "../base/errors.ts";
import { joinHostPort, parseHostPattern } from "../base/host_pattern.ts";
import { SECRET_NAME } from "../secrets/secret_name.ts";
import { type ActionContext, CAPABILITIES, type Capability } from "../contract/actions.ts";
import { canonicalJson } from "../base/canonical_json.ts";

/** One grant. It holds for one action of one subject and nothing near it. */
export interface Grant {
  /** `gr_` and 16 letters and digits. */
  id: string;
  /** The session's key, such as `api:reports`, or `automation:<id>`. */
  subject: string;
  capability: Capability;
  /** The resolved target as {@linkcode grantTarget} writes it. */
  target: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Why; for people. */
  note: string;
  /**
   * Of the automation that it was made for, as that was written then: it holds while the automation is
   * exactly so. Absent: it does not depend on that.
   */
  automationDigest?: string;
}

/** What a grant says, without what it is known by. */
export type GrantFields = Pick<Grant, "subject" | "capability" | "target" | "note">;

/** Whose grants count for an action. */
export interface GrantHolder {
  /** The session's key, or `automation:<id>`. */
  subject: string;
  /** Of the automation as it is written now. */
  automationDigest?: string;
}

/**
 * Whose grants count in a turn: those of its session, or those of its automation, in whatever session it
 * runs. A session alone never has those of an automation, whatever it is called.
 */
export function grantHolder(
  { sessionKey, automation }: Pick<ActionContext, "sessionKey" | "automation">,
): GrantHolder | undefined {
  if (automation !== undefined) {
    return { subject: `${AUTOMATION}${automation.id}`, automationDigest: automation.digest };
  }
  return sessionKey.startsWith(AUTOMATION) ? undefined : { subject: sessionKey };
}

/** Whether a grant counts for that holder. */
export function isHeldBy(
  { subject, automationDigest }: Pick<Grant, "subject" | "automationDigest">,
  holder: GrantHolder | undefined,
): boolean {
  return subject === holder?.subject &&
    (automationDigest === undefined || automationDigest === holder.automationDigest);
}

/** What the subject of an automation's grants begins with. */
const AUTOMATION = "automation:";

/** Longest target of a grant, characters. */
const MAX_GRANT_TARGET_CHARS = 8_000;

/** Longest note of a grant, characters. */
const MAX_GRANT_NOTE_CHARS = 500;

/** Throws `invalid_request` for what could never hold, naming the field, its value and what is expected. */
export function checkGrant({ subject, capability, target, note }: GrantFields): void {
  const refuse = (param: string, value: string, expected: string) =>
    new ServiceError("invalid_request", `${param} is ${quote(value)}; expected ${expected}`, {
      param,
    });
  if (!/^[A-Za-z][A-Za-z0-9_.-]{0,127}:[^\p{C}]{1,300}$/u.test(subject)) {
    throw refuse("subject", subject, "a session's key such as api:reports, or automation:<id>");
  }
  if (!CAPABILITIES.includes(capability)) {
    throw refuse("capability", capability, `one of ${CAPABILITIES.join(", ")}`);
  }
  if (target.length > MAX_GRANT_TARGET_CHARS) {
    throw refuse("target", target, `at most ${MAX_GRANT_TARGET_CHARS} characters`);
  }
  const expected = targetProblem(capability, target);
  if (expected !== undefined) throw refuse("target", target, expected);
  if (note.length > MAX_GRANT_NOTE_CHARS) {
    throw refuse("note", note, `at most ${MAX_GRANT_NOTE_CHARS} characters`);
  }
}

/** What a target of this capability looks like, when this one does not; see {@linkcode grantTarget}. */
function targetProblem(capability: Capability, target: string): string | undefined {
  switch (capability) {
    case "fs.read":
    case "fs.write":
      return isAbsolute(target) && normalize(target) === target && !target.includes("\0")
        ? undefined
        : "an absolute path with its links followed, without . and ..";
    case "net.fetch":
      return isWholeUrl(target) || isUrlWithHeaders(target)
        ? undefined
        : "a whole URL such as https://example.com/";
    case "message.send":
      return /^[^:]+:.+$/s.test(target) ? undefined : "<channel>:<chat_id>";
    case "exec":
      return isCommand(target)
        ? undefined
        : "the command as a refusal or service policy explain shows it: " +
          '{"argv":[…],"cwd":"…","program":"…"}';
    case "mcp.call":
      return /^[a-z][a-z0-9-]{0,31}\/.{1,256}#[0-9a-f]{64}$/s.test(target)
        ? undefined
        : "<server>/<tool>#<definition> as a refusal shows it, the definition in 64 hex digits";
    case "secret.use":
      return isSecretUse(target)
        ? undefined
        : "<secret>@<host>:<port>, or <secret>@<command> as a refusal shows it";
    default:
      return target !== ""
        ? undefined
        : "the target as a refusal or service policy explain shows it";
  }
}

function isWholeUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.href === text;
}

function isCommand(text: string): boolean {
  try {
    const { argv, cwd, program, hosts, ...rest } = JSON.parse(text);
    return Array.isArray(argv) && argv.length > 0 &&
      argv.every((each) => typeof each === "string") &&
      typeof cwd === "string" && typeof program === "string" && Object.keys(rest).length === 0 &&
      (hosts === undefined || isHostList(hosts)) &&
      canonicalJson({ argv, cwd, program, hosts }) === text;
  } catch {
    return false;
  }
}

/** As resolving a command leaves them. */
function isHostList(hosts: unknown): boolean {
  if (!Array.isArray(hosts) || hosts.length === 0) return false;
  if (!hosts.every((host) => typeof host === "string" && isHostPort(host))) return false;
  return canonicalJson([...new Set(hosts)].sort()) === canonicalJson(hosts);
}

function isHostPort(text: string): boolean {
  const pattern = parseHostPattern(text);
  return pattern?.port !== undefined && pattern.ending === undefined &&
    joinHostPort(pattern.host, pattern.port) === text;
}

function isUrlWithHeaders(text: string): boolean {
  try {
    const { url, headers, ...rest } = JSON.parse(text);
    return typeof url === "string" && isWholeUrl(url) && Object.keys(rest).length === 0 &&
      Object.keys(headers).length > 0 &&
      Object.values(headers).every((value) => typeof value === "string") &&
      canonicalJson({ url, headers }) === text;
  } catch {
    return false;
  }
}

const SECRET_USE = new RegExp(`^${SECRET_NAME}@(.+)$`, "s");

function isSecretUse(text: string): boolean {
  const match = SECRET_USE.exec(text);
  if (match === null) return false;
  const recipient = match[1]!;
  if (recipient.startsWith("{")) return isCommand(recipient);
  return isHostPort(recipient.replace(/^http:\/\//, ""));
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
