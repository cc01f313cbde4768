import type { ModelUsage, Usage } from "../contract/events.ts";
import type { UsageRow } from "../contract/journal.ts";
import { Queries } from "./query.ts";

const DAY_MS = 86_400_000;

/** What models were used for, as rows of `usage_days`. */
export class UsageDays extends Queries {
  readonly #add = this.query(
    `INSERT INTO usage_days (day, channel, model, turns, input_tokens, output_tokens,
       reasoning_tokens, cached_tokens)
     VALUES (?, (SELECT channel FROM turns WHERE turn = ?), ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET turns = turns + excluded.turns,
       input_tokens = input_tokens + excluded.input_tokens,
       output_tokens = output_tokens + excluded.output_tokens,
       reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
       cached_tokens = cached_tokens + excluded.cached_tokens`,
  );
  readonly #select = this.query(
    `SELECT day, channel, model, turns, input_tokens, output_tokens, reasoning_tokens, cached_tokens
     FROM usage_days WHERE day BETWEEN ? AND ?`,
    toUsageRow,
  );

  /** A turn has ended; inside a batch of the writer. The first model is the one that it was begun with. */
  add(turn: number, models: readonly ModelUsage[], { all, endedAt }: {
    all: Usage;
    endedAt: number;
  }): void {
    const day = Math.floor(endedAt / DAY_MS);
    for (const [at, { model, usage = all }] of models.entries()) {
      const { inputTokens, outputTokens, reasoningTokens, cachedTokens } = usage;
      const tokens = [inputTokens, outputTokens, reasoningTokens, cachedTokens];
      this.#add.run(day, turn, model, at === 0 ? 1 : 0, ...tokens);
    }
  }

  /** Of whole days, UTC, from the one of `from` to that of `to`. */
  between(from: number, to: number): UsageRow[] {
    return this.#select.all(Math.floor(from / DAY_MS), Math.floor(to / DAY_MS));
  }
}

type Row = [day: number, channel: string, model: string, turns: number, ...tokens: number[]];

function toUsageRow([day, channel, model, turns, input, output, reasoning, cached]: Row): UsageRow {
  const usage: Usage = {
    inputTokens: input!,
    outputTokens: output!,
    reasoningTokens: reasoning!,
    cachedTokens: cached!,
  };
  return { day: day * DAY_MS, channel, model, turns, usage };
}
