/**
 * Tokens that hold for a while, in memory alone: what is kept is a digest, never the token.
 *
 * All of one set hold equally long, so the oldest expires first, and throwing out what has expired looks
 * at nothing but that. Time is that of a clock that never jumps.
 *
 * @module
 */

import { newToken } from "./new_token.ts";
import { sha256 } from "./sha256.ts";

/** Tokens that may be outstanding at once. */
export const MAX_OUTSTANDING_TOKENS = 10_000;

/** What a set is made of. */
export interface ExpiringTokensOptions {
  /** What each token begins with, such as `swt_`; 43 URL-safe characters follow. */
  prefix: string;
  ttlMs: number;
  /** Milliseconds since some moment; never jumps. */
  elapsed: () => number;
  /** Default: {@linkcode MAX_OUTSTANDING_TOKENS}. */
  maxOutstanding?: number;
}

/** A token in the list of those outstanding, from the oldest to the newest. */
interface Entry<Value> {
  digest: string;
  value: Value;
  expiresMs: number;
  older: Entry<Value> | undefined;
  newer: Entry<Value> | undefined;
}

/** What a token stands for, and how long still. */
export interface Outstanding<Value> {
  value: Value;
  leftMs: number;
}

export class ExpiringTokens<Value> {
  readonly #options: Required<ExpiringTokensOptions>;
  readonly #form: RegExp;
  readonly #entries = new Map<string, Entry<Value>>();
  #oldest: Entry<Value> | undefined;
  #newest: Entry<Value> | undefined;

  constructor(options: ExpiringTokensOptions) {
    const { maxOutstanding = MAX_OUTSTANDING_TOKENS } = options;
    this.#options = { ...options, maxOutstanding };
    this.#form = new RegExp(`^${options.prefix}[A-Za-z0-9_-]{43}$`);
  }

  /** Tokens in memory; expired ones are among them until the next issue or look. */
  get size(): number {
    return this.#entries.size;
  }

  /** A new token, which can be read this once; undefined while too many are outstanding. */
  issue(value: Value): string | undefined {
    this.#purge();
    const { prefix, ttlMs, elapsed, maxOutstanding } = this.#options;
    if (this.#entries.size >= maxOutstanding) return undefined;
    const token = newToken(prefix);
    const entry: Entry<Value> = {
      digest: digest(token),
      value,
      expiresMs: elapsed() + ttlMs,
      older: this.#newest,
      newer: undefined,
    };
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
    this.#entries.set(entry.digest, entry);
    return token;
  }

  /** What a token stands for; undefined for one that is unknown, used up or expired. */
  find(token: string): Outstanding<Value> | undefined {
    this.#purge();
    const entry = this.#entryOf(token);
    return entry && { value: entry.value, leftMs: entry.expiresMs - this.#options.elapsed() };
  }

  /** Like {@linkcode find}, and the token is used up: of two at the same instant one gets it. */
  take(token: string): Value | undefined {
    this.#purge();
    const entry = this.#entryOf(token);
    if (entry === undefined) return undefined;
    this.#remove(entry);
    return entry.value;
  }

  /** Whether some token in force stands for such a value. */
  some(matches: (value: Value) => boolean): boolean {
    this.#purge();
    for (let entry = this.#newest; entry !== undefined; entry = entry.older) {
      if (matches(entry.value)) return true;
    }
    return false;
  }

  /** Milliseconds until the oldest expires, and makes room; 0 when there is none. */
  nextExpiryMs(): number {
    return this.#oldest === undefined
      ? 0
      : Math.max(0, this.#oldest.expiresMs - this.#options.elapsed());
  }

  /** A digest tells nothing of a token to whoever times the look, since nobody can choose it. */
  #entryOf(token: string): Entry<Value> | undefined {
    return this.#form.test(token) ? this.#entries.get(digest(token)) : undefined;
  }

  #purge(): void {
    const nowMs = this.#options.elapsed();
    while (this.#oldest !== undefined && this.#oldest.expiresMs <= nowMs) {
      this.#remove(this.#oldest);
    }
  }

  #remove(entry: Entry<Value>): void {
    const { older, newer } = entry;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    this.#entries.delete(entry.digest);
  }
}

function digest(token: string): string {
  return sha256(token).toBase64();
}
