/**
 * Turns and an outbox in memory, on a clock that tests move by hand. They outlive the schedulers that
 * use them, as the journal does.
 *
 * @module
 */

import type { RequestKey } from "../../contract/journal.ts";
import type { AutomationTurns } from "../automation_turns.ts";
import type { RunResult } from "../delivery_decision.ts";

interface FakeTurn {
  id: string;
  key: string;
  /** When it ends; Infinity: when `end` is called. */
  endsAt: number;
  result: RunResult;
}

export class FakeTurns implements AutomationTurns {
  readonly #now: () => number;
  readonly turns: FakeTurn[] = [];
  /** Texts that were put into the outbox, by id. */
  readonly outbox = new Map<string, string>();
  /** How long a turn takes, and what comes of it. */
  durationMs = 0;
  resultOf: (key: string) => RunResult = (key) => ({ status: "done", answer: key });
  /** Thrown by `accept` while it is set. */
  refusal: Error | undefined;
  #waiting: { turn: FakeTurn; resolve: (result: RunResult) => void }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Keys of the turns that were opened, in their order. */
  get keys(): string[] {
    return this.turns.map(({ key }) => key);
  }

  accept({ key: { scope, key } }: { key: RequestKey }): Promise<string> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    const whole = `${scope}/${key}`;
    const known = this.turns.find((turn) => turn.key === whole);
    if (known !== undefined) return Promise.resolve(known.id);
    const id = `turn_${this.turns.length}`;
    const endsAt = this.#now() + this.durationMs;
    this.turns.push({ id, key: whole, endsAt, result: this.resultOf(whole) });
    return Promise.resolve(id);
  }

  result(turnId: string, signal: AbortSignal): Promise<RunResult> {
    const turn = this.turns.find(({ id }) => id === turnId);
    if (turn === undefined) return Promise.resolve({ status: "failed", error: "unknown turn" });
    if (turn.endsAt <= this.#now()) return Promise.resolve(turn.result);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ turn, resolve });
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }

  deliver({ id, result }: Parameters<AutomationTurns["deliver"]>[0]): Promise<void> {
    const text = result.status === "done" ? result.answer : `failed: ${result.error}`;
    if (!this.outbox.has(id)) this.outbox.set(id, text);
    return Promise.resolve();
  }

  /** Tells who waits for turns whose end has come. */
  tell(): void {
    const ended = this.#waiting.filter(({ turn }) => turn.endsAt <= this.#now());
    this.#waiting = this.#waiting.filter((each) => !ended.includes(each));
    for (const { turn, resolve } of ended) resolve(turn.result);
  }
}
