/**
 * The child side of `edit_file`.
 *
 * @module
 */

import type { ChildRun } from "../../authority/executor/protocol.ts";
import { serveChild } from "../../authority/executor/serve_child.ts";
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
/** Line numbers that are named when a text stands in a file more than once. */
const MAX_LINES_NAMED = 10;

/** Replaces a piece of text. */
export const run: ChildRun = ({ task }) => {
  const target = pathTarget(task.target);
  const args = task.args as Args;
  const shown = shownPath(target.real, task.workspace);
  const before = readWhole(target, shown);
  const { after, lines } = replace(before, args, shown);
  writeWhole(target, new TextEncoder().encode(after), shown);
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
  if (sniffText(read.subarray(0, 8192)) !== "utf-8") {
    throw new Error(`${shown} is no UTF-8 text`);
  }
  try {
    // Every byte that is not replaced has to come back as it was.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(read);
  } catch {
    throw new Error(`${shown} is no UTF-8 text`);
  }
}

function replace(
  before: string,
  args: Args,
  shown: string,
): { after: string; lines: number[] } {
  let { old_text: oldText, new_text: newText } = args;
  let places = find(before, oldText);
  if (places.length === 0 && before.includes("\r\n") && oldText.includes("\n")) {
    // A model that was shown the lines cannot know how they end.
    oldText = oldText.replace(/\r?\n/g, "\r\n");
    newText = newText.replace(/\r?\n/g, "\r\n");
    places = find(before, oldText);
  }
  if (places.length === 0) {
    throw new Error(`old_text does not stand in ${shown}. ${nearestText(before, args.old_text)}`);
  }
  const lines = lineNumbers(before, places);
  if (places.length > 1 && !args.replace_all) {
    throw new Error(
      `old_text stands in ${shown} ${places.length} times, at lines ${listLines(lines)}: ` +
        "give more of the text around it, or replace_all: true",
    );
  }
  if (oldText === newText) throw new Error("new_text is the same as old_text");
  let after = "";
  let at = 0;
  for (const place of places) {
    after += before.slice(at, place) + newText;
    at = place + oldText.length;
  }
  return { after: after + before.slice(at), lines };
}

function find(text: string, piece: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + piece.length)) {
    places.push(at);
  }
  return places;
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

if (import.meta.main) serveChild(run);
