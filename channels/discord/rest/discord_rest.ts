/**
 * Discord's HTTP API, by the REST client of discord.js: it knows the buckets of the rate limits, and never
 * waits or repeats by itself here.
 *
 * @module
 */

import { DiscordAPIError, RateLimitError, type RawFile, REST } from "discord.js";
import type { Clock } from "../../../lib/base/clock.ts";
import { LoginRefusedError, RetryLaterError } from "../../../lib/channel/delivery_error.ts";
import { boundedFetch, Pauses, sleep } from "../../../lib/channel/platform/mod.ts";
import { discordFault, loginRefused } from "./discord_faults.ts";

/** Version of the API that the payloads here are of. */
const VERSION = "10";

/** An answer may take so long, milliseconds. */
const TIMEOUT_MS = 15_000;

/** A rate limit that is over so soon is waited for, milliseconds, and how often in one call. */
const SHORT_WAIT_MS = 1_500;
const SHORT_WAITS = 3;
/** Who says nothing of when to come again is not asked sooner, milliseconds. */
const LEAST_AGAIN_MS = 1_000;

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
  /** Of limits, by what they are of; "" is that over all. */
  readonly #pauses: Pauses;

  constructor({ apiUrl, token, clock, signal, onRefused }: DiscordRestOptions) {
    this.#onRefused = onRefused;
    this.#token = token;
    this.#clock = clock;
    this.#signal = signal;
    this.#pauses = new Pauses(clock);
    const bounds = { peer: "Discord", field: "apiUrl", timeoutMs: TIMEOUT_MS, clock, signal };
    this.#rest = new REST({
      api: apiUrl.replace(/\/+$/, ""),
      version: VERSION,
      retries: 0,
      // The other end comes first.
      timeout: 2 * TIMEOUT_MS,
      // Whoever waits has to know; the service's queue does that better than one in here.
      rejectOnRateLimit: () => true,
      hashSweepInterval: 0,
      makeRequest: (url, init) => boundedFetch(url, init as RequestInit, bounds) as never,
    }).setToken(token);
  }

  /**
   * The answer's JSON. `path` holds ids and names that were checked. Rejects as `callError` has it.
   */
  async call<T>(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: `/${string}`,
    { query, ...request }: DiscordRequest = {},
  ): Promise<T> {
    for (let waits = 0;; waits += 1) {
      if (this.#isRefused) throw loginRefused();
      this.#signal.throwIfAborted();
      const aheadMs = this.#pauses.leftMs("", limitOf(method, path));
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
        const fault = discordFault(error);
        if (error instanceof DiscordAPIError && error.status === 401 && request.auth !== false) {
          // The client forgets it by whoever says that.
          this.#rest.setToken(this.#token);
          this.#isRefused = fault instanceof LoginRefusedError;
          if (this.#isRefused) this.#onRefused?.();
        }
        if (this.#isRefused) throw loginRefused();
        if (!(error instanceof RateLimitError)) throw fault;
        const waitMs = Math.max(error.timeToReset, error.retryAfter, error.sublimitTimeout, 1);
        // The client keeps a limit with the name of its bucket, which it learns by the same answer.
        this.#pauses.begin(error.global ? "" : limitOf(method, path), waitMs);
        if (waitMs > SHORT_WAIT_MS || waits >= SHORT_WAITS) throw rateLimited(waitMs);
        await this.#pause(waitMs);
      }
    }
  }

  /** Ends what forgets the buckets that are not used any more. */
  close(): void {
    this.#rest.clearHandlerSweeper();
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
