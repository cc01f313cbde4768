import type { Usage } from "../events.ts";
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
