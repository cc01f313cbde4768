/**
 * An answer beside every conversation: one model call to one message, nothing on record, no tools.
 * Front ends ask so for titles, tags and follow-ups of a chat.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Model } from "../model/port.ts";
import { askModel, newDraft } from "./ask_model.ts";
import type { Clock } from "../base/clock.ts";
import { emptyAnswer } from "./empty_answer.ts";
import { type AgentEvent, NO_USAGE, type StoredEvent } from "../contract/events.ts";
import { Life, type LifeLimits } from "../contract/life.ts";
import type { PromptPart } from "../contract/messages.ts";
import type { Answer } from "../contract/turns.ts";
import { cancellation, failure, interruption } from "./verdicts.ts";

/** What an aside needs. */
export interface AsideDeps {
  id: string;
  model: Model;
  parts: PromptPart[];
  limits: LifeLimits;
  clock: Clock;
  log: Pick<Log, "warning">;
  /** Called when it has ended. */
  onEnd: () => void;
}

/** One aside. The model is asked when its events are first read. */
export class Aside implements Answer {
  readonly acceptedAt: number;
  readonly #deps: AsideDeps;
  readonly #life: Life;
  readonly #events: StoredEvent[] = [];
  /** Streams that have begun and not ended, with what ends them. */
  readonly #open = new Map<string, AgentEvent>();
  readonly #ended = Promise.withResolvers<void>();
  #news = Promise.withResolvers<void>();
  #state: "waiting" | "running" | "over" = "waiting";

  constructor(deps: AsideDeps) {
    this.#deps = deps;
    this.acceptedAt = deps.clock.now();
    this.#life = new Life(deps.clock, deps.limits);
  }

  get id(): string {
    return this.#deps.id;
  }

  /** Resolves when it has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  cancel(): void {
    this.#stop(cancellation());
  }

  /** The service stops under it. */
  interrupt(): void {
    this.#stop(interruption());
  }

  #stop(verdict: ReturnType<typeof cancellation>): void {
    this.#life.end(verdict);
    if (this.#state === "waiting") void this.#run();
  }

  async *events(signal?: AbortSignal): AsyncGenerator<StoredEvent> {
    if (this.#state === "waiting") void this.#run();
    const left = Promise.withResolvers<void>();
    const leave = () => left.resolve();
    signal?.addEventListener("abort", leave);
    try {
      for (let at = 0;; at++) {
        while (at >= this.#events.length) {
          if (signal?.aborted || this.#state === "over") return;
          await Promise.race([this.#news.promise, left.promise]);
        }
        yield this.#events[at]!;
      }
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { model, parts, onEnd } = this.#deps;
    const life = this.#life;
    this.#state = "running";
    this.#say({ type: "turn_start", model: model.name });
    let streams = 0;
    const draft = newDraft();
    try {
      life.signal.throwIfAborted();
      const finish = await askModel(
        {
          model,
          life,
          recorder: {
            full: false,
            room: () => Promise.resolve(),
            sayAll: (events) => events.forEach((event) => this.#say(event)),
          },
          newStreamId: () => `${this.id}.${++streams}`,
        },
        { system: "", messages: [{ role: "user", parts }], tools: [] },
        draft,
      );
      // Nothing would look like an answer that was given.
      if (draft.text.trim() === "") throw emptyAnswer(finish, 1);
      life.close();
      const { usage, reason } = finish;
      this.#closeStreams(false);
      this.#say({ type: "usage", model: finish.model, usage });
      this.#say({ type: "turn_end", status: "done", finishReason: reason, usage });
    } catch (cause) {
      life.close();
      const { status, error } = life.verdict ?? this.#fault(cause);
      this.#closeStreams(true);
      this.#say({ type: "error", error: toErrorData(error) });
      this.#say({ type: "turn_end", status, finishReason: "stop", usage: NO_USAGE });
    }
    this.#state = "over";
    this.#wake();
    onEnd();
    this.#ended.resolve();
  }

  #fault(cause: unknown) {
    const reason = cause instanceof ServiceError
      ? cause.message
      : cause instanceof Error
      ? cause.stack ?? cause.message
      : String(cause);
    this.#deps.log.warning("An answer beside the conversation failed", { id: this.id, reason });
    return failure(cause);
  }

  #say(event: AgentEvent): void {
    if (event.type === "text_delta") {
      const { streamId } = event;
      this.#open.set(streamId, { type: "segment_end", streamId, resuming: false });
    } else if (event.type === "reasoning_delta") {
      this.#open.set(event.streamId, { type: "reasoning_end", streamId: event.streamId });
    } else if (event.type === "segment_end" || event.type === "reasoning_end") {
      this.#open.delete(event.streamId);
    }
    this.#events.push({ seq: this.#events.length + 1, turnId: this.id, event });
    this.#wake();
  }

  #closeStreams(cut: boolean): void {
    for (const event of this.#open.values()) {
      this.#say(cut && event.type === "segment_end" ? { ...event, cut } : event);
    }
  }

  #wake(): void {
    const { resolve } = this.#news;
    this.#news = Promise.withResolvers();
    resolve();
  }
}
