/**
 * What can be searched for in a text, and where in it something was found.
 *
 * A term is a word without case and accents. Where a script puts no space between words, each character is
 * a term, so that a word is found as a run of them.
 *
 * @module
 */

import type { SnippetPart } from "../contract/journal.ts";
import { invalid } from "./checks.ts";

/** Code units of a text that can be found. */
const MAX_TEXT = 100_000;

/** Code units of a term. */
const MAX_TERM = 64;

/** Phrases of a query. */
const MAX_PHRASES = 32;

/** Code units of a snippet before what was found, and in all, about. */
const BEFORE = 60;
const SNIPPET = 240;

const UNSPACED = ["Han", "Hira", "Kana", "Thai", "Lao", "Khmr", "Mymr"]
  .map((script) => `\\p{scx=${script}}`).join("");
const LETTER = "[\\p{L}\\p{M}\\p{N}]";
const TERM = new RegExp(
  `[[${UNSPACED}]&&${LETTER}]|[${LETTER}--[${UNSPACED}]]+|\\p{Extended_Pictographic}`,
  "gv",
);

const NOT_PLAIN = /[^a-z0-9]/;
/** What a decomposed word is compared without: accents, and what the tokenizer of the index would split at. */
const ACCENT_OR_SPLIT = /[\u0300-\u036f]|(?![a-z0-9])[\0-\x7f]/g;

/** What is looked for. */
export interface TextQuery {
  /** Terms that follow on each other; all phrases have to be there. */
  phrases: string[][];
  /** The last term may be the beginning of one. */
  isOpen: boolean;
}

/** A term, and where it stands. */
interface Place {
  term: string;
  from: number;
  to: number;
}

/** The terms of a text, with spaces between them. */
export function indexedText(text: string): string {
  return (text.slice(0, MAX_TEXT).match(TERM) ?? []).map(fold).filter(Boolean).join(" ");
}

/**
 * A query as people type it: words, and phrases in quotes. Throws `invalid_request` for one that has no
 * letter or digit, or too many words.
 */
export function parseQuery(typed: string): TextQuery {
  const query: TextQuery = { phrases: [], isOpen: false };
  for (const [piece, closing] of typed.matchAll(/"[^"]*("?)|[^\s"]+/g)) {
    const terms = Array.from(placesIn(piece), ({ term }) => term);
    if (terms.length === 0) continue;
    query.phrases.push(terms);
    query.isOpen = closing !== '"';
  }
  const { phrases } = query;
  if (phrases.length === 0) {
    throw invalid("q", "Cannot search for this: a letter, a digit or an emoji is needed");
  }
  if (phrases.length > MAX_PHRASES) {
    throw invalid("q", `Cannot search for ${phrases.length} words: ${MAX_PHRASES} are the most`);
  }
  // Nearly everything begins with any one letter.
  query.isOpen &&= phrases.at(-1)!.at(-1)!.length > 1;
  return query;
}

/** The query in the language of FTS5. Terms hold letters and digits alone, so nothing needs escaping. */
export function toMatch({ phrases, isOpen }: TextQuery): string {
  return phrases.map((terms) => `"${terms.join(" ")}"`).join(" ") + (isOpen ? "*" : "");
}

/** A stretch of the text about the first place where something is found. */
export function snippetOf(text: string, query: TextQuery): SnippetPart[] {
  const places: Place[] = [];
  const found: [from: number, to: number][] = [];
  for (const place of placesIn(text.slice(0, MAX_TEXT))) {
    places.push(place);
    for (const length of endingHere(places, query)) {
      found.push([places.at(-length)!.from, place.to]);
    }
    if (found.length > 0 && place.from > found[0]![0] + SNIPPET) break;
  }
  const [start] = found[0] ?? [0];
  const from = start <= BEFORE ? 0 : places.find((place) => place.from >= start - BEFORE)!.from;
  const isWhole = text.length <= from + SNIPPET;
  const to = isWhole
    ? text.length
    : places.findLast((place) => place.to <= from + SNIPPET)?.to ?? from + SNIPPET;
  const parts: SnippetPart[] = [];
  const add = (piece: string, match: boolean) => {
    if (piece !== "") parts.push({ text: piece.toWellFormed().replace(/\s+/g, " "), match });
  };
  let at = from;
  for (const [begin, end] of found) {
    if (begin < at || end > to) continue;
    add((at === from && from > 0 ? "…" : "") + text.slice(at, begin), false);
    add(text.slice(begin, end), true);
    at = end;
  }
  add(text.slice(at, to) + (isWhole ? "" : "…"), false);
  return parts;
}

/** Lengths, in terms, of the phrases that end with the last one. */
function endingHere(places: readonly Place[], { phrases, isOpen }: TextQuery): number[] {
  return phrases.filter((terms, index) =>
    terms.length <= places.length && terms.every((term, at) => {
      const { term: there } = places[places.length - terms.length + at]!;
      const mayGoOn = isOpen && index === phrases.length - 1 && at === terms.length - 1;
      return mayGoOn ? there.startsWith(term) : there === term;
    })
  ).map(({ length }) => length);
}

function* placesIn(text: string): Iterable<Place> {
  for (const { 0: word, index } of text.matchAll(TERM)) {
    const term = fold(word);
    if (term !== "") yield { term, from: index, to: index + word.length };
  }
}

/** As a term is compared. Empty for a mark that stands alone. */
function fold(word: string): string {
  const plain = word.toLowerCase();
  const term = NOT_PLAIN.test(plain)
    ? word.normalize("NFKD").toLowerCase().replace(ACCENT_OR_SPLIT, "")
    : plain;
  return term.length > MAX_TERM ? term.slice(0, MAX_TERM).toWellFormed() : term;
}
