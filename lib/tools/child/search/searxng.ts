/**
 * The search API of a SearXNG instance (https://docs.searxng.org/dev/search_api.html). It has no keys;
 * one that is configured is for a proxy before it, as a bearer token.
 *
 * @module
 */

import { member, type Provider, textOf } from "./provider.ts";

const MAX_ENGINES_NAMED = 10;

/** SearXNG. How many results there are is the instance's own to say; the first ones are taken. */
export const searxng: Provider = {
  name: "SearXNG",
  request: (query, _count, apiKey) => ({
    method: "GET",
    query: new URLSearchParams({ q: query, format: "json" }),
    headers: {
      accept: "application/json",
      ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }),
    },
  }),
  read(json) {
    const results = member(json, "results");
    if (!Array.isArray(results)) return undefined;
    const silent = member(json, "unresponsive_engines");
    return {
      results: results.map((one) => ({
        title: textOf(one, "title"),
        url: textOf(one, "url"),
        snippet: textOf(one, "content"),
        age: textOf(one, "publishedDate"),
      })),
      notes: Array.isArray(silent) && silent.length > 0
        ? [
          `Engines that did not answer: ${
            silent.slice(0, MAX_ENGINES_NAMED).map(named).join(", ")
          }`,
        ]
        : [],
    };
  },
  errorText: () => undefined,
  statuses: new Map([
    [403, "it refuses answers as JSON; search.formats in its settings.yml has to list json"],
  ]),
};

/** `[name, why]` in newer versions, the name alone in older ones. */
function named(engine: unknown): string {
  return Array.isArray(engine) ? engine.map(String).join(": ") : String(engine);
}
