/**
 * Discord's HTTP API, by the REST client of discord.js: it knows the buckets of the rate limits, and never
 * waits or repeats by itself here.
 *
 * @module
 */

import { DiscordAPIError, RateLimitError, type RawFile, REST } from "discord.js";
import type { Clock } from "../../../lib/base/clock.ts";
import { NotConnectedError, RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import { fetchWhole, neverSent, sleep } from "../../../lib/channel/platform/mod.ts";
import { isLoginRefused, loginRefused } from "./delivery_fault.ts";
import { CutOffError } from "./cut_off_error.ts";

/** Version of the API that the payloads here are of. */
const VERSION = "10";

/** An answer may take so long, milliseconds. */
const TIMEOUT_MS = 15_000;

/** A rate limit that is over so soon is waited for, milliseconds, and how often in one call. */
const SHORT_WAIT_MS = 1_500;
const SHORT_WAITS = 3;
/** Who says nothing of when to come again is not asked sooner, milliseconds. */
const LEAST_AGAIN_MS = 1_000;

/** An answer of more bytes is none of Discord's. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** What a client is made of. */
export interface DiscordRestOptions {
  /** Such as `https://discord.com/api`; without the version. */
  apiUrl: string;
  token: string;
  clock: Pick<Clock, "after" | "elapsed">;
  /** Ends every call. */
  signal: AbortSignal;
  /** Discord knows the token not, or not any more. */
  onRefused?: () => void;
}

/** What is asked beside the address. */
export interface DiscordRequest {
  body?: unknown;
  files?: RawFile[];
  query?: Readonly<Record<string, string>>;
  /** False for addresses that hold a token of their own. */
  auth?: boolean;
}

export class DiscordRest {
  readonly #rest: REST;
  readonly #token: string;
  readonly #clock: DiscordRestOptions["clock"];
  readonly #signal: AbortSignal;
  readonly #onRefused: (() => void) | undefined;
  #isRefused = false;
  /** When limits end, by what they are of; "" is that over all. */
  readonly #freeAtMs = new Map<string, number>();

  constructor({ apiUrl, token, clock, signal, onRefused }: DiscordRestOptions) {
    this.#onRefused = onRefused;
    this.#token = token;
    this.#clock = clock;
    this.#signal = signal;
    this.#rest = new REST({
      api: apiUrl.replace(/\/+$/, ""),
      version: VERSION,
      retries: 0,
      timeout: TIMEOUT_MS,
      // Whoever waits has to know; the service's queue does that better than one in here.
      rejectOnRateLimit: () => true,
      hashSweepInterval: 0,
      makeRequest: (url, init) => readWhole(url, init as RequestInit, signal) as never,
    }).setToken(token);
  }

  /**
   * The answer's JSON. `path` holds ids and names that were checked. Rejects with discord.js's
   * DiscordAPIError or HTTPError, and with RetryLaterError, LoginRefusedError, NotConnectedError or
   * CutOffError.
   */
  async call<T>(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: `/${string}`,
    { query, ...request }: DiscordRequest = {},
  ): Promise<T> {
    for (let waits = 0;; waits += 1) {
      if (this.#isRefused) throw loginRefused();
      this.#signal.throwIfAborted();
      const aheadMs = this.#aheadMs(method, path);
      if (aheadMs > SHORT_WAIT_MS) throw rateLimited(aheadMs);
      if (aheadMs > 0) await this.#pause(aheadMs);
      try {
        return await this.#rest.request({
          ...request,
          ...query !== undefined && { query: new URLSearchParams(query) },
          method: method as never,
          fullRoute: path,
        }) as T;
      } catch (error) {
        if (error instanceof DiscordAPIError && error.status === 401 && request.auth !== false) {
          // The client forgets it by whoever says that.
          this.#rest.setToken(this.#token);
          this.#isRefused = isLoginRefused(error);
          if (this.#isRefused) this.#onRefused?.();
        }
        if (this.#isRefused) throw loginRefused();
        // It has said yes, and then no JSON.
        if (error instanceof SyntaxError) throw new CutOffError("The answer of Discord is broken");
        if (!(error instanceof RateLimitError)) throw error;
        const waitMs = Math.max(error.timeToReset, error.retryAfter, error.sublimitTimeout, 1);
        this.#remember(error.global ? "" : limitOf(method, path), waitMs);
        if (waitMs > SHORT_WAIT_MS || waits >= SHORT_WAITS) throw rateLimited(waitMs);
        await this.#pause(waitMs);
      }
    }
  }

  /** Ends what forgets the buckets that are not used any more. */
  close(): void {
    this.#rest.clearHandlerSweeper();
  }

  #aheadMs(method: string, path: string): number {
    const until = (key: string) => this.#freeAtMs.get(key) ?? -Infinity;
    return Math.max(until(""), until(limitOf(method, path))) - this.#clock.elapsed();
  }

  /** The client keeps a limit with the name of its bucket, which it learns by the same answer. */
  #remember(key: string, waitMs: number): void {
    const now = this.#clock.elapsed();
    for (const [old, untilMs] of this.#freeAtMs) if (untilMs <= now) this.#freeAtMs.delete(old);
    this.#freeAtMs.set(key, now + waitMs);
  }

  /** Rejects when the channel is stopped. */
  async #pause(ms: number): Promise<void> {
    await sleep(ms, this.#clock, this.#signal);
    this.#signal.throwIfAborted();
  }
}

/** Limits are of what is done in a channel: `POST /channels/ID/messages`. */
function limitOf(method: string, path: string): string {
  return [method, ...path.split("/").slice(1, 4)].join("/");
}

function rateLimited(waitMs: number): RetryLaterError {
  const againMs = Math.ceil(Math.max(waitMs, LEAST_AGAIN_MS));
  const seconds = Math.ceil(againMs / 1_000);
  return new RetryLaterError(`Discord takes no more for ${seconds} s (rate limit)`, againMs);
}

/** The whole answer, so that nothing of it is left open whatever becomes of it. */
async function readWhole(url: string, init: RequestInit, stopping: AbortSignal): Promise<Response> {
  const signal = AbortSignal.any([init.signal!, stopping]);
  try {
    const { method, headers, body } = init;
    const answer = await fetchWhole(url, { method, headers, body, signal }, MAX_ANSWER_BYTES);
    if (answer === undefined) throw new CutOffError("The answer of Discord is too long");
    return answer;
  } catch (error) {
    stopping.throwIfAborted();
    if (error instanceof CutOffError) throw error;
    // The words of fetch hold the whole address, and some addresses hold a token.
    if (neverSent(error)) {
      throw new NotConnectedError(`Discord cannot be reached, ${reasonOf(error)}`);
    }
    throw new CutOffError(
      signal.aborted ? "Discord has not answered in time" : "The connection to Discord was cut off",
    );
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error;
  const words = cause instanceof Error ? cause.message : message;
  const [, reason] = /\(Connect\): (.*)$/s.exec(words) ?? [];
  return (reason ?? (name === "NotCapable" ? "not permitted" : "no connection")).slice(0, 200);
}
