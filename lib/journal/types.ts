/**
 * What the journal holds and offers: sessions, turns, messages and events in one SQLite file.
 *
 * One writer. Every write is a closure that is put into a batch; one batch is committed per turn of
 * the event loop, and readers are woken after its commit, so nobody sees what could still be lost.
 * Work per append and per read does not depend on how long a session is.
 *
 * @module
 */

import type { AgentEvent, StoredEvent, TurnStatus, Usage } from "../agent/events.ts";
import type { Message, UserPart } from "../agent/messages.ts";
import type { ErrorData } from "../errors.ts";

/** A conversation. */
export interface Session {
  id: number;
  /** `<channel>:<id>`, such as `api:default`. */
  key: string;
  /** First words of its first message. */
  title: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  updatedAt: number;
  turns: number;
  /** Its last event; 0 when there is none. */
  lastSeq: number;
}

/** What opened a turn. It is the inbox row: written before anything is acknowledged. */
export interface NewTurn {
  id: string;
  sessionKey: string;
  channel: string;
  actor: string;
  input: UserPart[];
  /**
   * Whether the work goes on after a restart. False for work whose caller is gone with the process
   * (chat completions, one-shot commands): that closes as `interrupted`.
   */
  durable: boolean;
}

/** A turn on record. */
export interface Turn extends NewTurn {
  sessionId: number;
  status: "queued" | "running" | TurnStatus;
  /** How often a run of it was started, written before each. */
  attempts: number;
  acceptedAt: number;
  startedAt?: number;
  endedAt?: number;
  usage?: Usage;
  error?: ErrorData;
}

/** A message of the context with its place on record. */
export interface StoredMessage {
  id: number;
  turnId: string;
  message: Message;
  /** Estimated tokens. */
  tokens: number;
}

/** How sure a write has to be: `full` is on the disk before the promise resolves. */
export type Durability = "full" | "normal";

/** What a follower of a session asks for. */
export interface FollowOptions {
  /** Events with a higher seq; 0 for all. */
  afterSeq: number;
  /** Ends the iteration (without an error). */
  signal?: AbortSignal;
  /** Stop at the end of what there is instead of waiting for more. */
  live?: boolean;
}

/** The journal. Every promise of a write rejects with the cause if its batch could not be committed. */
export interface Journal {
  /** Accepts a turn: makes its session if new, writes the row with its input, `full`. */
  accept(turn: NewTurn): Promise<Turn>;
  /**
   * Marks a turn as running and counts the attempt. With the first one its user message enters the
   * context, as the newest: one that waited must not stand before the answer that it waited for.
   * Resolves after the commit, which also holds what was written in the same turn of the event loop.
   */
  start(turnId: string): Promise<void>;
  /**
   * Adds events to a turn. Durability `normal` unless told. Appends of one session keep their
   * order. Resolves with the seq of the last one, after the commit.
   */
  append(turnId: string, events: readonly AgentEvent[], durability?: Durability): Promise<number>;
  /** Adds a message of the context, together with events if given, in one transaction. */
  addMessage(
    turnId: string,
    message: Message,
    options?: { events?: readonly AgentEvent[]; durability?: Durability },
  ): Promise<void>;
  /**
   * Ends a turn: appends `error` (if any) and `turn_end`, sets the row; `full`. With `forget`, the
   * turn's messages leave the model's context (they stay on record).
   */
  end(turnId: string, end: {
    event: Extract<AgentEvent, { type: "turn_end" }>;
    error?: ErrorData;
    forget: boolean;
  }): Promise<void>;
  /**
   * Replaces everything before `keepFrom` (a message id) in the context of the session by a summary,
   * and appends the `summary` event. The raw history stays.
   */
  compact(turnId: string, summary: string, keepFrom: number): Promise<void>;

  /** The model's context of a session, oldest first, the summary (if any) in front. */
  context(sessionId: number): StoredMessage[];
  /** Every message ever, in pages, also those no longer in the context. */
  history(sessionId: number, afterId: number, limit: number): StoredMessage[];
  /**
   * Events from a number on, then live ones as they are committed. Any number of followers; each
   * reads pages of at most 256 rows, so a slow one costs nothing but its own place. Ends when the
   * session is deleted.
   */
  follow(sessionId: number, options: FollowOptions): AsyncIterable<StoredEvent>;

  session(key: string): Session | undefined;
  turn(id: string): Turn | undefined;
  turns(sessionId: number, afterRowid: number, limit: number): Turn[];
  /** Newest first. `before`: only those updated earlier (a page's cursor). */
  sessions(options: { limit: number; before?: number }): Session[];
  /** Removes a session whole. Resolves false when there is none; throws `invalid_request` while a turn runs in it. */
  deleteSession(key: string): Promise<boolean>;

  /**
   * Puts in order what a crash left: open streams are closed, calls without a result get an
   * `interrupted` one, the results of a step whose tool message is missing get that message (those on
   * record keep their output), foreground turns end as `interrupted`, durable ones are returned to be run
   * again, those with two crashed attempts end as `failed`. Called once, before anything is accepted.
   */
  recover(): Promise<{ interrupted: number; resume: Turn[] }>;

  /** Commits what is waiting and closes the file. */
  close(): Promise<void>;
}
