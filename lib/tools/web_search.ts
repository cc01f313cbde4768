/**
 * The tool `web_search`; its child side is `child/web_search.ts`. Which URL it fetches is the
 * configuration's to say, never the model's.
 *
 * @module
 */

import { z } from "zod";
import { searchEndpoint, type SearchSettings } from "../policy/search_endpoint.ts";
import { defineTool, type Tool } from "../contract/tool.ts";

/** What the providers take of a query. */
const MAX_QUERY_CHARS = 400;
const MAX_COUNT = 10;

const schema = z.strictObject({
  query: z.string().max(MAX_QUERY_CHARS)
    .refine((text) => text.trim() !== "", "is blank, expected words to search for")
    .refine((text) => text.isWellFormed(), "holds half of a character (a lone surrogate)")
    .describe("What to search for."),
  count: z.int().min(1).max(MAX_COUNT).default(5).describe("Results that are wanted."),
});

/** What the child is given beside the arguments. The key stands nowhere else. */
export interface SearchTask {
  provider: Exclude<SearchSettings["provider"], "none">;
  apiKey: string;
}

/** Searches the web with the provider of a configuration; without one it says how to have one. */
export function webSearch(settings: SearchSettings): Tool {
  const endpoint = searchEndpoint(settings);
  const { provider, apiKey } = settings;
  return defineTool({
    name: "web_search",
    description: "Searches the web and returns titles, URLs and snippets of pages; web_fetch can " +
      "then fetch these URLs. Where no search provider is configured it says how to have one.",
    capability: "net.fetch",
    readOnly: true,
    schema,
    touches: () => ({ kind: "url", url: "url" in endpoint ? endpoint.url : "" }),
    ...("url" in endpoint
      ? { childSettings: { provider, apiKey } satisfies Record<keyof SearchTask, string> }
      : { unavailable: endpoint.problem }),
    hint: ({ query }) => `web_search ${query}`,
    timeoutMs: 30_000,
  });
}
