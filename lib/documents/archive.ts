/**
 * Zip archives within bounds: every member's real size counts, whatever the archive says of itself.
 *
 * The members are found by the central directory, as every office program finds them. Names are keys
 * and never paths.
 *
 * Source: APPNOTE.TXT 6.3.10 of PKWARE, 4.3 and 4.5.3 (zip64).
 *
 * @module
 */

import { crc32, inflateRawSync } from "node:zlib";
import { formatCount } from "./cut_text.ts";
import { MAX_ARCHIVE_BYTES, MAX_ARCHIVE_MEMBERS } from "../contract/documents.ts";
import { REASONS, unreadable } from "./unreadable.ts";

/** One member, still packed. */
interface Entry {
  name: string;
  isEncrypted: boolean;
  method: number;
  crc: number;
  packedBytes: number;
  headerOffset: number;
}

/** An archive whose directory was read; nothing is unpacked yet. */
export interface Archive {
  /** Names of its files, slashes forward and none in front. */
  names: ReadonlySet<string>;
  /**
   * Unpacks every member and keeps those that are wanted. Throws `unreadable_document` when one is
   * corrupt or encrypted, or when all together are over the bound.
   */
  unpack(isWanted: (name: string) => boolean): Map<string, Uint8Array>;
}

const END_SIGNATURE = 0x06054b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const END64_LOCATOR_SIGNATURE = 0x07064b50;
const END64_LOCATOR_BYTES = 20;
const END64_SIGNATURE = 0x06064b50;
const ENTRY_SIGNATURE = 0x02014b50;
const ENTRY_BYTES = 46;
const HEADER_SIGNATURE = 0x04034b50;
const HEADER_BYTES = 30;
const ZIP64_FIELD = 1;
const IN_ZIP64_16 = 0xffff;
const IN_ZIP64_32 = 0xffffffff;
const FLAG_ENCRYPTED = 1;
const STORED = 0;
const DEFLATED = 8;

/** Whether the bytes begin like a zip archive, an empty one included. */
export function isArchive(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b &&
    (bytes[2] === 3 && bytes[3] === 4 || bytes[2] === 5 && bytes[3] === 6);
}

/** Reads the directory. Throws `unreadable_document` when it is corrupt or holds too many members. */
export function openArchive(bytes: Uint8Array): Archive {
  const entries = new Map<string, Entry>();
  for (const entry of readDirectory(bytes)) {
    if (!entry.name.endsWith("/")) entries.set(entry.name, entry);
  }
  return {
    names: new Set(entries.keys()),
    unpack(isWanted) {
      const kept = new Map<string, Uint8Array>();
      let bytesLeft = MAX_ARCHIVE_BYTES;
      for (const entry of entries.values()) {
        const content = unpackEntry(bytes, entry, bytesLeft);
        bytesLeft -= content.length;
        if (isWanted(entry.name)) kept.set(entry.name, content);
      }
      return kept;
    },
  };
}

function unpackEntry(
  bytes: Uint8Array,
  entry: Entry,
  bytesLeft: number,
): Uint8Array {
  if (entry.isEncrypted) throw unreadable(REASONS.encrypted);
  const view = viewOf(bytes);
  const at = entry.headerOffset;
  if (at + HEADER_BYTES > bytes.length || view.getUint32(at, true) !== HEADER_SIGNATURE) {
    throw unreadable(REASONS.corrupt);
  }
  const start = at + HEADER_BYTES + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  const end = start + entry.packedBytes;
  if (end > bytes.length) throw unreadable(REASONS.corrupt);
  const content = inflate(bytes.subarray(start, end), entry.method, bytesLeft);
  if (crc32(content) !== entry.crc) throw unreadable(REASONS.corrupt);
  return content;
}

function inflate(
  packed: Uint8Array,
  method: number,
  maxBytes: number,
): Uint8Array {
  if (method === STORED) {
    if (packed.length > maxBytes) throw tooLarge();
    return packed;
  }
  if (method !== DEFLATED) {
    throw unreadable("it is packed in a way that is not understood");
  }
  try {
    // One byte more than there may be tells "too large"; zero would be no bound.
    const content = inflateRawSync(packed, { maxOutputLength: maxBytes + 1 });
    if (content.length <= maxBytes) {
      return new Uint8Array(content.buffer, content.byteOffset, content.length);
    }
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code?.startsWith("Z_")) throw unreadable(REASONS.corrupt, error);
    if (code !== "ERR_BUFFER_TOO_LARGE") throw error;
  }
  throw tooLarge();
}

