/**
 * The child side of `edit_file`.
 *
 * @module
 */

import type { ChildRun } from "../../executor/serve_child.ts";
import { nearestText } from "./nearest_text.ts";
import { openChecked, pathTarget } from "./open_checked.ts";
import { formatBytes, readFull, sniffText } from "./text.ts";
import { shownPath } from "./visible.ts";
import { writeWhole } from "./write_whole.ts";

interface Args {
  old_text: string;
  new_text: string;
  replace_all: boolean;
}

/** Largest file that is edited, bytes. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Places that one call replaces. */
const MAX_PLACES = 1_000_000;
/** Line numbers that are named when a text stands in a file more than once. */
const MAX_LINES_NAMED = 10;

/** Replaces a piece of text. */
export const run: ChildRun = ({ task }) => {
  const target = pathTarget(task.target);
  const args = task.args as Args;
  const shown = shownPath(target.real, task.workspace);
  const before = readWhole(target, shown);
  const { after, lines } = replace(before, args, shown);
  const bytes = new TextEncoder().encode(after);
  if (bytes.length > MAX_FILE_BYTES) throw tooLarge(shown);
  writeWhole(target, bytes, shown);
  const where = lines.length === 1
    ? `at line ${lines[0]}`
    : `${lines.length} times, at lines ${listLines(lines)}`;
  return Promise.resolve({ type: "result", output: `Changed ${shown} ${where}` });
};

function readWhole(target: Parameters<typeof openChecked>[0], shown: string): string {
  using file = openChecked(target, shown);
  const { size } = file.statSync();
  if (size > MAX_FILE_BYTES) {
    throw new Error(
      `${shown} has ${formatBytes(size)}, the limit for an edit is ${formatBytes(MAX_FILE_BYTES)}`,
    );
  }
  const bytes = new Uint8Array(size);
  const read = bytes.subarray(0, readFull(file, bytes));
  const encoding = sniffText(read.subarray(0, 8192));
  if (encoding !== "utf-8") {
    const kind = encoding === undefined ? "a binary file" : `${encoding.toUpperCase()} text`;
    throw new Error(`${shown} is ${kind}, expected UTF-8 text`);
  }
  try {
    // Every byte that is not replaced has to come back as it was.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(read);
  } catch {
    throw new Error(`${shown} is no UTF-8 text`);
  }
}

function tooLarge(shown: string): Error {
  return new Error(
    `${shown} would become larger than the limit for an edit, ${formatBytes(MAX_FILE_BYTES)}`,
  );
}

function replace(
  before: string,
  args: Args,
  shown: string,
): { after: string; lines: number[] } {
  const { oldText, newText } = withLineEnds(before, args);
  const places = find(before, oldText, args.replace_all);
  if (places.length === 0) {
    const hint = numberedHint(before, args.old_text) ?? nearestText(before, args.old_text);
    throw new Error(`old_text does not stand in ${shown}. ${hint}`);
  }
  if (places.length > MAX_PLACES) {
    throw new Error(
      `old_text stands in ${shown} more than ${MAX_PLACES} times: give more of the text around it`,
    );
  }
  const lines = lineNumbers(before, places);
  if (places.length > 1 && !args.replace_all) {
    throw new Error(
      `old_text stands in ${shown} ${places.length} times, at lines ${listLines(lines)}: ` +
        "give more of the text around it, or replace_all: true",
    );
  }
  if (oldText === newText) throw new Error("new_text is the same as old_text");
  // Before it is made: it could be larger than any text can be.
  const size = before.length + places.length * (newText.length - oldText.length);
  if (size > MAX_FILE_BYTES) throw tooLarge(shown);
  const parts: string[] = [];
  let at = 0;
  for (const place of places) {
    parts.push(before.slice(at, place), newText);
    at = place + oldText.length;
  }
  parts.push(before.slice(at));
  return { after: parts.join(""), lines };
}

/**
 * Both texts with the line ends of the file: a model that was shown its lines cannot know how they end.
 * Where old_text stands as it is, new_text only takes the ends that every line of the file has.
 */
function withLineEnds(
  before: string,
  { old_text: oldText, new_text: newText }: Args,
): { oldText: string; newText: string } {
  const hasCrlf = before.includes("\r\n");
  if (before.includes(oldText)) {
    const isMixed = hasCrlf && /(?<!\r)\n/.test(before);
    return { oldText, newText: hasCrlf && !isMixed ? toCrlf(newText) : newText };
  }
  const [other, convert] = hasCrlf ? [toCrlf(oldText), toCrlf] : [toLf(oldText), toLf];
  return before.includes(other)
    ? { oldText: other, newText: convert(newText) }
    : { oldText, newText };
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

function toLf(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/**
 * Places of a piece, at most one more than {@linkcode MAX_PLACES}. Those that are replaced do not overlap;
 * to be the only one, a place may not overlap with another either.
 */
function find(text: string, piece: string, forAll: boolean): number[] {
  const places: number[] = [];
  const step = forAll ? piece.length : 1;
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + step)) {
    places.push(at);
    if (places.length > MAX_PLACES) break;
  }
  return places;
}

/** Line numbers as other tools show them before a line: `12: `, `12\t`, `12|`. */
const NUMBERED = /^[ ]*\d+(?::[ ]?|\t|[ ]?[|\u2192])/;

/** Says so when old_text stands there but for line numbers. */
function numberedHint(before: string, oldText: string): string | undefined {
  const lines = oldText.split("\n");
  if (!lines.every((line) => line.trim() === "" || NUMBERED.test(line))) return undefined;
  const bare = lines.map((line) => line.replace(NUMBERED, "")).join("\n");
  if (bare.trim() === "") return undefined;
  const [place] = find(
    before,
    withLineEnds(before, { old_text: bare, new_text: "", replace_all: true }).oldText,
    true,
  );
  if (place === undefined) return undefined;
  const [line] = lineNumbers(before, [place]);
  return `Its lines begin with line numbers, which are no part of the file: without them it stands at line ${line}.`;
}

function lineNumbers(text: string, places: readonly number[]): number[] {
  const lines: number[] = [];
  let line = 1;
  let at = 0;
  for (const place of places) {
    for (
      let end = text.indexOf("\n", at);
      end !== -1 && end < place;
      end = text.indexOf("\n", at)
    ) {
      line++;
      at = end + 1;
    }
    lines.push(line);
  }
  return lines;
}

function listLines(lines: readonly number[]): string {
  const named = lines.slice(0, MAX_LINES_NAMED).join(", ");
  return lines.length > MAX_LINES_NAMED ? `${named}, …` : named;
}
