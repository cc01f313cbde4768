/**
 * The port to the agent, played by a script: what the HTTP layer is tested against.
 *
 * @module
 */

import { type AgentEvent, NO_USAGE, type StoredEvent, type Usage } from "../../contract/events.ts";
import type { InputPart, UserPart } from "../../contract/messages.ts";
import type { Answer, TurnHandle, TurnRequest, Turns } from "../../contract/turns.ts";
import { type ErrorData, ServiceError } from "../../base/errors.ts";
import type { Journal, RequestKey, Turn } from "../../contract/journal.ts";

/** What a turn says. Ends the turn when it returns, unless it yielded a `turn_end` itself. */
export type Script = (turn: FakeTurn) => AsyncIterable<AgentEvent> | Iterable<AgentEvent>;

/** Turns that run a script at once, each by itself. */
export class FakeTurns implements Turns {
  /** Every turn that was accepted, in order. */
  readonly accepted: FakeTurn[] = [];
  /** Every answer that was given without a turn; its `request` has a session of no one. */
  readonly asides: FakeTurn[] = [];
  /** What the next submit or aside throws instead. */
  refusal: Error | undefined;
  /** The index of responses, over the accepted turns; without a bound. */
  readonly responses: Journal["responses"] = {
    find: (turnId, credential) => {
      const turn = this.#indexed(turnId, credential);
      return turn && { turnId, sessionKey: turn.request.sessionKey, ...turn.request.response! };
    },
    remove: (turnId, credential) => {
      const turn = this.#indexed(turnId, credential);
      if (turn !== undefined) this.#unlisted.add(turn);
      return Promise.resolve(turn !== undefined);
    },
  };
  readonly #unlisted = new Set<FakeTurn>();
  readonly #script: Script;
  #waiting: ((turn: FakeTurn) => void)[] = [];

  constructor(script: Script) {
    this.#script = script;
  }

  #indexed(turnId: string, credential: string): FakeTurn | undefined {
    return this.accepted.find((turn) =>
      turn.id === turnId && turn.request.response?.credential === credential &&
      !this.#unlisted.has(turn)
    );
  }

  submit(request: TurnRequest): Promise<TurnHandle> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    const earlier = request.requestKey && this.repeated(request.requestKey);
    if (earlier !== undefined) return Promise.resolve(earlier);
    const turn = new FakeTurn(`turn${this.accepted.length + 1}`, request, this.#script);
    this.accepted.push(turn);
    for (const resolve of this.#waiting.splice(0)) resolve(turn);
    return Promise.resolve(turn);
  }

  repeated({ scope, key, digest }: RequestKey): TurnHandle | undefined {
    const turn = this.accepted.findLast(({ request, keyIsFree }) =>
      request.requestKey?.scope === scope && request.requestKey.key === key && !keyIsFree
    );
    if (turn !== undefined && turn.request.requestKey?.digest !== digest) {
      throw new ServiceError("idempotency_conflict", "The key was used with another request");
    }
    return turn?.again(true);
  }

  find(turnId: string): TurnHandle | undefined {
    return this.accepted.find(({ id }) => id === turnId)?.again(false);
  }

  /** Commands are the agent's concern. */
  command(): undefined {}

  aside(request: Parameters<Turns["aside"]>[0]): Answer {
    if (this.refusal !== undefined) throw this.refusal;
    const aside = new FakeTurn(`aside${this.asides.length + 1}`, {
      ...request,
      sessionKey: "",
      channel: "",
      actor: "",
      durable: false,
      attended: false,
    }, this.#script);
    this.asides.push(aside);
    return aside;
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
  readonly acceptedAt = 1_700_000_000_123;
  readonly repeated = false;
  /** Aborts when the turn is cancelled; a script waits with {@linkcode until}. */
  readonly cancelled: AbortSignal;
  /** Readers that are inside `events()` now. */
  readers = 0;
  /** What it was told of its requester, in order. */
  readonly presence: boolean[] = [];
  readonly #cancel = new AbortController();
  readonly #events: StoredEvent[] = [];
  #wake = Promise.withResolvers<void>();
  #left = Promise.withResolvers<void>();

  constructor(readonly id: string, readonly request: TurnRequest, script: Script) {
    this.cancelled = this.#cancel.signal;
    this.#cancel.signal.addEventListener("abort", () => {
      this.#add({ type: "error", error: { code: "turn_cancelled", message: "It was cancelled" } });
      this.#add({ ...ended(), status: "cancelled" });
    });
    this.#run(script);
  }

  /** As it is now. */
  get turn(): Turn {
    const { request } = this;
    const last = this.#events.at(-1)?.event;
    return {
      id: this.id,
      rowid: Number(this.id.replace(/\D+/, "")),
      sessionId: 1,
      afterSeq: 0,
      sessionKey: request.sessionKey,
      channel: request.channel,
      actor: request.actor,
      input: request.input.map(keep),
      durable: request.durable,
      status: last?.type === "turn_end" ? last.status : "running",
      crashes: 0,
      attempts: 1,
      acceptedAt: this.acceptedAt,
    };
  }

  /** Cancelled before any tool ran: its request key may be used again. */
  get keyIsFree(): boolean {
    return this.cancelled.aborted && !this.#events.some(({ event }) => event.type === "tool_call");
  }

  /** Another handle of it, as a later request gets it. */
  again(repeated: boolean): TurnHandle {
    const { id, acceptedAt, turn } = this;
    return {
      id,
      acceptedAt,
      turn,
      repeated,
      events: (signal) => this.events(signal),
      cancel: () => this.cancel(),
      setPresent: (present) => this.setPresent(present),
    };
  }

  setPresent(present: boolean): void {
    this.presence.push(present);
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
      this.#left.resolve();
      this.#left = Promise.withResolvers();
    }
  }

  /** Resolves when nobody reads it: a reader whose client left needs a moment to. */
  async unread(): Promise<void> {
    while (this.readers > 0) await this.#left.promise;
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
    this.#events.push({ seq: this.#events.length + 1, turnId: this.id, event });
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }
}

/** A part as it is on record; the hash is no real one. */
function keep(part: InputPart): UserPart {
  if (part.type === "text") return part;
  const { bytes, ...facts } = part;
  return { ...facts, file: { sha256: `of-${bytes.length}`, bytes: bytes.length } };
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
