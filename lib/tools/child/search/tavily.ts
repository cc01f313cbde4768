/**
 * The Tavily API (https://docs.tavily.com/documentation/api-reference/endpoint/search).
 *
 * @module
 */

import { member, type Provider, textOf } from "./provider.ts";

/** Tavily. */
export const tavily: Provider = {
  name: "Tavily",
  request: (query, count, apiKey) => ({
    method: "POST",
    headers: {
      accept: "application/json",
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ query, max_results: count, search_depth: "basic", topic: "general" }),
  }),
  read(json) {
    const results = member(json, "results");
    if (!Array.isArray(results)) return undefined;
    return {
      results: results.map((one) => ({
        title: textOf(one, "title"),
        url: textOf(one, "url"),
        snippet: textOf(one, "content"),
        age: textOf(one, "published_date"),
      })),
      notes: [],
    };
  },
  errorText: (json) => textOf(json, "detail", "error") || textOf(json, "detail") || undefined,
  statuses: new Map([
    [432, "the plan of the key is used up"],
    [433, "the pay-as-you-go limit of the key is reached"],
  ]),
};
