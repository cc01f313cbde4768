/**
 * The models that there are, as the service said last.
 *
 * @module
 */

import { effect, signal } from "@preact/signals";
import { type Answer, ask } from "../api/client.ts";
import { may } from "../api/session.ts";
import { modelName } from "./connection.ts";
import type { Turn } from "./turn.ts";

/** Undefined until they are known. */
export const models = signal<Answer<"models.list"> | undefined>(undefined);

effect(() => {
  // Asked anew when the default is another one.
  void modelName.value;
  if (!may("models.list")) return;
  ask("models.list", {}).then((answer) => models.value = answer, () => {});
});

/** The models that have answered in a turn; the one that it was begun with where none has. */
export function modelsOf({ models: { value = [] } }: Pick<Turn, "models">) {
  const answered = value.filter(({ output_tokens, input_tokens }) =>
    output_tokens + input_tokens > 0
  );
  return answered.length > 0 ? answered : value.slice(0, 1);
}

/** What a turn cost; undefined where no price is configured for one of its models. */
export function costOf(turn: Pick<Turn, "models">): number | undefined {
  const costs = modelsOf(turn).map(({ model, input_tokens, cached_tokens, output_tokens }) => {
    const price = models.value?.models.find(({ name }) => name === model)?.price;
    return price === undefined
      ? NaN
      : (input_tokens - cached_tokens) * price.input + cached_tokens * price.cached_input +
        output_tokens * price.output;
  });
  const sum = costs.reduce((sum, cost) => sum + cost, 0) / 1_000_000;
  return costs.length === 0 || Number.isNaN(sum) ? undefined : sum;
}
