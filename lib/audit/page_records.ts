/**
 * Reads the audit from its end, a page at a time, for readers who may not wait for all of it. What one
 * page reads is bounded, however large the record is.
 *
 * @module
 */

import { AUDIT_FILE, closedName, listClosed, openIfAny } from "./files.ts";
import { readLines } from "./lines.ts";
import { type AuditRecord, MAX_LINE_BYTES, parseRecord } from "./record.ts";
import { type AuditFilter, recordFilter } from "./record_filter.ts";
import { Subjects } from "./subjects.ts";

/** What is read. */
export interface PageOptions {
  dir: string;
  filter: AuditFilter;
  /** Records of a page. */
  limit: number;
  /** Only records below this number. */
  before?: number;
  /** Bytes that are read at once, from the end on; another size only in tests. */
  windowBytes?: number;
  /** Bytes after which a page ends with what it has. */
  maxBytes?: number;
}

/** Records, oldest first. */
export interface RecordPage {
  records: AuditRecord[];
  /** Where earlier ones may be: `before` of the next page. Absent: there are none. */
  nextBefore?: number;
  /** Lines that cannot be read. */
  damages: number;
}

const WINDOW_BYTES = 4 * 1024 * 1024;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * The newest records that pass the filter. A page may have fewer than asked for, or none, and name a
 * next one: it has read as much as it may. What the end of an action was about, which filters ask for,
 * is known where it began in the same window or the one before, in the same file.
 */
export async function pageRecords(options: PageOptions): Promise<RecordPage> {
  const { dir, limit, windowBytes = WINDOW_BYTES, maxBytes = MAX_BYTES } = options;
  let below = options.before ?? Infinity;
  const page: RecordPage = { records: [], damages: 0 };
  let bytes = 0;
  // Opened before the others are listed: one that is closed meanwhile is then read twice, not never,
  // and the second time has nothing below the first.
  for await (const file of newestFirst(dir, below)) {
    const { size } = await file.stat();
    let end = below === Infinity ? size : await placeOf(file, below, size);
    while (end > 0) {
      const begin = Math.max(0, end - windowBytes);
      const found = await readWindow(file, {
        from: Math.max(0, begin - windowBytes),
        begin,
        end,
        below,
        filter: options.filter,
      });
      page.damages += found.damages;
      page.records.unshift(...found.records.slice(-(limit - page.records.length)));
      below = Math.min(below, found.first);
      bytes += end - begin;
      end = begin;
      if (page.records.length === limit) return withNext(page, page.records[0]!.seq);
      if (bytes >= maxBytes) return withNext(page, below);
    }
  }
  return page;
}

function withNext(page: RecordPage, before: number): RecordPage {
  return before > 1 && before !== Infinity ? { ...page, nextBefore: before } : page;
}

/** Each is open until the next one is asked for. */
async function* newestFirst(dir: string, below: number): AsyncGenerator<Deno.FsFile> {
  using current = await openIfAny(`${dir}/${AUDIT_FILE}`);
  const closed = await listClosed(dir);
  if (current !== undefined) yield current;
  for (const first of closed.toReversed()) {
    if (first >= below) continue;
    using file = await openIfAny(`${dir}/${closedName(first)}`);
    if (file !== undefined) yield file;
  }
}

/** A record whose line begins in a window, and what is wrong there. */
interface Found {
  records: AuditRecord[];
  /** Number of the window's first record; Infinity where it has none. */
  first: number;
  damages: number;
}

/** Reads the lines that begin from `from` on and before `end`; those before `begin` only lend subjects. */
async function readWindow(
  file: Deno.FsFile,
  { from, begin, end, below, filter }: {
    from: number;
    begin: number;
    end: number;
    below: number;
    filter: AuditFilter;
  },
): Promise<Found> {
  const passes = recordFilter(filter);
  const subjects = new Subjects();
  const found: Found = { records: [], first: Infinity, damages: 0 };
  for await (const { text, at } of linesFrom(file, from)) {
    if (at >= end) break;
    const record = text === undefined ? undefined : parseRecord(text);
    if (record === undefined || "damage" in record) {
      if (at >= begin) found.damages++;
      continue;
    }
    const subject = subjects.of(record);
    if (at < begin || record.seq >= below) continue;
    found.first = Math.min(found.first, record.seq);
    if (passes(record, subject)) found.records.push(record);
  }
  return found;
}

/** Where the first line that holds `seq` or a later record begins; the file's size if there is none. */
async function placeOf(file: Deno.FsFile, seq: number, size: number): Promise<number> {
  let low = 0;
  let high = size;
  // Below one line's length it is cheaper to read on.
  while (high - low > MAX_LINE_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const next = await firstFrom(file, middle);
    if (next === undefined || next.at >= high || next.seq >= seq) high = middle;
    else low = next.at;
  }
  for await (const { text, at } of linesFrom(file, low)) {
    const record = text === undefined ? undefined : parseRecord(text);
    if (record !== undefined && !("damage" in record) && record.seq >= seq) return at;
  }
  return size;
}

async function firstFrom(file: Deno.FsFile, place: number) {
  for await (const { text, at } of linesFrom(file, place)) {
    const record = text === undefined ? undefined : parseRecord(text);
    if (record !== undefined && !("damage" in record)) return { seq: record.seq, at };
  }
  return undefined;
}

/** Whole lines that begin at `from` or later, and where. */
async function* linesFrom(
  file: Deno.FsFile,
  from: number,
): AsyncGenerator<{ text?: string; at: number }> {
  // The line that the byte before belongs to began earlier, unless that byte is its end.
  const start = Math.max(0, from - 1);
  await file.seek(start, Deno.SeekMode.Start);
  let at = start;
  for await (const { text, ended, bytes } of readLines(file)) {
    const begins = at;
    at += bytes + 1;
    if (begins < from || !ended) continue;
    yield { text, at: begins };
  }
}
