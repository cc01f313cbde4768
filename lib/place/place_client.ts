/**
 * The end of a port that asks a place: calls by number, and an end for a place that breaks the rules. In
 * the service for channels, in the authority for what is asked once.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { UncertainDeliveryError } from "../channel/delivery_error.ts";
import type { OpenedPlace } from "./open_place.ts";
import { fromPlaceFault } from "./place_fault.ts";
import { MAX_CALLING, type PlaceCall, type ToPlace } from "./protocol.ts";
import { Rate } from "../base/rate.ts";
import { type ReadFromPlace, readFromPlace } from "./read_from_place.ts";

/** How long a place may take to load its module, milliseconds. */
export const READY_TIMEOUT_MS = 30_000;

/** Pings are sent so often, milliseconds, and so many may be without an answer. */
export const PING_MS = 15_000;
export const MAX_UNANSWERED = 4;

/** Pings through which a place may leave all the calls that it can have unanswered. */
const MAX_STUCK_PINGS = 40;

/**
 * How often a place may say what nobody asked for. What an honest one says is held back in the place,
 * far below this.
 */
const UNASKED_RATE = { perSecond: 200, burst: 2_000 };

/** What a place says beside answers. */
export type PlaceNews = Exclude<
  ReadFromPlace,
  { type: "ready" | "unusable" | "answer" | "wrong" }
>;

/** What a client is made of. */
export interface PlaceClientDeps {
  opened: OpenedPlace;
  clock: Clock;
  /** What it says by itself. Returns what is wrong with that, which is the end of the place. */
  onNews: (news: PlaceNews) => string | undefined;
  /** Called once, when it is gone, whoever ended it. */
  onGone: () => void;
}

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
  isPing: boolean;
}

/** See the module. */
export class PlaceClient {
  /** The place is ready; rejects with why it will not be. */
  readonly ready: Promise<{ supportsStreaming: boolean }>;
  /** Resolves with why, when it is gone without {@linkcode PlaceClient.close}. */
  readonly lost: Promise<string>;
  readonly #deps: PlaceClientDeps;
  readonly #ready = Promise.withResolvers<{ supportsStreaming: boolean }>();
  readonly #lost = Promise.withResolvers<string>();
  readonly #waiting = new Map<number, Waiting>();
  readonly #unasked: Rate;
  #isReady = false;
  #gone: string | undefined;
  /** Pings since a call was answered, while there is no room for another one. */
  #stuckPings = 0;
  #lastId = 0;
  #stopTimer: () => void = () => {};

  constructor(deps: PlaceClientDeps) {
    this.#deps = deps;
    const { opened, clock } = deps;
    this.ready = this.#ready.promise;
    this.lost = this.#lost.promise;
    this.ready.catch(() => {});
    this.#unasked = new Rate(UNASKED_RATE, clock);
    this.#stopTimer = clock.after(
      READY_TIMEOUT_MS,
      () => this.#lose(`it did not load within ${READY_TIMEOUT_MS / 1_000} s`),
    );
    opened.ended.then((reason) => this.#lose(reason));
    opened.port.onmessageerror = () => this.#lose("it said something that cannot be read");
    opened.port.onmessage = ({ data }) => this.#receive(data);
  }

  /** Why it is gone; undefined while it is there. */
  get gone(): string | undefined {
    return this.#gone;
  }

  /**
   * What the call comes to. Rejects with an error of lib/channel/delivery_error.ts, or any other:
   * `UncertainDeliveryError` where the place went while it was under way.
   */
  call(call: PlaceCall): Promise<unknown> {
    if (this.#gone !== undefined) {
      return Promise.reject(new Error(`The channel is gone: ${this.#gone}`));
    }
    // A ping is not held up by calls that nobody answers.
    if (this.#waiting.size >= MAX_CALLING && call.op !== "ping") {
      return Promise.reject(new Error(`The channel has ${MAX_CALLING} calls to answer already`));
    }
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, isPing: call.op === "ping" });
      try {
        this.say({ type: "call", id, call });
      } catch (error) {
        this.#waiting.delete(id);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  /** Says something that is no call; nothing to a place that is gone. */
  say(message: ToPlace): void {
    if (this.#gone === undefined) this.#deps.opened.port.postMessage(message);
  }

  /** Ends the place; what waits for it rejects. It is not lost then. */
  close(reason: string): void {
    this.#end(reason);
  }

  #receive(data: unknown): void {
    if (this.#gone !== undefined) return;
    const message = readFromPlace(data);
    switch (message.type) {
      case "wrong":
        return this.#lose(message.problem);
      case "unusable":
        return this.#lose(message.message);
      case "ready":
        if (this.#isReady) return this.#lose("it said twice that it is ready");
        this.#isReady = true;
        this.#stopTimer();
        this.#ready.resolve({ supportsStreaming: message.supportsStreaming });
        return this.#watch();
      case "answer": {
        const waiting = this.#waiting.get(message.id);
        if (waiting === undefined) return this.#lose("it answered what nobody had asked");
        this.#waiting.delete(message.id);
        if (!waiting.isPing) this.#stuckPings = 0;
        if (message.fault === undefined) return waiting.resolve(message.result);
        return waiting.reject(fromPlaceFault(message.fault));
      }
    }
    if (message.type !== "log" && !this.#isReady) {
      return this.#lose("it spoke before it was ready");
    }
    const isAsking = message.type === "publish" || message.type === "transcribe";
    if (!isAsking && !this.#unasked.take()) return this.#lose("it says too much");
    const problem = this.#deps.onNews(message);
    if (problem !== undefined) this.#lose(problem);
  }

  /** Asks again and again whether it is alive. A thread that is busy for ever cannot be told otherwise. */
  #watch(): void {
    const { clock } = this.#deps;
    // Counted, not timed: a machine that slept is no reason.
    let unanswered = 0;
    const ping = () => {
      if (unanswered === MAX_UNANSWERED) {
        return this.#lose(
          `it has answered nothing for ${MAX_UNANSWERED * PING_MS / 1_000} s; ` +
            "if it is busy, its thread takes a processor until the service is restarted",
        );
      }
      this.#stuckPings = this.#waiting.size >= MAX_CALLING ? this.#stuckPings + 1 : 0;
      if (this.#stuckPings > MAX_STUCK_PINGS) {
        return this.#lose(
          `it has answered none of ${MAX_CALLING} calls for ` +
            `${MAX_STUCK_PINGS * PING_MS / 60_000} minutes`,
        );
      }
      unanswered += 1;
      this.call({ op: "ping" }).then(() => unanswered = 0, () => {});
      this.#stopTimer = clock.after(PING_MS, ping);
    };
    this.#stopTimer = clock.after(PING_MS, ping);
  }

  #lose(reason: string): void {
    if (this.#gone === undefined) this.#lost.resolve(reason);
    this.#end(reason);
  }

  #end(reason: string): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason;
    this.#stopTimer();
    const { opened } = this.#deps;
    opened.port.onmessage = opened.port.onmessageerror = null;
    opened.port.close();
    opened.close();
    const words = `The channel is gone: ${reason}`;
    this.#ready.reject(new Error(words));
    // Whatever was under way may have been done.
    for (const { reject } of this.#waiting.values()) reject(new UncertainDeliveryError(words));
    this.#waiting.clear();
    this.#deps.onGone();
  }
}
