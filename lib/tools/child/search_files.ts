/**
 * The child side of `search_files`. A regular expression that never ends is ended with its process.
 *
 * @module
 */

import type { ChildRun } from "../../executor/serve_child.ts";
import { compileGlob } from "./glob.ts";
import { checkFolder, openChecked, pathTarget } from "./open_checked.ts";
import { readFull, SNIFF_BYTES, sniffText } from "./text.ts";
import { shownPath, visible } from "./visible.ts";
import { type Entry, noSkips, skipNotes, walk } from "./walk.ts";

interface Args {
  pattern: string;
  glob?: string;
  literal: boolean;
  ignore_case: boolean;
  limit: number;
}

/** Larger files are skipped, and counted. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 64;
/** Characters that are shown around a match. */
const MAX_LINE_CHARS = 300;
const PROGRESS_FILES = 2_000;

interface Found {
  lines: string[];
  files: number;
  searched: number;
  large: number;
  linked: number;
  full: boolean;
}

/** Finds matching lines, by path and line. */
export const run: ChildRun = async ({ task, progress }) => {
  const target = pathTarget(task.target);
  const args = task.args as Args;
  const shown = shownPath(target.real, task.workspace);
  const expression = compile(args);
  const accepts = args.glob === undefined ? () => true : compileGlob(args.glob);
  const found: Found = { lines: [], files: 0, searched: 0, large: 0, linked: 0, full: false };
  const skips = noSkips();
  if (target.file === undefined) throw new Error(`${shown} does not exist`);
  if (target.file.isDirectory) {
    checkFolder(target.folder, shown);
    const options = { maxDepth: MAX_DEPTH, enters: isSearched };
    for (const entry of walk(target.real, options, skips)) {
      if (entry.kind !== "file" || !accepts(entry.relative)) continue;
      using file = openEntry(entry, found);
      if (file === undefined) continue;
      searchFile(file, shownPath(entry.path, task.workspace), expression, args.limit, found);
      if (found.full) break;
      if (found.searched % PROGRESS_FILES === 0) {
        await progress(`${found.searched} files searched`);
      }
    }
  } else {
    using file = openChecked(target, shown);
    searchFile(file, shown, expression, args.limit, found);
  }
  return { type: "result", output: report(found, args.limit, skipNotes(skips)) };
};

function compile({ pattern, literal, ignore_case: ignoreCase }: Args): RegExp {
  const source = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&") : pattern;
  try {
    // Without the u flag what models write by habit, such as \-, is no error.
    return new RegExp(source, ignoreCase ? "i" : "");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`pattern is no regular expression (${reason}); literal: true takes it as text`);
  }
}

function isSearched({ relative }: Entry): boolean {
  return !/(^|\/)(\.git|node_modules)$/.test(relative);
}

/** The file of an entry if it is to be searched, and still the one that was seen. */
function openEntry({ path }: Entry, found: Found): Deno.FsFile | undefined {
  try {
    const seen = Deno.lstatSync(path);
    if (!seen.isFile) return undefined;
    if ((seen.nlink ?? 1) > 1) {
      found.linked++;
      return undefined;
    }
    const file = Deno.openSync(path, { read: true });
    const info = file.statSync();
    if (info.dev === seen.dev && info.ino === seen.ino) return file;
    file.close();
  } catch {
    // Gone, or not ours to read.
  }
}

function searchFile(
  file: Deno.FsFile,
  shown: string,
  expression: RegExp,
  limit: number,
  found: Found,
): void {
  const { size } = file.statSync();
  if (size > MAX_FILE_BYTES) {
    found.large++;
    return;
  }
  const bytes = new Uint8Array(size);
  const read = bytes.subarray(0, readFull(file, bytes));
  const encoding = sniffText(read.subarray(0, SNIFF_BYTES));
  if (encoding === undefined) return;
  found.searched++;
  const text = new TextDecoder(encoding).decode(read);
  let hasMatch = false;
  let number = 0;
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at);
    const stop = end === -1 ? text.length : end;
    const line = text.slice(at, text[stop - 1] === "\r" ? stop - 1 : stop);
    number++;
    const match = expression.exec(line);
    if (match !== null) {
      if (found.lines.length >= limit) {
        found.full = true;
        break;
      }
      hasMatch = true;
      found.lines.push(`${shown}:${number}: ${excerpt(line, match.index)}`);
    }
    at = stop + 1;
  }
  if (hasMatch) found.files++;
}

function excerpt(line: string, at: number): string {
  if (line.length <= MAX_LINE_CHARS) return visible(line.replaceAll("\t", "  "));
  const from = Math.max(0, at - MAX_LINE_CHARS / 3);
  const part = line.slice(from, from + MAX_LINE_CHARS).toWellFormed().replaceAll("\t", "  ");
  return `${from > 0 ? "… " : ""}${visible(part)}${
    from + MAX_LINE_CHARS < line.length ? " …" : ""
  }`;
}

function report(found: Found, limit: number, notes: string[]): string {
  const all = [
    `${found.lines.length} matching lines in ${found.files} of ${found.searched} files`,
    ...(found.full ? [`the first ${limit}; there are more`] : []),
    ...(found.large > 0 ? [`${found.large} files over 16 MiB left out`] : []),
    ...(found.linked > 0 ? [`${found.linked} files with several hard links left out`] : []),
    ...notes,
  ];
  return [...found.lines, `[${all.join("; ")}]`].join("\n");
}
