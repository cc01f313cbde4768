/**
 * Which values of the configuration stand where secrets may stand, and are none.
 *
 * The keys of `headers` and `env` are free, so the schema calls all of them secret, and none is shown.
 * Taken out of every text, an `Accept: application/json` or the path of a file would make answers
 * unreadable and protect nothing.
 *
 * @module
 */

import type { NamedSecret } from "../config/redact.ts";

const SECRET_NAME = /key|token|secret|pass|pwd|credential|auth|cookie|session|signature/i;

/** Headers whose values are no secrets by what they are. */
const PLAIN_HEADERS = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "content-type",
  "openai-beta",
  "anthropic-beta",
  "anthropic-version",
  "referer",
  "http-referer",
  "user-agent",
  "x-title",
]);

/** What people write where a server of their own wants any key. */
const NO_KEYS = new Set([
  "anything",
  "dummy-key",
  "lm-studio",
  "no-key-required",
  "not-needed",
  "placeholder",
  "sk-no-key-required",
]);

/** A path, a plain URL, a word such as `production`: only where the variable's name says no other. */
const PLAIN_VALUE = /^(?:\/[\w./+@ -]*|https?:\/\/[\w.:-]+(?:\/[\w./-]*)?|[a-z]+(?:[-_][a-z]+)?)$/;

/** Whether a value that may be a secret by its place is none. */
export function isPlainSetting({ name, value }: NamedSecret): boolean {
  if (/^providers\..+\.apiKey$/.test(name)) return NO_KEYS.has(value);
  const header = /\.headers\.([^.]+)$/.exec(name);
  if (header !== null) return PLAIN_HEADERS.has(header[1]!.toLowerCase());
  const variable = /\.env\.(.+)$/.exec(name);
  return variable !== null && !SECRET_NAME.test(variable[1]!) && PLAIN_VALUE.test(value);
}
