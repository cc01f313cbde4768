/**
 * Reads the log of a service in the background.
 *
 * @module
 */

import { readFrom, readRotated } from "../../lib/base/rotated_files.ts";
import { watchFolder } from "../audit/follow.ts";

/** A line of the log. */
export interface LogLine {
  text: string;
  /** Milliseconds since 1970; of a line without a time, that of the one before. */
  at?: number;
}

/** Lines that are wanted. */
export interface LogWanted {
  /** The newest so many. */
  count: number;
  /** Not before; milliseconds since 1970. */
  since?: number;
}

/** The newest lines, oldest first, and where the file ended then. */
export async function lastLines(
  path: string,
  { count, since }: LogWanted,
): Promise<{ lines: LogLine[]; end: number }> {
  let lines: LogLine[] = [];
  let end = 0;
  for (let number = 0;; number++) {
    const bytes = number === 0 ? await readFrom(path, 0) : await readRotated(path, number);
    if (bytes === undefined) break;
    if (number === 0) end = bytes.length;
    lines = [...linesOf(new TextDecoder().decode(bytes)), ...lines];
    if (lines.length >= count || (since !== undefined && (lines[0]?.at ?? Infinity) < since)) break;
  }
  const wanted = lines.filter((line) => isSince(line, since));
  return { lines: count === 0 ? [] : wanted.slice(-count), end };
}

/** Lines that are written from a place on, for ever. */
export async function* followLines(path: string, from: number): AsyncGenerator<LogLine> {
  let at = from;
  let rest = "";
  const decoder = new TextDecoder();
  using folder = watchFolder(path.replace(/\/[^/]*$/, ""));
  do {
    const { size } = await Deno.stat(path).catch(() => ({ size: 0 }));
    if (size < at) {
      // It was set aside: what stood behind `at` is in the copy.
      rest += decoder.decode(await readRotated(path, 1, at), { stream: true });
      at = 0;
    }
    const bytes = await readFrom(path, at) ?? new Uint8Array();
    at += bytes.length;
    rest += decoder.decode(bytes, { stream: true });
    const end = rest.lastIndexOf("\n") + 1;
    yield* linesOf(rest.slice(0, end));
    rest = rest.slice(end);
  } while (await folder.changed());
}

/** As JSON: what a line in JSON is, else its parts. */
export function toJson({ text, at }: LogLine): unknown {
  if (text.startsWith("{")) {
    try {
      return JSON.parse(text);
    } catch {
      // A line that only looks like it.
    }
  }
  const [, level, message] = /^\S+Z (debug|info|warning|error) (.*)$/s.exec(text) ?? [];
  const time = at === undefined ? undefined : new Date(at).toISOString();
  return message === undefined ? { time, message: text } : { time, level, message };
}

/** Whether a line is new enough. */
export function isSince({ at }: LogLine, since: number | undefined): boolean {
  return since === undefined || (at !== undefined && at >= since);
}

function linesOf(text: string): LogLine[] {
  let at: number | undefined;
  return text.split("\n").filter((line) => line !== "").map((line) => {
    const time = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) /.exec(line)?.[1] ??
      /"time":"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/.exec(line.startsWith("{") ? line : "")?.[1];
    at = time === undefined ? at : Date.parse(time);
    return { text: line, at };
  });
}
