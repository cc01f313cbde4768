/**
 * Office documents (.docx, .xlsx, .pptx) as what they are: XML parts in a zip archive.
 *
 * The libraries that read them unpack without bounds and believe what the archive says of itself. So
 * they never see it: they are given a new one that holds the parts that were unpacked here, and these
 * parts are free of document types, whose entities could expand without end. The format forbids those
 * (ECMA-376 part 2, 8.1.4).
 *
 * @module
 */

import { zipSync } from "fflate";
import { openArchive } from "./archive.ts";
import { unreadable, unsupported } from "./unreadable.ts";

/** The kinds of office document that are read. */
export type OfficeFormat = "docx" | "xlsx" | "pptx";

/** An office document whose parts are unpacked and checked. */
export interface OfficePackage {
  format: OfficeFormat;
  /** Parts by name, such as `ppt/slides/slide1.xml`; UTF-8 without a byte order mark. */
  parts: ReadonlyMap<string, Uint8Array>;
}

const CONTENT_TYPES = "[Content_Types].xml";

/** Main parts by their content type; templates, shows and those with macros included. */
const MAIN_TYPES: readonly [OfficeFormat, RegExp][] = [
  ["docx", /(?:wordprocessingml|ms-word)\.(?:document|template)\.(?:\w+\.)?main\+xml/i],
  ["xlsx", /(?:spreadsheetml|ms-excel)\.(?:sheet|template)\.(?:\w+\.)?main\+xml/i],
  [
    "pptx",
    /(?:presentationml|ms-powerpoint)\.(?:presentation|template|slideshow)\.(?:\w+\.)?main\+xml/i,
  ],
];

/** Main parts by the name that every program gives them. */
const MAIN_NAMES: readonly [OfficeFormat, string][] = [
  ["docx", "word/document.xml"],
  ["xlsx", "xl/workbook.xml"],
  ["pptx", "ppt/presentation.xml"],
];

/**
 * Opens a zip archive. Throws `unsupported_media_type` when it is no such document, and
 * `unreadable_document` when it is corrupt, encrypted or over a bound.
 */
export function openPackage(bytes: Uint8Array): OfficePackage {
  const archive = openArchive(bytes);
  const isOffice = archive.names.has(CONTENT_TYPES) ||
    MAIN_NAMES.some(([, name]) => archive.names.has(name));
  if (!isOffice) throw unsupported("it is a zip archive");
  const parts = archive.unpack((name) => /\.(?:xml|rels)$/i.test(name));
  for (const [name, part] of parts) parts.set(name, checkPart(part));
  const format = formatOf(parts);
  if (format === undefined) throw unsupported("it is a package of another format");
  return { format, parts };
}

/** A part as text, or undefined when there is none of that name. */
export function partText(document: OfficePackage, name: string): string | undefined {
  const part = document.parts.get(name);
  return part && new TextDecoder().decode(part);
}

/** An archive of the document's parts alone, for a library that wants one. */
export function repack(document: OfficePackage): Uint8Array {
  return zipSync(Object.fromEntries(document.parts), { level: 0 });
}

function formatOf(parts: ReadonlyMap<string, Uint8Array>): OfficeFormat | undefined {
  const types = new TextDecoder().decode(parts.get(CONTENT_TYPES));
  return MAIN_TYPES.find(([, type]) => type.test(types))?.[0] ??
    MAIN_NAMES.find(([, name]) => parts.has(name))?.[0];
}

function checkPart(part: Uint8Array): Uint8Array {
  const utf8 = toUtf8(part);
  // One character a byte is enough to find it; it stands nowhere else in the XML that programs write.
  if (/<!doctype/i.test(new TextDecoder("latin1").decode(utf8))) {
    throw unreadable("its XML declares a document type, which the format forbids");
  }
  return utf8;
}

/** UTF-16, which the format allows too, becomes UTF-8, so that every reader sees the same text. */
function toUtf8(part: Uint8Array): Uint8Array {
  const [first, second, third] = part;
  const encoding = first === 0xff && second === 0xfe || first === 0x3c && second === 0
    ? "utf-16le"
    : first === 0xfe && second === 0xff || first === 0 && second === 0x3c
    ? "utf-16be"
    : undefined;
  if (encoding !== undefined) {
    return new TextEncoder().encode(new TextDecoder(encoding).decode(part));
  }
  const hasMark = first === 0xef && second === 0xbb && third === 0xbf;
  return hasMark ? part.subarray(3) : part;
}

/** Whether an OLE container holds an encrypted office document: it has a stream of that name. */
export function isEncryptedPackage(bytes: Uint8Array): boolean {
  const name = new Uint8Array(
    [..."EncryptedPackage"].flatMap((letter) => [letter.charCodeAt(0), 0]),
  );
  // Entries of the container's directory take 128 bytes each and begin with their name.
  for (let at = 512; at + name.length <= bytes.length; at += 128) {
    if (name.every((byte, n) => bytes[at + n] === byte)) return true;
  }
  return false;
}
