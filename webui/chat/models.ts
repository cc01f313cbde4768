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

/** What a turn cost; undefined where no price is configured for its model. */
export function costOf({ model, usage }: Pick<Turn, "model" | "usage">): number | undefined {
  const price = models.value?.models.find(({ name }) => name === model.value)?.price;
  if (price === undefined || usage.value === undefined) return undefined;
  const { input_tokens, cached_tokens, output_tokens } = usage.value;
  return ((input_tokens - cached_tokens) * price.input + cached_tokens * price.cached_input +
    output_tokens * price.output) / 1_000_000;
}
