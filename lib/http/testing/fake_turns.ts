/**
 * The port to the agent, played by a script: what the HTTP layer is tested against.
 *
 * @module
 */

import { type AgentEvent, NO_USAGE, type StoredEvent, type Usage } from "../../agent/events.ts";
import type { TurnHandle, TurnRequest, Turns } from "../../agent/turns.ts";
import type { ErrorData } from "../../errors.ts";
import type { Turn } from "../../journal/types.ts";

/** What a turn says. Ends the turn when it returns, unless it yielded a `turn_end` itself. */
export type Script = (turn: FakeTurn) => AsyncIterable<AgentEvent> | Iterable<AgentEvent>;

/** Turns that run a script at once, each by itself. */
export class FakeTurns implements Turns {
  /** Every turn that was accepted, in order. */
  readonly accepted: FakeTurn[] = [];
  /** What the next submit throws instead. */
  refusal: Error | undefined;
  readonly #script: Script;
  #waiting: ((turn: FakeTurn) => void)[] = [];

  constructor(script: Script) {
    this.#script = script;
  }

  submit(request: TurnRequest): Promise<TurnHandle> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    const turn = new FakeTurn(`turn${this.accepted.length + 1}`, request, this.#script);
    this.accepted.push(turn);
    for (const resolve of this.#waiting.splice(0)) resolve(turn);
    return Promise.resolve(turn);
  }

  /** Resolves with the next turn that is accepted. */
  next(): Promise<FakeTurn> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  counts(): { running: number; queued: number } {
    return { running: this.accepted.filter(({ over }) => !over).length, queued: 0 };
  }
}

/** One turn of {@linkcode FakeTurns}. */
export class FakeTurn implements TurnHandle {
  readonly turn: Turn;
  /** Aborts when the turn is cancelled; a script waits with {@linkcode until}. */
  readonly cancelled: AbortSignal;
  /** Readers that are inside `events()` now. */
  readers = 0;
  readonly #cancel = new AbortController();
  readonly #events: StoredEvent[] = [];
  #wake = Promise.withResolvers<void>();

  constructor(id: string, readonly request: TurnRequest, script: Script) {
    this.turn = {
      id,
      rowid: Number(id.slice("turn".length)),
      sessionId: 1,
      afterSeq: 0,
      sessionKey: request.sessionKey,
      channel: request.channel,
      actor: request.actor,
      input: request.input,
      durable: request.durable,
      status: "running",
      attempts: 1,
      acceptedAt: 1_700_000_000_123,
    };
    this.cancelled = this.#cancel.signal;
    this.#cancel.signal.addEventListener("abort", () => {
      this.#add({ type: "error", error: { code: "turn_cancelled", message: "It was cancelled" } });
      this.#add({ ...ended(), status: "cancelled" });
    });
    this.#run(script);
  }

  /** Whether it has ended. */
  get over(): boolean {
    return this.#events.at(-1)?.event.type === "turn_end";
  }

  cancel(): void {
    if (!this.over) this.#cancel.abort();
  }

  async *events(signal?: AbortSignal): AsyncGenerator<StoredEvent> {
    const aborted = Promise.withResolvers<void>();
    signal?.addEventListener("abort", () => aborted.resolve());
    this.readers++;
    try {
      for (let at = 0;; at++) {
        while (at >= this.#events.length) {
          if (signal?.aborted) return;
          await Promise.race([this.#wake.promise, aborted.promise]);
        }
        yield this.#events[at]!;
        if (this.#events[at]!.event.type === "turn_end") return;
      }
    } finally {
      this.readers--;
    }
  }

  /** For scripts: waits for a promise, or throws when the turn is cancelled. */
  until<T>(promise: Promise<T>): Promise<T> {
    const { promise: cancelled, reject } = Promise.withResolvers<never>();
    if (this.cancelled.aborted) reject(this.cancelled.reason);
    this.cancelled.addEventListener("abort", () => reject(this.cancelled.reason));
    return Promise.race([promise, cancelled]);
  }

  async #run(script: Script): Promise<void> {
    this.#add({ type: "turn_start", model: "fake/one" });
    try {
      for await (const event of script(this)) this.#add(event);
    } catch (error) {
      if (!this.cancelled.aborted) throw error;
    }
    this.#add(ended());
  }

  #add(event: AgentEvent): void {
    if (this.over) return;
    this.#events.push({ seq: this.#events.length + 1, turnId: this.turn.id, event });
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }
}

/** A turn that ended well. */
export function ended(usage: Usage = NO_USAGE): Extract<AgentEvent, { type: "turn_end" }> {
  return { type: "turn_end", status: "done", finishReason: "stop", usage };
}

/** A turn that failed. */
export function failed(
  error: ErrorData,
  status: "failed" | "timed_out" | "interrupted" | "cancelled" = "failed",
): AgentEvent[] {
  return [{ type: "error", error }, { ...ended(), status }];
}

/** One step of the model that says these pieces. */
export function says(
  pieces: string[],
  { streamId = "s1", resuming = false } = {},
): AgentEvent[] {
  return [
    ...pieces.map((text): AgentEvent => ({ type: "text_delta", streamId, text })),
    { type: "segment_end", streamId, resuming },
  ];
}

/** A turn that says nothing until it is cancelled. */
export async function* staysSilent(turn: FakeTurn): AsyncGenerator<AgentEvent> {
  await turn.until(new Promise(() => {}));
  yield ended();
}
