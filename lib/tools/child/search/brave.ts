/**
 * The Brave Search API (https://api.search.brave.com/app/documentation/web-search).
 *
 * @module
 */

import { member, type Provider, textOf } from "./provider.ts";

/** Brave. A key that it does not know is a 422 there. */
export const brave: Provider = {
  name: "Brave Search",
  request: (query, count, apiKey) => ({
    method: "GET",
    query: new URLSearchParams({
      q: query,
      count: String(count),
      result_filter: "web",
      text_decorations: "false",
    }),
    headers: { accept: "application/json", "x-subscription-token": apiKey },
  }),
  read(json) {
    const results = member(json, "web", "results");
    // Without any result the whole part is left out.
    if (results === undefined && textOf(json, "type") === "search") {
      return { results: [], notes: [] };
    }
    if (!Array.isArray(results)) return undefined;
    return {
      results: results.map((one) => ({
        title: textOf(one, "title"),
        url: textOf(one, "url"),
        snippet: textOf(one, "description"),
        age: textOf(one, "age") || textOf(one, "page_age"),
      })),
      notes: [],
    };
  },
  errorText: (json) =>
    textOf(json, "error", "detail") || textOf(json, "error", "code") || undefined,
  statuses: new Map([[402, "the plan of the key is used up"]]),
  refusesKey: (json) => textOf(json, "error", "code").startsWith("SUBSCRIPTION_TOKEN"),
};
