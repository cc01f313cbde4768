/**
 * What a command in a chat is: a message such as `/status` that the service answers itself. It is no
 * turn; neither it nor its answer enters the history or is shown to a model.
 *
 * @module
 */

import type { Journal } from "../contract/journal.ts";
import type { SessionModel } from "./session_model.ts";

/**
 * Who may use a command: `read` and `chat` are whoever holds that scope, or comes without scopes (the
 * terminal, the API's key, a sender that a channel lets in); for `approver` the authority decides by
 * the sender.
 */
export type CommandRule = "read" | "chat" | "approver";

/** A command that somebody gave. */
export interface CommandCall {
  /** `<channel>:<id>`; the session need not exist. */
  sessionKey: string;
  /** Counts as the sender. */
  actor: string;
  /** False where anybody could pretend to be the actor. */
  senderVerified?: boolean;
  /** What stands after the name, without space around it. */
  rest: string;
}

/** What is going on in a session. */
export interface SessionWork {
  running?: { cancel(): void };
  waiting: number;
}

/** What commands act on. */
export interface CommandPorts {
  /** Commands that are operations of the authority, whose table is loaded when it is asked for. */
  operationCommands: () => Promise<readonly ChatCommand[]>;
  journal: Pick<Journal, "session" | "newContext" | "setModelPreset" | "contextTokens">;
  /** Names of the presets of the configuration. */
  presets: () => readonly string[];
  /** The model that answers in a session with this preset. */
  modelOf: (preset: string | undefined) => SessionModel;
  /** Most tokens of a context, of any model. */
  contextTokens: () => number;
  work: (sessionKey: string) => SessionWork;
}

/** A command. */
export interface ChatCommand {
  /** In lower case, without the slash. */
  name: string;
  /** What may follow it, as help shows it; absent: nothing may. */
  args?: string;
  /** What it does, in a few words. */
  summary: string;
  rule: CommandRule;
  /** Does it and resolves with what to answer. A ServiceError is told as the reason. */
  run(call: CommandCall, ports: CommandPorts): Promise<string> | string;
}
