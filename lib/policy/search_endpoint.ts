/**
 * Where the search provider of a configuration is: the one URL that `web_search` may fetch.
 *
 * @module
 */

import type { Config } from "../config/schema.ts";

/** `tools.webSearch` of a configuration. */
export type SearchSettings = Config["tools"]["webSearch"];

/** A search provider. */
export type SearchProvider = Exclude<SearchSettings["provider"], "none">;

/** Where each is when `tools.webSearch.baseUrl` does not say otherwise; searxng is nowhere. */
export const USUAL_BASE_URLS: Record<SearchProvider, string | undefined> = {
  brave: "https://api.search.brave.com",
  tavily: "https://api.tavily.com",
  searxng: undefined,
};

const PATHS: Record<SearchProvider, string> = {
  brave: "/res/v1/web/search",
  tavily: "/search",
  searxng: "/search",
};

const WHERE = "in the service's configuration (an operator does that, and restarts the service)";

/** The URL, in its normal form; or why there can be no search, in words that say how to mend it. */
export function searchEndpoint(
  { provider, apiKey, baseUrl }: SearchSettings,
): { url: string } | { problem: string } {
  if (provider === "none") {
    return {
      problem: "Web search is not configured. To have it, set tools.webSearch.provider to " +
        '"brave" or "tavily", and tools.webSearch.apiKey to a key of that provider; or the provider ' +
        `to "searxng" and tools.webSearch.baseUrl to the address of an instance, ${WHERE}`,
    };
  }
  if (provider !== "searxng" && apiKey === "") {
    return { problem: `Web search by ${provider} needs tools.webSearch.apiKey ${WHERE}` };
  }
  const base = baseUrl ?? USUAL_BASE_URLS[provider];
  if (base === undefined) {
    return { problem: `Web search by ${provider} needs tools.webSearch.baseUrl ${WHERE}` };
  }
  const url = URL.parse(base);
  if (url === null || url.username !== "" || url.password !== "") {
    return {
      problem:
        "Web search does not work: tools.webSearch.baseUrl is no URL without user name and " +
        "password",
    };
  }
  url.pathname = url.pathname.replace(/\/+$/, "") + PATHS[provider];
  url.search = "";
  url.hash = "";
  return { url: url.href };
}
