/**
 * The way in to the agent: everything that wants a turn (HTTP, the local socket, channels) goes
 * through this port and reads the outcome from the journal.
 *
 * @module
 */

import type { StoredEvent } from "./events.ts";
import type { UserPart } from "./messages.ts";
import type { Turn } from "../journal/types.ts";

/** What is asked of the agent. */
export interface TurnRequest {
  /** `<channel>:<id>`. */
  sessionKey: string;
  channel: string;
  actor: string;
  /** At least one part; the text may not be blank unless there is another part. */
  input: UserPart[];
  /** Goes on after a restart (see `NewTurn.durable`). */
  durable: boolean;
  /** A person opened it and is there. */
  attended: boolean;
  /** Milliseconds for the turn once it runs; the smaller of this and `agent.turnTimeoutS` counts. */
  timeoutMs?: number;
  /** A preset's name or `<provider>/<id>` instead of the configured model. */
  model?: string;
}

/** A turn that was accepted: its row is on the disk. */
export interface TurnHandle {
  readonly turn: Turn;
  /**
   * Its events, from `turn_start` to `turn_end`, live; may be called again, and then starts over.
   * Ends after `turn_end`, or without it when `signal` aborts. Waits while the turn is queued.
   */
  events(signal?: AbortSignal): AsyncIterable<StoredEvent>;
  /** Ends the turn as `cancelled`, its model call and tools included; nothing if it has ended. */
  cancel(): void;
}

/** Lanes over sessions: one turn at a time in each, in the order of acceptance. */
export interface Turns {
  /**
   * Throws `queue_full` when 64 wait in the session, `draining` while the service stops,
   * `model_not_found` for an unknown `model`; in each case nothing was stored.
   */
  submit(request: TurnRequest): Promise<TurnHandle>;
  counts(): { running: number; queued: number };
}
