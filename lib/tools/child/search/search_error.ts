/**
 * What a provider's error means, in words for the model and its reader. The key stands in none of them,
 * also where the provider repeats it.
 *
 * @module
 */

import type { IncomingHttpHeaders } from "node:http";
import { visible } from "../visible.ts";
import type { Provider } from "./provider.ts";

/** Characters of the provider's own words. */
const MAX_SAID_CHARS = 300;
/** Seconds that are named; a month's quota is no time to wait for. */
const MAX_WAIT_S = 24 * 60 * 60;

/** What came instead of results. */
export interface ErrorAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** The body, parsed; undefined where it is no JSON. */
  json: unknown;
}

/** An error for an answer whose status is not 200. */
export function searchError(
  provider: Provider,
  { status, headers, json }: ErrorAnswer,
  { apiKey, now = Date.now() }: { apiKey: string; now?: number },
): Error {
  const text = provider.errorText(json);
  const said = text === undefined ? "" : `. It says: ${clean(text, apiKey)}`;
  return new Error(`${provider.name} ${meaning()}${said}`);

  function meaning(): string {
    const own = provider.statuses.get(status);
    if (own !== undefined) return `did not search: ${own} (HTTP ${status})`;
    if (provider.refusesKey?.(json) || status === 401 || status === 403) {
      return `refuses the key in tools.webSearch.apiKey (HTTP ${status})`;
    }
    if (status === 429) {
      const waitS = waitSeconds(headers, now);
      const when = waitS === undefined ? "try again later" : `try again in ${waitS} s`;
      return `has had too many searches (HTTP 429); ${when}`;
    }
    if (status >= 300 && status < 400) {
      return `answers with a redirect (HTTP ${status}), which is not followed; ` +
        "tools.webSearch.baseUrl has to name where it really is";
    }
    if (status === 404) {
      return "has no search there (HTTP 404); tools.webSearch.baseUrl has to be its address";
    }
    if (status >= 500) return `has a fault of its own (HTTP ${status}); try again later`;
    return `did not take the search (HTTP ${status})`;
  }
}

/** Seconds until the next search, from `Retry-After` (RFC 9110, 10.2.3) or Brave's `X-RateLimit-Reset`. */
function waitSeconds(headers: IncomingHttpHeaders, now: number): number | undefined {
  const after = headers["retry-after"]?.trim();
  if (after !== undefined && after !== "") {
    const seconds = /^\d{1,9}$/.test(after)
      ? Number(after)
      : Math.ceil((Date.parse(after) - now) / 1000);
    return seconds >= 0 && seconds <= MAX_WAIT_S ? seconds : undefined;
  }
  // One number a window; the shortest one is that of the rate.
  const reset = String(headers["x-ratelimit-reset"] ?? "").split(",")[0]!.trim();
  if (!/^\d{1,9}$/.test(reset)) return undefined;
  return Number(reset) <= MAX_WAIT_S ? Number(reset) : undefined;
}

/** Somebody else's words on one line, without the key. */
function clean(text: string, apiKey: string): string {
  const without = apiKey === "" ? text : text.replaceAll(apiKey, "[the key]");
  return visible(without.replace(/\s+/g, " ").trim().slice(0, MAX_SAID_CHARS).toWellFormed());
}