function tooLarge(): Error {
  return unreadable(`it unpacks to more than ${MAX_ARCHIVE_BYTES / 1024 / 1024} MiB`);
}

function* readDirectory(bytes: Uint8Array): Iterable<Entry> {
  const view = viewOf(bytes);
  const { offset, count } = findDirectory(view);
  if (count > MAX_ARCHIVE_MEMBERS) {
    throw unreadable(
      `it has ${formatCount(count)} members; expected ` +
        `${formatCount(MAX_ARCHIVE_MEMBERS)} at most`,
    );
  }
  let at = offset;
  for (let n = 0; n < count; n++) {
    if (at + ENTRY_BYTES > bytes.length || view.getUint32(at, true) !== ENTRY_SIGNATURE) {
      throw unreadable(REASONS.corrupt);
    }
    const nameEnd = at + ENTRY_BYTES + view.getUint16(at + 28, true);
    const extraEnd = nameEnd + view.getUint16(at + 30, true);
    if (extraEnd > bytes.length) throw unreadable(REASONS.corrupt);
    yield readEntry(bytes, view, at, nameEnd, extraEnd);
    at = extraEnd + view.getUint16(at + 32, true);
  }
}

function readEntry(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  nameEnd: number,
  extraEnd: number,
): Entry {
  let packedBytes = view.getUint32(at + 20, true);
  let headerOffset = view.getUint32(at + 42, true);
  const hasLongSize = view.getUint32(at + 24, true) === IN_ZIP64_32;
  if (packedBytes === IN_ZIP64_32 || headerOffset === IN_ZIP64_32) {
    // Holds, in this order, those of the three values that did not fit into the entry itself.
    let field = findExtra(view, nameEnd, extraEnd, ZIP64_FIELD);
    const next = () => {
      if (field === undefined || field + 8 > extraEnd) throw unreadable(REASONS.corrupt);
      const value = Number(view.getBigUint64(field, true));
      field += 8;
      return value;
    };
    if (hasLongSize) next();
    if (packedBytes === IN_ZIP64_32) packedBytes = next();
    if (headerOffset === IN_ZIP64_32) headerOffset = next();
  }
  const name = new TextDecoder().decode(bytes.subarray(at + ENTRY_BYTES, nameEnd));
  return {
    name: name.replaceAll("\\", "/").replace(/^\/+/, ""),
    isEncrypted: (view.getUint16(at + 8, true) & FLAG_ENCRYPTED) !== 0,
    method: view.getUint16(at + 10, true),
    crc: view.getUint32(at + 16, true),
    packedBytes,
    headerOffset,
  };
}

/** Where the content of an extra field begins. */
function findExtra(view: DataView, start: number, end: number, id: number): number | undefined {
  for (let at = start; at + 4 <= end; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) === id) return at + 4;
  }
}

function findDirectory(view: DataView): { offset: number; count: number } {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - MAX_COMMENT_BYTES); at--) {
    if (view.getUint32(at, true) !== END_SIGNATURE) continue;
    const count = view.getUint16(at + 10, true);
    const offset = view.getUint32(at + 16, true);
    if (count !== IN_ZIP64_16 && offset !== IN_ZIP64_32) return { offset, count };
    return findDirectory64(view, at - END64_LOCATOR_BYTES) ?? { offset, count };
  }
  throw unreadable(REASONS.corrupt);
}

function findDirectory64(
  view: DataView,
  locator: number,
): { offset: number; count: number } | undefined {
  if (locator < 0 || view.getUint32(locator, true) !== END64_LOCATOR_SIGNATURE) return undefined;
  const at = Number(view.getBigUint64(locator + 8, true));
  if (at + 56 > view.byteLength || view.getUint32(at, true) !== END64_SIGNATURE) {
    throw unreadable(REASONS.corrupt);
  }
  return {
    count: Number(view.getBigUint64(at + 32, true)),
    offset: Number(view.getBigUint64(at + 48, true)),
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
