import type { ModelUsage, Usage } from "../events.ts";
import type { Frame } from "./frames.ts";

/** Tokens as clients are told of them. */
export function usageOnWire(usage: Usage): Frame<"turn_end">["usage"] {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
    cached_tokens: usage.cachedTokens,
  };
}

/** The same by model. */
export function modelsOnWire(
  models: readonly ModelUsage[],
  all: Usage,
): NonNullable<Frame<"turn_end">["models"]> {
  return models.map(({ model, usage = all }) => ({ model, ...usageOnWire(usage) }));
}
