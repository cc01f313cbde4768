/**
 * What a client hears while a turn runs: tools at work, text as it comes, a person who is waited for,
 * and a sign of life when nothing else happens, which keeps its time-out from running down.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { AgentEvent } from "../../contract/events.ts";

/** What progress is told with. */
export interface AskProgressOptions {
  /** Resolves when the client has room for more; may reject once it has gone. */
  send(progress: { progress: number; message: string }): Promise<void>;
  clock: Clock;
}

/** Characters of one message. */
const MAX_MESSAGE_CHARS = 2_000;
/** Messages of one call; a turn of any sense says less. */
const MAX_MESSAGES = 5_000;
/** Text that waits is told after so much of it or so long. */
const TEXT_CHARS = 1_000;
const TEXT_MS = 500;
const SILENCE_MS = 15_000;

/** Tells of one turn. `close()` has to be called. */
export class AskProgress {
  readonly #options: AskProgressOptions;
  #count = 0;
  #text = "";
  #lastMs: number;
  #cancelTimer = () => {};

  constructor(options: AskProgressOptions) {
    this.#options = options;
    this.#lastMs = options.clock.elapsed();
    this.#watch(SILENCE_MS);
  }

  /** Tells what is to be told of an event. Waits while the client reads slowly. */
  async see(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case "text_delta": {
        this.#text += event.text;
        const isLate = this.#options.clock.elapsed() - this.#lastMs >= TEXT_MS;
        if (isLate || this.#text.length >= TEXT_CHARS) await this.#flush();
        return;
      }
      case "segment_end":
        return await this.#flush();
      case "tool_call":
        return await this.#tell(event.hint);
      case "tool_progress":
        return await this.#tell(event.text.trim());
      case "tool_result":
        return event.status === "ok"
          ? undefined
          : await this.#tell(`${event.tool}: ${event.status}`);
      case "approval_requested": {
        const { id, capability, target } = event.approval;
        return await this.#tell(`Waits for a person to approve ${capability} ${target} (${id})`);
      }
      case "approval_resolved":
        return await this.#tell(`The approval ${event.approvalId} is ${event.outcome}`);
      case "notice":
        return await this.#tell(event.text);
    }
  }

  close(): void {
    this.#count = MAX_MESSAGES;
    this.#cancelTimer();
  }

  async #flush(): Promise<void> {
    const text = this.#text;
    this.#text = "";
    if (text.trim() !== "") await this.#tell(text);
  }

  async #tell(message: string): Promise<void> {
    if (this.#count >= MAX_MESSAGES || message === "") return;
    this.#lastMs = this.#options.clock.elapsed();
    const text = message.length > MAX_MESSAGE_CHARS
      ? `${message.slice(0, MAX_MESSAGE_CHARS - 1)}…`
      : message;
    // Whoever has gone needs no progress; its leaving is seen elsewhere.
    await this.#options.send({ progress: ++this.#count, message: text }).catch(() => this.close());
  }

  #watch(afterMs: number): void {
    this.#cancelTimer = this.#options.clock.after(afterMs, () => {
      const quietMs = this.#options.clock.elapsed() - this.#lastMs;
      if (quietMs < SILENCE_MS) return this.#watch(SILENCE_MS - quietMs);
      void this.#tell("Still at work");
      this.#watch(SILENCE_MS);
    });
  }
}
