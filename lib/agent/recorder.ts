/**
 * Writes what a turn says, in order, without waiting for each commit.
 *
 * Pieces of a stream that nobody follows, of a turn that ends with the process, wait a moment for more, and
 * are written as one with whatever comes next. What is in flight is bounded, and the first failure is reported to the turn.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { Durability, Journal, Turn } from "../contract/journal.ts";
import type { AgentEvent } from "../contract/events.ts";
import type { Message } from "../contract/messages.ts";

/** Events that may wait for their commit before the turn has to wait too. */
const MAX_EVENTS_IN_FLIGHT = 512;
/** Characters that may wait likewise. */
const MAX_CHARS_IN_FLIGHT = 1024 * 1024;
/** How long pieces are held, milliseconds: what a crash may take of what nobody has seen. */
const HOLD_MS = 50;
/** Characters of them that are held. */
const MAX_HELD_CHARS = 32 * 1024;

/** What the recorder needs. */
export interface RecorderDeps {
  journal: Pick<Journal, "append" | "addMessage" | "isFollowed">;
  turn: Pick<Turn, "id" | "sessionId" | "durable">;
  clock: Clock;
  /** Called once, with the cause, when a write could not be committed. */
  onFailure: (cause: unknown) => void;
}

type Delta = Extract<AgentEvent, { type: "text_delta" | "reasoning_delta" }>;

/** The pen of one running turn. */
export class Recorder {
  readonly #deps: RecorderDeps;
  #eventsInFlight = 0;
  #charsInFlight = 0;
  #failure: { cause: unknown } | undefined;
  #room: PromiseWithResolvers<void> | undefined;
  #settled: PromiseWithResolvers<void> | undefined;
  #held: Delta[] = [];
  #heldChars = 0;
  #cancelTimer: (() => void) | undefined;
  /** The stream whose first piece has been written. */
  #streamId: string | undefined;

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

  /** Says one thing. Need not be awaited: a failure is reported. */
  say(event: AgentEvent, durability?: Durability): void {
    this.sayAll([event], durability);
  }

  /** Says several things, with one write where they may not be held. */
  sayAll(events: readonly AgentEvent[], durability?: Durability): void {
    if (events.length === 0) return;
    if (!this.#mayHold) {
      return this.#append([...this.takeHeld(), ...events], durability ?? this.#paceOf(events));
    }
    for (const event of events) {
      if (isDelta(event)) this.#hold(event);
      else this.#append([...this.takeHeld(), event], durability);
    }
  }

  /** Adds a message of the context, with its events in the same transaction. */
  add(message: Message, events: readonly AgentEvent[], durability?: Durability): Promise<void> {
    const { journal, turn } = this.#deps;
    const all = [...this.takeHeld(), ...events];
    return this.#track(
      all,
      () => journal.addMessage(turn.id, message, { events: all, durability }),
    );
  }

  /** Gives what is held to the caller, who writes it, before all that is said from here on. */
  takeHeld(): Delta[] {
    const held = this.#held;
    if (held.length === 0) return held;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#held = [];
    this.#heldChars = 0;
    return held;
  }

  /** Writes what is held. */
  flush(): void {
    const held = this.takeHeld();
    if (held.length > 0) this.#append(held);
  }

  /** Resolves when all that was said is on record, but for what is held. Rejects if some of it is not. */
  async settled(): Promise<void> {
    if (this.#eventsInFlight > 0) {
      this.#settled ??= Promise.withResolvers<void>();
      await this.#settled.promise;
    }
    if (this.#failure !== undefined) throw this.#failure.cause;
  }

  /** A durable turn is written as it comes: whoever opened it may read it later, piece by piece. */
  get #mayHold(): boolean {
    const { journal, turn } = this.#deps;
    return !turn.durable && !journal.isFollowed(turn.sessionId);
  }

  /** The first piece of a stream is seen at once. */
  #paceOf(events: readonly AgentEvent[]): Durability | undefined {
    let pace: Durability | undefined = "paced";
    for (const event of events) {
      if (isDelta(event) && event.streamId === this.#streamId) continue;
      pace = undefined;
      if (isDelta(event)) this.#streamId = event.streamId;
    }
    return pace;
  }

  #hold(event: Delta): void {
    const last = this.#held.at(-1);
    if (last?.type === event.type && last.streamId === event.streamId) {
      this.#held[this.#held.length - 1] = { ...last, text: last.text + event.text };
    } else {
      this.#held.push(event);
    }
    this.#heldChars += event.text.length;
    if (this.#heldChars >= MAX_HELD_CHARS) return this.flush();
    this.#cancelTimer ??= this.#deps.clock.after(HOLD_MS, () => this.flush());
  }

  #append(events: readonly AgentEvent[], durability?: Durability): void {
    const { journal, turn } = this.#deps;
    // Its failure is reported.
    this.#track(events, () => journal.append(turn.id, events, durability)).catch(() => {});
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
      if (this.#settled !== undefined && this.#eventsInFlight === 0) {
        this.#settled.resolve();
        this.#settled = undefined;
      }
    };
    written.then(done, (cause) => {
      const isFirst = this.#failure === undefined;
      this.#failure ??= { cause };
      done();
      if (isFirst) this.#deps.onFailure(cause);
    });
    return written;
  }
}

function isDelta(event: AgentEvent): event is Delta {
  return event.type === "text_delta" || event.type === "reasoning_delta";
}

function sizeOf(event: AgentEvent): number {
  if ("text" in event) return event.text.length;
  if (event.type === "approval_requested") return event.approval.details.length;
  return event.type === "tool_result" ? event.output.length : 0;
}
