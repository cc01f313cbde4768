/**
 * How long a provider asks to wait.
 *
 * @module
 */

/**
 * Seconds that the response headers ask to wait, 0 or more, from `retry-after-ms` (milliseconds) or
 * `Retry-After` (seconds or an HTTP date, RFC 9110 section 10.2.3); undefined when they say nothing
 * that can be read.
 */
export function readRetryAfterS(
  headers: Readonly<Record<string, string>> | undefined,
  nowMs: number,
): number | undefined {
  const ms = headers?.["retry-after-ms"]?.trim();
  if (ms !== undefined && /^\d+(\.\d+)?$/.test(ms)) return Number(ms) / 1_000;
  const value = headers?.["retry-after"]?.trim();
  if (value === undefined || value === "") return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value);
  // Date.parse takes almost anything; the three forms of an HTTP date begin with a day's name.
  const dateMs = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, (dateMs - nowMs) / 1_000);
}
