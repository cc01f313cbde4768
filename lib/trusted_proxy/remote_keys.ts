/**
 * Signing keys of a URL, kept for 10 minutes. A token with an unknown
 * kid has them fetched anew once, and no two fetches begin within a minute, whatever tokens say. Keys
 * that are older are not used: who may come in is not decided by what was true once.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { fetchJwks, type FetchJwksDeps } from "./fetch_jwks.ts";
import type { JwksUrl } from "./jwks_address.ts";
import { type FoundKey, type KeyName, type KeySet, type KeySource } from "./key_set.ts";

/** How long keys are used. */
const JWKS_CACHE_MS = 600_000;
/** Between the beginnings of two fetches, failed ones too. */
const JWKS_MIN_GAP_MS = 60_000;

/** What the keys of a URL work with. */
export interface RemoteKeysDeps extends FetchJwksDeps {
  clock: Pick<Clock, "after" | "elapsed">;
  log: Pick<Log, "warning">;
}

/** Keys that are fetched when a token needs them. */
export class RemoteKeys implements KeySource {
  readonly #url: JwksUrl;
  readonly #deps: RemoteKeysDeps;
  #kept: { keys: KeySet; atMs: number } | undefined;
  #lastFetchMs = -Infinity;
  #fetching: Promise<void> | undefined;

  constructor(url: JwksUrl, deps: RemoteKeysDeps) {
    this.#url = url;
    this.#deps = deps;
  }

  async find(name: KeyName): Promise<FoundKey> {
    if (this.#fresh()?.has(name.kid) !== true) await this.#fetchOnce();
    const keys = this.#fresh();
    if (keys !== undefined) return await keys.find(name);
    return {
      reason: this.#kept === undefined
        ? "the signing keys are not there: they could not be fetched"
        : "the signing keys are too old, and could not be fetched anew",
    };
  }

  #fresh(): KeySet | undefined {
    const { elapsed } = this.#deps.clock;
    return this.#kept !== undefined && elapsed() - this.#kept.atMs < JWKS_CACHE_MS
      ? this.#kept.keys
      : undefined;
  }

  /** Joins a fetch that is under way, begins one if it is time, or does nothing. */
  async #fetchOnce(): Promise<void> {
    const nowMs = this.#deps.clock.elapsed();
    if (this.#fetching === undefined) {
      if (nowMs - this.#lastFetchMs < JWKS_MIN_GAP_MS) return;
      this.#lastFetchMs = nowMs;
      this.#fetching = this.#fetch(nowMs).finally(() => this.#fetching = undefined);
    }
    await this.#fetching;
  }

  async #fetch(atMs: number): Promise<void> {
    try {
      this.#kept = { keys: await fetchJwks(this.#url, this.#deps), atMs };
    } catch (error) {
      this.#deps.log.warning("The signing keys of the trusted proxy cannot be fetched", {
        url: this.#url.url,
        reason: error instanceof Error ? error.message : String(error),
      });
    }
  }
}
