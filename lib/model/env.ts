/**
 * Environment variables that the providers' packages read.
 *
 * Two of them build a provider from the environment while they are imported, and a read of a
 * variable that is not granted throws, so the service's Worker is granted these two. Their values
 * are of no consequence: every provider is made with an explicit key and base URL.
 *
 * @module
 */

/** Variables read at import, and by which package. */
export const MODEL_ENV: readonly { variable: string; askedBy: string }[] = [
  { variable: "OPENAI_BASE_URL", askedBy: "@ai-sdk/openai at import" },
  { variable: "ANTHROPIC_BASE_URL", askedBy: "@ai-sdk/anthropic at import" },
];
