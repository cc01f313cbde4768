/**
 * Results of a search as text. They are strangers' words: bounded, on lines of their own, and with
 * everything hidden in them made visible.
 *
 * @module
 */

import { decodeEntities } from "./decode_entities.ts";
import { visible } from "../visible.ts";
import type { SearchAnswer, SearchResult } from "./provider.ts";

const MAX_TITLE_CHARS = 200;
const MAX_SNIPPET_CHARS = 600;
const MAX_AGE_CHARS = 60;
const MAX_NOTE_CHARS = 300;
const MAX_URL_CHARS = 2_048;

/** The first `count` results that lead to a web page, and notes. */
export function renderAnswer({ results, notes }: SearchAnswer, count: number): string {
  const urls = new Set<string>();
  const shown: string[] = [];
  for (const result of results) {
    const url = pageUrl(result.url);
    if (url === undefined || urls.has(url)) continue;
    urls.add(url);
    shown.push(render(result, url, shown.length + 1));
    if (shown.length === count) break;
  }
  const said = notes.map((note) => `[${line(note, MAX_NOTE_CHARS)}]`);
  return [shown.length === 0 ? "No results." : shown.join("\n\n"), ...said].join("\n\n");
}

function render({ title, snippet, age }: SearchResult, url: string, number: number): string {
  const when = line(age, MAX_AGE_CHARS);
  return [
    `${number}. ${line(title, MAX_TITLE_CHARS) || "(no title)"}`,
    `   ${url}`,
    ...when === "" ? [] : [`   ${when}`],
    ...snippet.trim() === "" ? [] : [`   ${line(snippet, MAX_SNIPPET_CHARS)}`],
  ].join("\n");
}

/** The address in its normal form, which holds nothing hidden and no blank. */
function pageUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  return url.href.length <= MAX_URL_CHARS ? url.href : undefined;
}

/** Text on one line; providers mark words with tags and leave entities in. */
function line(text: string, maxChars: number): string {
  // Bounded first: the rest is work for nothing.
  const plain = decodeEntities(text.slice(0, 4 * maxChars).replace(/<\/?[a-z][^<>]{0,200}>/gi, ""));
  const one = plain.replace(/\s+/g, " ").trim();
  const cut = one.length <= maxChars ? one : `${one.slice(0, maxChars - 1)}…`;
  return visible(cut.toWellFormed());
}
