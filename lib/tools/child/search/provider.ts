/**
 * What a search provider is to `web_search`: how it is asked, what it answers, and what its errors mean.
 *
 * @module
 */

import type { HttpRequest } from "../http_request.ts";

/** One page that was found. Texts are the provider's, as they came. */
export interface SearchResult {
  title: string;
  url: string;
  snippet: string;
  /** When the page was published or last seen, as the provider says it; empty where it does not. */
  age: string;
}

/** What a search came to. */
export interface SearchAnswer {
  results: SearchResult[];
  /** What else a reader has to know, such as engines that did not answer. */
  notes: string[];
}

/** A provider over HTTP and JSON. */
export interface Provider {
  /** As people know it. */
  name: string;
  request(query: string, count: number, apiKey: string): HttpRequest;
  /** Reads an answer with status 200; undefined when it has not the provider's shape. */
  read(json: unknown): SearchAnswer | undefined;
  /** What the body of an error says; undefined where it says nothing. */
  errorText(json: unknown): string | undefined;
  /** Statuses of its own that mean more than HTTP says, with what they mean. */
  statuses: ReadonlyMap<number, string>;
  /** It refuses the key, although the status does not say so. */
  refusesKey?(json: unknown): boolean;
}

/** The member of an object; undefined for anything else. */
export function member(value: unknown, ...names: string[]): unknown {
  for (const name of names) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) {
      return undefined;
    }
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** The text of a member, or an empty one. */
export function textOf(value: unknown, ...names: string[]): string {
  const text = member(value, ...names);
  return typeof text === "string" ? text : "";
}
