/**
 * Messages that are there for a while. Each is taken away when its time is over, or at the start behind a
 * process that could not do that any more; a chat that takes no call for now is asked again.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import { TelegramFault } from "../api/telegram_fault.ts";
import { backOffMs } from "../updates/sleep.ts";
import type { Chats } from "./chats.ts";
import type { SentMessage } from "./send_text.ts";

/** What it works with. */
export interface RemovalsDeps {
  /** In private, each bot counts the messages anew. */
  botId: number;
  chats: Chats;
  memory: Memory;
  clock: Pick<Clock, "after">;
  signal: AbortSignal;
}

/** Messages that are known; of more, the first stay where they are. */
const MAX_KEPT = 500;

/** Attempts of one process for one message. */
const MAX_ATTEMPTS = 8;

const KIND = "to_remove";

/** See the module. */
export class Removals {
  readonly #deps: RemovalsDeps;
  readonly #waits = new Set<() => void>();
  readonly #removing = new Set<Promise<void>>();
  #kept: SentMessage[];

  constructor(deps: RemovalsDeps) {
    this.#deps = deps;
    this.#kept = deps.memory.get<SentMessage[]>(KIND, String(deps.botId)) ?? [];
  }

  /** Takes away what a process before this one has left. */
  restore(): void {
    for (const message of this.#kept) void this.remove(message);
  }

  /** It is to go one day. */
  keep(message: SentMessage): void {
    this.#store([...this.#kept, message].slice(-MAX_KEPT));
  }

  /** Its time is over. Resolves behind the first attempt; never rejects. */
  remove(message: SentMessage, attempt = 1): Promise<void> {
    const removing = this.#remove(message, attempt).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
    return removing;
  }

  /** Asks no more; what is left waits for the next start. */
  async close(): Promise<void> {
    for (const cancel of this.#waits) cancel();
    await Promise.all(this.#removing);
  }

  async #remove(message: SentMessage, attempt: number): Promise<void> {
    const { chats, signal } = this.#deps;
    try {
      await chats.call("deleteMessage", message, { signal });
    } catch (error) {
      if (signal.aborted || !(error instanceof TelegramFault)) return;
      // Somebody has deleted it, or it is too old to be.
      if (error.kind !== "rejected") {
        if (attempt < MAX_ATTEMPTS) this.#later(message, attempt, error.retryAfterMs);
        return;
      }
    }
    this.#store(
      this.#kept.filter((one) =>
        one.chat_id !== message.chat_id || one.message_id !== message.message_id
      ),
    );
  }

  #later(message: SentMessage, attempt: number, leastMs: number): void {
    const waitMs = Math.max(leastMs, backOffMs(attempt));
    const cancel = this.#deps.clock.after(waitMs, () => {
      this.#waits.delete(cancel);
      void this.remove(message, attempt + 1);
    });
    this.#waits.add(cancel);
  }

  #store(kept: SentMessage[]): void {
    this.#kept = kept;
    this.#deps.memory.set(KIND, String(this.#deps.botId), kept);
  }
}
