/**
 * Reads the files of an audit one after the other, as one stream of lines, also while another process
 * appends to them and closes one. Nothing is written.
 *
 * @module
 */

import { AUDIT_FILE, closedName, listClosed, openIfAny } from "./files.ts";
import { type AuditLine, readLines } from "./lines.ts";

/** A line, and where it stands. */
export interface WalkedLine extends AuditLine {
  /** Name of the file in its folder. */
  file: string;
  /** From 1. */
  line: number;
}

/** How an audit is read. */
export interface WalkOptions {
  dir: string;
  signal?: AbortSignal;
  /** Told how many bytes a line had. */
  onBytes?: (bytes: number) => void;
  /**
   * Asked at the end of what there is: true when there may be more, and false to end. Without it
   * nothing is waited for. An unfinished line is then given only when it is whole.
   */
  more?: () => Promise<boolean>;
}

/**
 * Every line from the oldest file on. What has no line end comes last in its file. Throws `NotFound`
 * where there is no audit. Files that are not there are passed over: the numbers of the records show it.
 */
export async function* walkAudit(options: WalkOptions): AsyncGenerator<WalkedLine> {
  const { dir } = options;
  /** Number of the first record of the closed file that was read last. */
  let after = 0;
  let isEmpty = true;
  // Listed again only when all that was listed has been read, so the work doesn't grow with the square
  // of the number of files: later files always have higher numbers.
  let listed = await listClosed(dir);
  const nextClosed = async () => {
    while (listed.length > 0 && listed[0]! <= after) listed.shift();
    if (listed.length === 0) listed = (await listClosed(dir)).filter((first) => first > after);
    return listed[0];
  };
  // What was there at the start ends with the file after these; to follow a fast writer has no end.
  const lastAtStart = listed.at(-1) ?? 0;
  while (true) {
    const closed = await nextClosed();
    using file = await openIfAny(
      `${dir}/${closed === undefined ? AUDIT_FILE : closedName(closed)}`,
    );
    if (closed !== undefined) {
      after = closed;
      // Undefined: pruned since it was listed.
      if (file === undefined) continue;
      isEmpty = false;
      yield* linesOf(file, closedName(closed), options);
      if (closed > lastAtStart && options.more === undefined) return;
      continue;
    }
    // Closed in between, so what was opened is the file after the next one, or not there yet.
    if (await nextClosed() !== undefined) continue;
    if (file === undefined) {
      if (!isEmpty && await options.more?.()) continue;
      if (isEmpty) throw new Deno.errors.NotFound(`There is no audit in "${dir}"`);
      return;
    }
    isEmpty = false;
    const rotated = yield* currentLines(file, nextClosed, options);
    if (rotated === undefined || options.more === undefined) return;
    after = rotated;
  }
}

/**
 * Lines of the file that is written to. Gives back the number under which it was closed while it was
 * read; undefined when it was not.
 */
async function* currentLines(
  file: Deno.FsFile,
  nextClosed: () => Promise<number | undefined>,
  options: WalkOptions,
): AsyncGenerator<WalkedLine, number | undefined> {
  let line = 0;
  while (true) {
    // Asked before it is read to its end: a closed file has its last line already.
    const closed = await nextClosed();
    let unfinished: WalkedLine | undefined;
    for await (const each of linesOf(file, AUDIT_FILE, options, line)) {
      if (each.ended) {
        line = each.line;
        yield each;
      } else unfinished = each;
    }
    if (closed === undefined && await nextClosed() !== undefined) continue;
    if (closed === undefined && await options.more?.()) continue;
    if (unfinished !== undefined) yield unfinished;
    return closed;
  }
}

async function* linesOf(
  file: Deno.FsFile,
  name: string,
  { signal, onBytes }: WalkOptions,
  before = 0,
): AsyncGenerator<WalkedLine> {
  let line = before;
  for await (const each of readLines(file, signal)) {
    onBytes?.(each.bytes + 1);
    yield { ...each, file: name, line: ++line };
  }
}
