/**
 * Writes what a turn says, in order, without waiting for each commit.
 *
 * What is in flight is bounded, and the first failure is reported to the turn.
 *
 * @module
 */

import type { Durability, Journal } from "../contract/journal.ts";
import type { AgentEvent } from "../contract/events.ts";
import type { Message } from "../contract/messages.ts";

/** Events that may wait for their commit before the turn has to wait too. */
const MAX_EVENTS_IN_FLIGHT = 512;
/** Characters that may wait likewise. */
const MAX_CHARS_IN_FLIGHT = 1024 * 1024;

/** What the recorder needs. */
export interface RecorderDeps {
  journal: Pick<Journal, "append" | "addMessage">;
  turnId: string;
  /** Called once, with the cause, when a write could not be committed. */
  onFailure: (cause: unknown) => void;
}

/** The pen of one running turn. */
export class Recorder {
  readonly #deps: RecorderDeps;
  #eventsInFlight = 0;
  #charsInFlight = 0;
  #failed = false;
  #room: PromiseWithResolvers<void> | undefined;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
  }

  /** Whether the turn should await {@linkcode Recorder.room} before it says more. */
  get full(): boolean {
    return this.#eventsInFlight >= MAX_EVENTS_IN_FLIGHT ||
      this.#charsInFlight >= MAX_CHARS_IN_FLIGHT;
  }

  /** Resolves when there is room again. */
  room(): Promise<void> {
    if (!this.full) return Promise.resolve();
    this.#room ??= Promise.withResolvers<void>();
    return this.#room.promise;
  }

  /** Says one thing. Resolves with its seq, but need not be awaited: a failure is reported. */
  say(event: AgentEvent, durability?: Durability): Promise<number> {
    const { journal, turnId } = this.#deps;
    return this.#track([event], () => journal.append(turnId, [event], durability));
  }

  /** Adds a message of the context, with its events in the same transaction. */
  add(message: Message, events: readonly AgentEvent[], durability?: Durability): Promise<void> {
    const { journal, turnId } = this.#deps;
    return this.#track(events, () => journal.addMessage(turnId, message, { events, durability }));
  }

  #track<T>(events: readonly AgentEvent[], write: () => Promise<T>): Promise<T> {
    const chars = events.reduce((sum, event) => sum + sizeOf(event), 0);
    this.#eventsInFlight += events.length;
    this.#charsInFlight += chars;
    let written: Promise<T>;
    try {
      written = write();
    } catch (cause) {
      written = Promise.reject(cause);
    }
    const done = () => {
      this.#eventsInFlight -= events.length;
      this.#charsInFlight -= chars;
      if (this.#room !== undefined && !this.full) {
        this.#room.resolve();
        this.#room = undefined;
      }
    };
    written.then(done, (cause) => {
      done();
      if (this.#failed) return;
      this.#failed = true;
      this.#deps.onFailure(cause);
    });
    return written;
  }
}

function sizeOf(event: AgentEvent): number {
  if ("text" in event) return event.text.length;
  if (event.type === "approval_requested") return event.approval.details.length;
  return event.type === "tool_result" ? event.output.length : 0;
}
