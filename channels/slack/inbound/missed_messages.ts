/**
 * When what Slack has not told is read: behind a time away, behind what could not be stored, and behind
 * what Slack says that it has left out.
 *
 * @module
 */

import type { ChannelHost } from "../../../lib/channel/channel_host.ts";
import { LoginRefusedError } from "../../../lib/channel/delivery_error.ts";
import { tsOfTime } from "../events/chat_id.ts";
import { catchUp, type CatchUpDeps, SEEN_CURSOR } from "./catch_up.ts";

/** What it works with. */
export interface MissedMessagesDeps extends Omit<CatchUpDeps, "clock" | "log" | "lookBackMs"> {
  host: Pick<ChannelHost, "clock" | "log">;
  /** Whether Slack tells what happens now. */
  isConnected: () => boolean;
}

/** How often it is noted that we are there, milliseconds. */
const SEEN_EVERY_MS = 30_000;

/** Before what could not be taken, or read, is read again, milliseconds. */
const READ_AGAIN_MS = 15_000;

/** How far back is read where Slack has left something out, and how soon and how often, milliseconds. */
const LOOK_BACK_MS = 3_600_000;
const LOOK_BACK_AFTER_MS = 60_000;
const LOOK_BACK_EVERY_MS = 600_000;

export class MissedMessages {
  readonly #deps: MissedMessagesDeps;
  readonly #ending = new AbortController();
  readonly #cancels = new Map<"seen" | "again" | "back", () => void>();
  /** Whether something was written meanwhile that is not read yet. */
  #isBehind = true;
  #reading: Promise<void> = Promise.resolve();
  /** A read waits behind the one that is under way: it reads what a third would. */
  #isWaiting = false;
  #lookedBackMs = -Infinity;
  #lookBackMs = 0;

  constructor(deps: MissedMessagesDeps) {
    this.#deps = deps;
  }

  /** Notes from time to time that nothing before was missed. */
  noteSeen(): void {
    const { host: { clock }, add, isConnected } = this.#deps;
    this.#after("seen", SEEN_EVERY_MS, () => {
      if (isConnected() && !this.#isBehind) {
        add([], { [SEEN_CURSOR]: tsOfTime(clock.now()) }).catch(() => {});
      }
      this.noteSeen();
    });
  }

  /** Reads what was written while we were away; one read after the other. */
  read(): void {
    this.#isBehind = true;
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#reading = this.#reading.then(() => this.#read());
  }

  /** Reads after a while what could not be taken. */
  readAgain(): void {
    this.#isBehind = true;
    if (!this.#cancels.has("again")) this.#after("again", READ_AGAIN_MS, () => this.read());
  }

  /** Slack has left something out, and does so for a while: the last hour is read again behind that. */
  lookBack(): void {
    if (this.#cancels.has("back")) return;
    const { clock, log } = this.#deps.host;
    const leastMs = this.#lookedBackMs + LOOK_BACK_EVERY_MS - clock.elapsed();
    this.#after("back", Math.max(LOOK_BACK_AFTER_MS, leastMs), () => {
      this.#lookedBackMs = clock.elapsed();
      this.#lookBackMs = LOOK_BACK_MS;
      log.info("Slack has left something out, and the last hour is read again");
      this.read();
    });
  }

  async close(): Promise<void> {
    this.#ending.abort();
    for (const cancel of this.#cancels.values()) cancel();
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { host: { clock, log } } = this.#deps;
    const { signal } = this.#ending;
    this.#isWaiting = false;
    if (signal.aborted) return;
    const lookBackMs = this.#lookBackMs;
    this.#lookBackMs = 0;
    try {
      const isWhole = await catchUp({ ...this.#deps, clock, log, lookBackMs }, signal);
      this.#isBehind = !isWhole || this.#isWaiting || this.#cancels.has("again");
    } catch (error) {
      if (signal.aborted || error instanceof LoginRefusedError) return;
      const reason = (error as Error).message;
      log.warning("What was written meanwhile could not be read", { reason });
      this.readAgain();
    }
  }

  #after(name: "seen" | "again" | "back", ms: number, run: () => void): void {
    if (this.#ending.signal.aborted) return;
    const cancel = this.#deps.host.clock.after(ms, () => {
      this.#cancels.delete(name);
      run();
    });
    this.#cancels.set(name, cancel);
  }
}
