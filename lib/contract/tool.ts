/**
 * What a tool is: data about it, and how its arguments name what it touches.
 *
 * A tool's own file, `lib/tools/<name>.ts`, holds this; its child side, `lib/tools/child/<name>.ts`,
 * holds what runs in the executor, and imports neither zod nor anything of the service, so that a
 * child starts fast and the authority never loads networking code.
 *
 * @module
 */

import type { z } from "zod";
import type { Automation } from "./automation.ts";
import { CAPABILITIES, type Capability } from "./actions.ts";

/** What a tool touches, before resolution. */
export type Touch =
  /** A path in or relative to the workspace. */
  | { kind: "path"; access: "read" | "write"; path: string }
  /** `headers`: what is added to the request, by lower-case name. */
  | { kind: "url"; url: string; headers?: Readonly<Record<string, string>> }
  /** Without a chat: the one that the turn's answer goes to. `files`: paths of what is sent along. */
  | { kind: "chat"; channel?: string; chatId?: string; files?: readonly string[] }
  /** A program and its arguments, or a text for the shell; `cwd` in or relative to the workspace. */
  | {
    kind: "command";
    command: string | readonly string[];
    cwd: string;
    /** Hosts that it wants to reach, as the arguments name them. */
    hosts?: readonly string[];
  }
  | { kind: "mcp"; server: string; tool: string }
  | ScheduledTouch;

/** An automation that is to be made. */
export interface ScheduledTouch {
  kind: "automation";
  spec: Omit<Automation, "delivery">;
  /** Absent: its answers go nowhere. `to`: by default the chat that the turn is in. */
  deliver?: {
    when: NonNullable<Automation["delivery"]>["when"];
    to?: { channel: string; chatId: string };
  };
}

/** A tool of the agent. */
export interface Tool<Args = unknown> {
  /** `^[a-z][a-z0-9_]*$`, at most 64 characters; also the name of its files. */
  readonly name: string;
  /** For the model. */
  readonly description: string;
  readonly capability: Capability;
  /** Changes nothing, so calls of it may run beside each other. */
  readonly readOnly: boolean;
  readonly schema: z.ZodType<Args>;
  /** What these arguments touch; total and without effects. */
  touches(args: Args): Touch;
  /**
   * Names of the secrets that a run with these arguments is given; each is an action of its own
   * (`secret.use`). Absent: none.
   */
  secrets?(args: Args): readonly string[];
  /**
   * Paths, in or relative to the workspace, of files whose bytes a run with these arguments takes; each
   * is an action of its own (`fs.read`). Absent: none.
   */
  reads?(args: Args): readonly string[];
  /** Why no call of it can run, and what would change that. Absent: it can. */
  readonly unavailable?: string;
  /**
   * What the configuration gives its child beside the arguments. It may hold a key, so it goes into the
   * child's task alone: never into a record, a digest or an approval. Only the authority's table has it.
   */
  readonly childSettings?: unknown;
  /**
   * It works on the bytes of files and has no parser of a format: the actions of a turn in the workspace share
   * a process (`lib/executor/turn_workers.ts`). Absent: each has its own.
   */
  readonly sharesProcess?: true;
  /** A short breadcrumb for people, such as `read_file notes.md`. */
  hint(args: Args): string;
  /** Time that one run may take, milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Checks a tool's definition and gives it its general type. Throws a TypeError on one that breaks a
 * rule, so that a tool without a capability never gets as far as the gate.
 */
export function defineTool<Args>(tool: Tool<Args>): Tool {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(tool.name)) {
    throw new TypeError(`Cannot define tool "${tool.name}": expected a name of a-z, 0-9 and _`);
  }
  if (!CAPABILITIES.includes(tool.capability)) {
    throw new TypeError(
      `Cannot define tool "${tool.name}": its capability is "${tool.capability}", ` +
        `expected one of ${CAPABILITIES.join(", ")}`,
    );
  }
  return tool as unknown as Tool;
}
