/**
 * What deliveries are kept in: the outbox, and how far the answer of each turn has been handed over.
 * Every promise resolves once the change is on record, and rejects with nothing changed. What a call
 * costs does not depend on how much else waits.
 *
 * @module
 */

import type { OutboxMessage, OutboxRow, TurnDelivery } from "./journal.ts";

/** A stream of a turn of which something has been sent. */
export interface StreamPlace {
  streamId: string;
  /** Characters of its text that have arrived. */
  acked: number;
  /** Up to where a call is under way, or was when the process died; as `acked` when none is. */
  sending: number;
}

/** A turn whose answer has not been handed over whole. */
export interface ChannelTurn extends TurnDelivery {
  /** The turn's place in the order of acceptance. */
  rowid: number;
  turnId: string;
  sessionId: number;
  /** Everything up to this event is in the outbox or has arrived. */
  seq: number;
  /** Begins after `seq`. */
  stream?: StreamPlace;
}

/** A message that a turn puts into the outbox. */
export interface AddedMessage {
  message: OutboxMessage;
  /** `unknown` and `dead`: it was sent otherwise, or tried to be. Default: `pending`. */
  state?: "pending" | "unknown" | "dead";
  error?: string;
  /** Milliseconds since 1970, if it is of no use as long as others. */
  expiresAt?: number;
  /** It is text of a stream. */
  isPiece?: boolean;
  /** Id of another message, without which it says nothing: left out unless that one may have been sent. */
  after?: string;
}

/** What changes about a turn, in one transaction. */
export interface Move {
  seq?: number;
  /** null: none is open any more. */
  stream?: StreamPlace | null;
  /** One whose id is on record is left out. */
  add?: readonly AddedMessage[];
  /** Ids of messages that nobody needs any more; one that has been sent is left. */
  withdraw?: readonly string[];
  /** Everything is handed over. */
  done?: boolean;
}

/** What is next in a chat. */
export type Claim =
  /** It is `sending` now, with the attempt counted. */
  | { row: OutboxRow }
  /** Nothing before then, milliseconds since 1970. */
  | { waitUntil: number; isRetry: boolean };

/** How an attempt went. */
export type Settlement =
  | { state: "sent" }
  | { state: "unknown" | "dead"; error: string }
  /** To be tried again. `counts`: the attempt is one of those that it has. */
  | { state: "pending"; error: string; notBefore: number; counts: boolean };

/** Rows of a runtime name. */
export interface StoredCounts {
  /** Pending and sending; some that have expired may be among them for a while. */
  waiting: number;
  unknown: number;
  dead: number;
}

export interface DeliveryStore {
  /** Chats of the runtime with messages that wait, in an order of their own, after one. */
  chats(runtimeName: string, afterChatId: string, limit: number): string[];
  /**
   * Takes the chat's oldest message that waits, `full`; undefined when none does. `isDue`: the wait
   * before its next try is over, whatever a wall clock that was set back says.
   */
  claim(runtimeName: string, chatId: string, isDue?: boolean): Promise<Claim | undefined>;
  /** Notes how the attempt at a claimed message went. */
  settle(rowid: number, settlement: Settlement): Promise<void>;
  /**
   * Messages of the runtime that may have been sent wait again, except pieces of streams: for a
   * channel that can tell a repeat. Resolves with how many there were.
   */
  retryUnknown(runtimeName: string): Promise<number>;
  counts(runtimeName: string): StoredCounts;
  /** Notes what has expired and removes what is old, some at a time. */
  tidy(): Promise<void>;
  /**
   * Puts a message that has not been sent back to waiting, for another 24 h. Throws `not_found`, and
   * `invalid_request` for one that was sent or is being sent.
   */
  resend(rowid: number): Promise<OutboxRow>;
  /** Gives a message up: it expires now. Throws as `resend`. */
  drop(rowid: number): Promise<OutboxRow>;

  /** The turn, unless it has been handed over whole or is none of a channel. */
  turn(turnId: string): ChannelTurn | undefined;
  /** Turns in the order of acceptance, after one. */
  turns(afterRowid: number, limit: number): ChannelTurn[];
  /**
   * False, with nothing done, when the turn is gone: its session was deleted. `full` unless told; what
   * it resolved with earlier is then on the disk too.
   */
  move(rowid: number, move: Move, durability?: "full" | "normal"): Promise<boolean>;
}
