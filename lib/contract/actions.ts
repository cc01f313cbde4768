/**
 * The closed set of things that the service may ask the authority for, as plain data.
 *
 * The service names a tool and its arguments and says in which turn; the authority resolves what
 * they really touch, decides, records, runs and records again. No command line, flag or path of an
 * executable ever crosses.
 *
 * @module
 */

import type { Automation } from "./automation.ts";
import type { ErrorData } from "../base/errors.ts";

/** What an action may do. */
export const CAPABILITIES = [
  "fs.read",
  "fs.write",
  "exec",
  "net.fetch",
  "message.send",
  "mcp.call",
  "automation.write",
  "secret.use",
] as const;

/** One of {@linkcode CAPABILITIES}. */
export type Capability = typeof CAPABILITIES[number];

/** The turn that asks, as far as a decision depends on it. */
export interface ActionContext {
  sessionKey: string;
  turnId: string;
  callId: string;
  /** Where the turn came from: `api`, `cli`, a channel's name. */
  channel: string;
  /** Who opened the turn, such as `cli:local` or `api:anonymous`. */
  actor: string;
  /** A person opened the turn and is still there. */
  attended: boolean;
  /** False: nobody waits for an answer, so what a person would be asked about is refused at once. */
  asks?: false;
  /** The automation that opened the turn, as it is written now; grants are bound to it. */
  automation?: {
    id: string;
    digest: string;
    /** The chat that its answers go to. */
    delivery?: { channel: string; chatId: string };
  };
  /** Real path of the project that the turn works in; absent: the workspace. */
  folder?: string;
  /**
   * Set in the turn of a commission: nothing of it runs. Every action is resolved and judged as it would
   * be in a run, and noted under this id.
   */
  rehearsal?: string;
  /** Hosts that stand in the person's own words in this session's context, lower case. */
  personHosts: readonly string[];
  /** URLs that stand verbatim in earlier tool results of this session's context. */
  toolUrls: readonly string[];
}

/** A tool call, before anything about it was decided. */
export interface ActionRequest {
  tool: string;
  args: unknown;
  context: ActionContext;
}

/**
 * An action that waits for a person, as it may be shown: made from what was resolved, never from the
 * words of a model, and hidden characters made visible.
 */
export interface ApprovalView {
  /** `apr_` and 16 letters and digits. */
  id: string;
  /** The action's digest, 64 hex digits; an answer repeats it. */
  digest: string;
  capability: Capability;
  tool: string;
  /** The resolved target, in words. */
  target: string;
  /** Everything else that the action depends on: facts first, then the payload, such as a text to write. */
  details: string;
  /** Nothing is cut. What is says so in its place; `approvals.get` always gives all of it. */
  isWhole: boolean;
  session: string;
  channel: string;
  actor: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  expiresAt: number;
  /** With `approvals.get`: the target of a grant for exactly this; absent where nothing can grant it. */
  grant?: string;
}

/** An approval as a chat shows it, with as much as fits into a message. */
export interface ApprovalBrief {
  /** Lines: facts first, then the payload. */
  text: string;
  /** Nothing is cut. Otherwise nobody can approve it from a chat. */
  isWhole: boolean;
}

/** How an approval came out. `void`: whoever asked has left, or the service stopped. */
export type ApprovalOutcome = "approved" | "denied" | "expired" | "void";

/** How an action ended. `output` is for the model; it states its own cuts. */
export type ActionResult =
  | { status: "ok"; output: string }
  /** The tool ran, or was about to, and could not do it; `output` says why, for the model. */
  | { status: "failed"; output: string; error: ErrorData }
  /** The gate said no; nothing ran. `output` names capability, target, and the grant it would take. */
  | { status: "refused"; output: string; error: ErrorData; remedy?: Remedy };

/** A person's yes or a grant would have allowed a refused action. */
export interface Remedy {
  /** The command line that grants exactly this; absent where it is too long to be typed. */
  command?: string;
}

/**
 * The port through which a turn acts. Never rejects but with the signal's reason after an abort;
 * every fault is a result. On abort the child is killed with its tree.
 */
export interface ActionPort {
  act(
    request: ActionRequest,
    options: {
      signal: AbortSignal;
      onProgress: (text: string) => void;
      /** The action waits for a person from now on; then, that it does not any more. */
      onApproval?: (event: ApprovalEvent) => void;
      /**
       * Aborts when whoever opened the turn has left: an approval that waits is void then, and what
       * runs goes on.
       */
      left?: AbortSignal;
    },
  ): Promise<ActionResult>;
  /** The turn acts no more: what its actions shared ends. */
  turnEnded(turnId: string): void;
}

