/**
 * A turn from its acceptance to its end, as its caller holds it.
 *
 * @module
 */

import type { ServiceError } from "../base/errors.ts";
import type { Journal, Turn } from "../contract/journal.ts";
import type { Model } from "../model/port.ts";
import type { StoredEvent } from "../contract/events.ts";
import type { Life } from "../contract/life.ts";
import type { SessionModel } from "./session_model.ts";
import type { TurnHandle } from "../contract/turns.ts";
import type { TraceContext } from "../telemetry/trace.ts";
import type { Place } from "./lane.ts";
import { cancellation } from "./verdicts.ts";

/**
 * Who could answer for a turn: a person who is there; one who was there before a restart and may come
 * back; or nobody, ever.
 */
export type Requester = "present" | "expected" | "none";

/** Made once: the stack of an abort's own reason costs more than all else about it. */
const LEFT = new DOMException("Nobody reads it any more", "AbortError");

/** What an accepted turn needs. */
export interface AcceptedTurnDeps {
  turn: Turn;
  journal: Pick<Journal, "follow">;
  /** Asked once, when the turn begins: what is chosen until then counts. */
  pickModel: () => SessionModel;
  /** As the caller said; undefined for no bound of its own. */
  timeoutMs?: number;
  requester: Requester;
  /** See `TurnRequest.asks`. */
  asks?: boolean;
  /** Where it waits or runs; absent for one that has ended. */
  place?: Pick<Place<AcceptedTurn>, "leave">;
  /** Its `turn_start`, when that was written with it. */
  begun?: StoredEvent;
  /** Of the request that opened it. */
  trace?: TraceContext;
  /** Called when it is cancelled while it waits, once it has left its place. */
  onCancelled?: () => void;
}

/** Whether the person who opened a turn is there, as it is now. */
export type Presence = Pick<AcceptedTurn, "attended" | "asks" | "left" | "returning">;

/** A turn that is on record. */
export class AcceptedTurn {
  turn: Turn;
  readonly #deps: AcceptedTurnDeps;
  readonly #opened = Promise.withResolvers<number>();
  readonly #readers = new Set<() => void>();
  #over = false;
  #lost: ServiceError | undefined;
  #cancelled = false;
  #picked: SessionModel | undefined;
  #leaving = new AbortController();
  /** Until it is known whether the requester has come back. */
  #returning: PromiseWithResolvers<void> | undefined;
  /** While it runs. */
  life: Life | undefined;
  /** Its `turn_start` is on record. */
  isOpen: boolean;

  constructor(deps: AcceptedTurnDeps) {
    this.#deps = deps;
    this.turn = deps.turn;
    if (deps.requester === "expected") this.#returning = Promise.withResolvers();
    // An earlier run has said it in the same commit that counted the attempt.
    this.isOpen = deps.turn.attempts > 0 || deps.begun !== undefined;
    // Whoever reads gets the rejection; without a reader it is none's.
    this.#opened.promise.catch(() => {});
  }

  /** Its `turn_start`, when that was written with it. */
  get begun(): StoredEvent | undefined {
    return this.#deps.begun;
  }

  /** Where its spans belong. */
  get trace(): TraceContext | undefined {
    return this.#deps.trace;
  }

  get model(): Model {
    return this.#pick().model;
  }

  /** What people are to know about the model that answers. */
  get notice(): string | undefined {
    return this.#pick().notice;
  }

  #pick(): SessionModel {
    return this.#picked ??= this.#deps.pickModel();
  }

  get timeoutMs(): number {
    return this.#deps.timeoutMs ?? Infinity;
  }

  /** A person opened it and is still there. */
  get attended(): boolean {
    return this.#deps.requester !== "none" && this.#returning === undefined &&
      !this.left.aborted && !this.#cancelled;
  }

  get asks(): boolean {
    return this.#deps.asks ?? true;
  }

  /** Settles once it is known whether the requester has come back; undefined when it is known. */
  get returning(): Promise<void> | undefined {
    return this.#returning?.promise;
  }

  /** Aborts when whoever opened it leaves; another signal once he is back. */
  get left(): AbortSignal {
    return this.#leaving.signal;
  }

  /** It as its callers hold it; `turn` as it is on record now. */
  handle(turn: Turn, repeated: boolean): TurnHandle {
    return {
      id: turn.id,
      acceptedAt: turn.acceptedAt,
      turn,
      repeated,
      events: (signal, options) => this.events(signal, options),
      cancel: () => this.cancel(),
      setPresent: (present) => this.setPresent(present),
    };
  }

  /** Whether whoever opened it is there, from now on. */
  setPresent(present: boolean): void {
    this.#returning?.resolve();
    this.#returning = undefined;
    if (!present) this.#leaving.abort(LEFT);
    else if (this.left.aborted) this.#leaving = new AbortController();
  }

  /** Its events have a higher seq than this; readers begin. */
  open(afterSeq: number): void {
    this.#opened.resolve(afterSeq);
  }

  /** Its end is on record. */
  close(): void {
    this.#over = true;
    this.life = undefined;
    this.#opened.resolve(this.turn.afterSeq);
  }

  /** Its end will not be on record, not in this process: readers are told so. */
  lose(error: ServiceError): void {
    this.#over = true;
    this.#lost = error;
    this.life = undefined;
    this.#opened.reject(error);
    for (const stop of this.#readers) stop();
  }

  /** Gives up its place. False when it does not wait any more. */
  leave(): boolean {
    return this.#deps.place?.leave() === true;
  }

  cancel(): void {
    if (this.#over || this.#cancelled) return;
    this.#cancelled = true;
    if (this.life !== undefined) this.life.end(cancellation());
    else if (this.leave()) this.#deps.onCancelled?.();
  }

  async *events(
    signal?: AbortSignal,
    { patient = false }: { patient?: boolean } = {},
  ): AsyncGenerator<StoredEvent> {
    const stopping = new AbortController();
    const aborted = Promise.withResolvers<undefined>();
    const stop = () => {
      stopping.abort(LEFT);
      aborted.resolve(undefined);
    };
    if (signal?.aborted) return;
    signal?.addEventListener("abort", stop);
    this.#readers.add(stop);
    try {
      let afterSeq = await Promise.race([this.#opened.promise, aborted.promise]);
      if (this.#lost !== undefined) throw this.#lost;
      if (afterSeq === undefined) return;
      const { id, sessionId } = this.turn;
      // A turn that has ended has all its events on record; to wait for more would be for ever.
      const live = !this.#over;
      if (live && this.begun !== undefined) {
        // It need not be read back.
        afterSeq = this.begun.seq;
        yield this.begun;
      }
      const options = { afterSeq, signal: stopping.signal, live, patient };
      const all = this.#deps.journal.follow(sessionId, options);
      for await (const stored of all) {
        if (stored.turnId !== id) continue;
        yield stored;
        if (stored.event.type === "turn_end") return;
      }
      if (this.#lost !== undefined) throw this.#lost;
    } finally {
      signal?.removeEventListener("abort", stop);
      this.#readers.delete(stop);
    }
  }
}
