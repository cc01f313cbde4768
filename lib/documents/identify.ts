/**
 * What a document is, by its bytes.
 *
 * @module
 */

import { isArchive } from "./archive.ts";
import { isEncryptedPackage, type OfficePackage, openPackage } from "./open_package.ts";
import { REASONS, unreadable, unsupported } from "./unreadable.ts";

/** A document that can be read, as far as its format has to be known. */
export type IdentifiedDocument = { format: "pdf"; bytes: Uint8Array } | OfficePackage;

/** Readers of PDF take a header within so many bytes. */
const PDF_HEADER_WITHIN = 1024;
const PDF_HEADER = "%PDF-";
const OLE_HEADER = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/**
 * Tells formats apart. Throws `unsupported_media_type` for bytes that are none of them, and
 * `unreadable_document` for an office document that is corrupt, encrypted or over a bound.
 */
export function identifyDocument(bytes: Uint8Array): IdentifiedDocument {
  if (bytes.length === 0) throw unreadable("it is empty");
  if (isArchive(bytes)) return openPackage(bytes);
  if (OLE_HEADER.every((byte, n) => bytes[n] === byte)) {
    if (isEncryptedPackage(bytes)) throw unreadable(REASONS.encrypted);
    throw unsupported("it is in the binary format of old office programs (.doc, .xls, .ppt)");
  }
  const head = new TextDecoder("latin1").decode(
    bytes.subarray(0, PDF_HEADER_WITHIN + PDF_HEADER.length),
  );
  if (head.includes(PDF_HEADER)) return { format: "pdf", bytes };
  throw unsupported("it is of no known type");
}