/** What is told of an approval while an action waits for it. */
export type ApprovalEvent =
  | { type: "requested"; approval: ApprovalView; brief: ApprovalBrief }
  | { type: "resolved"; approvalId: string; outcome: ApprovalOutcome };

/** What a path really is, once resolved. */
export interface PathTarget {
  kind: "path";
  access: "read" | "write";
  /** As the tool was given it, absolute after joining with the workspace. */
  path: string;
  /** The real path, symbolic links followed; for a file that is to be made, that of its folder plus the name. */
  real: string;
  /** Some component is a symbolic link. */
  viaLink: boolean;
  /** Writing to it: git would obey it or start it, by what the repositories there say. */
  obeyedByGit?: true;
  /** Undefined when it does not exist yet. */
  file?: { isDirectory: boolean; dev: number; ino: number; links: number };
  /** The nearest folder above `real` that exists, so that a new file's place can be compared too. */
  folder: { real: string; dev: number; ino: number };
}

/** What a URL really is, once resolved. */
export interface UrlTarget {
  kind: "url";
  url: string;
  /** Lower case, without brackets. */
  host: string;
  port: number;
  /** Every address that the host resolves to. */
  addresses: readonly string[];
  /**
   * Request headers that the call adds, by lower-case name; a secret stands as `${secret:NAME}`. Absent:
   * none.
   */
  headers?: Readonly<Record<string, string>>;
}

/** A chat on a channel, as a message names it. */
export interface ChatTarget {
  kind: "chat";
  channel: string;
  chatId: string;
  /** It is the chat that the turn's answer goes to, and what is sent goes with that. */
  withAnswer?: true;
  /** What is sent along; reading each is an action of its own. */
  files?: readonly SentFile[];
}

/** A file as it is when it is decided on: one that is written to is another. */
export interface SentFile {
  /** Real path. */
  real: string;
  bytes: number;
  /** When it was last changed (`fileStamp`). */
  stamp: string;
}

/** A command that runs in the sandbox. */
export interface CommandTarget {
  kind: "command";
  /** What the system starts; for a shell command `["/bin/sh", "-c", <text>]`, as nobody can parse it. */
  argv: readonly string[];
  /** Real path of the first of them. */
  program: string;
  /** Real path, in the workspace. */
  cwd: string;
  /**
   * Hosts that it may reach through the proxy, `<host>:<port>`, lower case and sorted.
   * Absent: no network.
   */
  hosts?: readonly string[];
}

/** A tool of an MCP server. */
export interface McpTarget {
  kind: "mcp";
  /** Its name in `mcp.servers`. */
  server: string;
  /** The server's own name of the tool. */
  tool: string;
  /**
   * SHA-256, hex, of which server that is (command or URL) and how it describes the tool: a tool that
   * is described otherwise is another tool, for approvals and grants too.
   */
  definition: string;
}

/** A secret and who is given its value (capability `secret.use`). */
export interface SecretTarget {
  kind: "secret";
  name: string;
  recipient:
    /** `plain`: over http, where everybody on the way can read it. */
    | { kind: "host"; host: string; port: number; plain?: true }
    /** With `hosts`, those can be sent the value too. */
    | CommandTarget;
}

/** An automation that is to be made, whole and with its defaults. */
export interface AutomationTarget {
  kind: "automation";
  spec: Automation;
}

/** What could not be resolved; never allowed. */
export interface UnresolvedTarget {
  kind: "unresolved";
  what: string;
  reason: string;
}

/** What an action is about. */
export type Target =
  | PathTarget
  | UrlTarget
  | ChatTarget
  | CommandTarget
  | McpTarget
  | SecretTarget
  | AutomationTarget
  | UnresolvedTarget;

/** A request whose targets are resolved: what the gate judges and what the record holds. */
export interface ResolvedAction {
  tool: string;
  capability: Capability;
  /** The arguments after the tool's schema has checked them. */
  args: unknown;
  target: Target;
  /** SHA-256, hex, of tool, capability, arguments and target in canonical JSON. */
  digest: string;
}

/** What the gate says of an action, and by which rule. */
export interface Decision {
  effect: "allow" | "ask" | "deny";
  /** Stable name of the rule, such as `workspace.read`. */
  rule: string;
  /** For people: why. */
  reason: string;
}

/** Whether anybody could answer an approval; without one an action that asks is refused at once. */
export type CanAsk = (context: Pick<ActionContext, "sessionKey" | "actor" | "channel">) => boolean;
