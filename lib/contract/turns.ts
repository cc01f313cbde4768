/**
 * The way in to the agent: everything that wants a turn (HTTP, the local socket, channels) goes
 * through this port and reads the outcome from the journal.
 *
 * @module
 */

import type { Provenance } from "./text_part.ts";
import type { StoredEvent } from "./events.ts";
import type { InputPart } from "./messages.ts";

import type { RequestKey, ResponseFacts, Turn, TurnDelivery } from "./journal.ts";

/** The automation that a turn is a run, or a dry run, of. */
export interface TurnAutomation {
  id: string;
  /** Of the automation as it was written when the turn was opened. */
  digest: string;
  /** Model calls; the smaller of this and `agent.maxSteps` counts. */
  maxSteps: number;
  /** Tokens of all its model calls together; past it the turn ends as failed. */
  tokenBudget: number;
  /** Id of the commission that it rehearses for: no action of it runs. */
  rehearsal?: string;
  /** The chat that its answers go to. */
  delivery?: { channel: string; chatId: string };
  /** What an earlier run came to; all that the model is told of what was before. */
  lastResult?: string;
}

/** What is asked of the agent. */
export interface TurnRequest {
  /** `<channel>:<id>`. */
  sessionKey: string;
  channel: string;
  actor: string;
  /** At least one part; the text may not be blank unless there is another part. */
  input: readonly InputPart[];
  /** Goes on after a restart (see `NewTurn.durable`). */
  durable: boolean;
  /** A person opened it and is there. */
  attended: boolean;
  /** False: what a person would be asked about is refused at once. Default: true. */
  asks?: boolean;
  /** Where its session works if it is a new one: a project's real path. Default: the workspace. */
  folder?: string;
  /** Milliseconds for the turn once it runs; the smaller of this and `agent.turnTimeoutS` counts. */
  timeoutMs?: number;
  /** A preset's name or `<provider>/<id>` instead of the configured model. */
  model?: string;
  /** What opened it, when no person did. Kept with the turn, so that it holds after a restart too. */
  automation?: TurnAutomation;
  /** A repeat with the same key gets the turn of the first one. */
  requestKey?: RequestKey;
  /** Puts the turn into the index of responses. */
  response?: ResponseFacts;
  /** Its answer goes to a chat of a channel. */
  delivery?: TurnDelivery;
  /** Whoever opened it hears nothing of it before its end: its acceptance need not be on the disk alone. */
  toldAtEnd?: boolean;
}

/** Something that is being answered. */
export interface Answer {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly acceptedAt: number;
  /**
   * Its events, from `turn_start` to `turn_end`, live; may be called again, and then starts over.
   * Ends after `turn_end`, or without it when `signal` aborts. Waits while it is queued. `patient`:
   * they may come late, as one who wants the whole of it has them, and pieces of a text in one.
   */
  events(signal?: AbortSignal, options?: { patient?: boolean }): AsyncIterable<StoredEvent>;
  /** Ends it as `cancelled`, its model call and tools included; nothing if it has ended. */
  cancel(): void;
}

/** A turn that is on record; its row is on the disk unless it is told of at its end alone. */
export interface TurnHandle extends Answer {
  /** As it was when the handle was made; `Turns.find` gives it as it is now. */
  readonly turn: Turn;
  /** `submit` found its request key on record: the turn was opened by an earlier request. */
  readonly repeated: boolean;
  /**
   * Whether its requester is there, from now on. Without effect on a turn that was opened as
   * unattended, or has ended.
   */
  setPresent(present: boolean): void;
}

/** A message that may be a command. */
export interface CommandRequest {
  sessionKey: string;
  /** Counts as the sender. */
  actor: string;
  /** Of the token that it came with; absent for whoever comes without: the command's rule is met then. */
  scopes?: readonly string[];
  /** False where anybody could pretend to be the actor: then he answers no approval. */
  senderVerified?: boolean;
  input: readonly Said[];
}

/** Lanes over sessions: one turn at a time in each, in the order of acceptance. */
export interface Turns {
  /**
   * Throws `queue_full` when 64 wait in the session, or when this input and those of all turns that
   * wait or run are too much to hold, `storage_full` while the disk has too little room, `draining`
   * while the service stops,
   * `model_not_found` for an unknown `model`, `idempotency_conflict` for a request key that was used
   * with another digest; in each case nothing was stored. Files of the input are stored before the
   * turn is, and go again if it cannot be.
   */
  submit(request: TurnRequest): Promise<TurnHandle>;
  /** The turn that was opened with this key, if any. Throws `idempotency_conflict`. */
  repeated(key: RequestKey): TurnHandle | undefined;
  /** The turn of that id, whether it waits, runs or has ended. */
  find(turnId: string): TurnHandle | undefined;
  /**
   * An answer of the model to one message alone: no session, no tools, nothing on record.
   * Nothing is asked of the model before its events are read. Throws `queue_full` and `draining`.
   */
  aside(request: { input: readonly InputPart[]; timeoutMs?: number }): Answer;
  /**
   * The answer to a command of the chat, such as `/status` or `/approve`, which never enters a history
   * (spec 5, G12); undefined for everything else. To be asked before `submit`: the command is done
   * when this returns an answer, whether it is read or not.
   */
  command(request: CommandRequest): Answer | undefined;
  counts(): { running: number; queued: number };
}

/** A part of a message; one that is no text has none. */
export interface Said {
  readonly type: string;
  readonly text?: string;
  readonly provenance?: Provenance;
}
