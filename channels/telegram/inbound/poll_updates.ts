/**
 * Reads updates by long polling. Telegram takes the next request's offset as the acknowledgement of what
 * came before it, so that the next request is made when everything is on the disk, and not before.
 *
 * @module
 */

import type { Update } from "grammy/types";
import type { Clock } from "../../../lib/base/clock.ts";
import { failedCall, noAnswer, sleep } from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { TelegramApi } from "../api/telegram_api.ts";
import { PollConflicts } from "./poll_conflicts.ts";
import { ALLOWED_UPDATES } from "./read_update.ts";

/** What polling works with. */
export interface PollDeps {
  api: TelegramApi;
  /** What was stored with the last updates. */
  cursor: () => string | undefined;
  /** Resolves when the updates and the cursor are on the disk. */
  receive: (updates: readonly Update[], cursor: string) => Promise<void>;
  /** How the connection is, while it is not as it should be. */
  say: (problem: string) => void;
  clock: Clock;
  log: Pick<Log, "info" | "warning">;
}

/** How long Telegram holds a request for which there is nothing; proxies cut one after a minute. */
const LONG_POLL_S = 50;
const ANSWER_MS = (LONG_POLL_S + 15) * 1_000;

/** Updates of one request, the most that Telegram gives. */
const BATCH = 100;

/**
 * After a week without updates Telegram begins with another number (Bot API, Update), which may be below
 * the offset; from then on the offset is left out.
 */
const OFFSET_AGE_MS = 6 * 24 * 60 * 60 * 1_000;

/** A server that holds no request is not asked more often, milliseconds. */
const LEAST_MS = 500;

export class PollUpdates {
  readonly #deps: PollDeps;
  readonly #conflicts: PollConflicts;
  #hasFailed = false;

  constructor(deps: PollDeps) {
    this.#deps = deps;
    this.#conflicts = new PollConflicts(deps);
  }

  /** Polls until the signal is aborted. Rejects as a call does; `ready`: another poll has gone well. */
  async run(signal: AbortSignal, ready: () => void): Promise<string> {
    const { clock } = this.#deps;
    // Telegram has said who we are; the first poll may wait long for something to happen.
    if (!this.#hasFailed) ready();
    while (!signal.aborted) {
      try {
        const beganMs = clock.elapsed();
        // Behind a failure it is to be known at once that all is well again.
        const holdS = this.#hasFailed ? 0 : LONG_POLL_S;
        const count = await this.#poll(holdS, signal);
        this.#hasFailed = false;
        ready();
        if (count === 0 && holdS > 0 && clock.elapsed() - beganMs < LEAST_MS) {
          await sleep(LEAST_MS, clock, signal);
        }
      } catch (error) {
        const { status, said = "" } = failedCall(error) ?? {};
        const isConflict = status === 409;
        this.#hasFailed ||= !isConflict;
        if (!isConflict || signal.aborted) throw error;
        await sleep(await this.#conflicts.met(said, signal), clock, signal);
      }
    }
    return "";
  }

  /** Resolves with how many updates there were, which are on the disk then. */
  async #poll(holdS: number, signal: AbortSignal): Promise<number> {
    const { api, cursor, receive, clock } = this.#deps;
    const offset = readOffset(cursor(), clock.now());
    const updates: unknown = await api.call("getUpdates", {
      ...offset !== undefined && { offset },
      limit: BATCH,
      timeout: holdS,
      allowed_updates: ALLOWED_UPDATES,
    }, { signal, timeoutMs: ANSWER_MS });
    if (!Array.isArray(updates)) throw noAnswer("Telegram's answer to getUpdates is no list");
    const known = (updates as Update[]).filter((update) => Number.isSafeInteger(update?.update_id));
    if (known.length < updates.length && known.length === 0) {
      throw noAnswer("Telegram's updates have no numbers");
    }
    if (known.length === 0) return 0;
    known.sort((one, other) => one.update_id - other.update_id);
    const next = known.at(-1)!.update_id + 1;
    await receive(known, JSON.stringify({ offset: next, atMs: clock.now() }));
    return known.length;
  }
}

function readOffset(cursor: string | undefined, nowMs: number): number | undefined {
  if (cursor === undefined) return undefined;
  const { offset, atMs } = JSON.parse(cursor) as { offset: number; atMs: number };
  return nowMs - atMs > OFFSET_AGE_MS ? undefined : offset;
}
