/**
 * Text of documents: what reads them, and what it may cost.
 *
 * @module
 */

/** Bytes of one file; exactly as many are accepted. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Characters of one file's text that a model is given; the rest is cut, and said to be. */
export const MAX_TEXT_CHARS = 200_000;
/** Pages of a PDF that are read; the rest is left out, and said to be. */
export const MAX_PDF_PAGES = 200;
/** Bounds of a zip archive, which .docx, .xlsx and .pptx are; beyond them it is refused. */
export const MAX_ARCHIVE_MEMBERS = 10_000;
export const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
/** Time of one extraction. */
export const EXTRACT_TIMEOUT_MS = 30_000;

/** The formats whose text is extracted, by the ending that their files have. */
export const MEDIA_TYPES = {
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
} as const;

/** What a document turned out to be. */
export interface ExtractedText {
  /** By its content: one of {@linkcode MEDIA_TYPES}. */
  mediaType: string;
  /** With headers of pages, sheets or slides; cuts stated. A document without text says so in a note. */
  text: string;
}

/**
 * Reads documents in a child without permissions. Throws `unreadable_document` with the reason for one
 * that is corrupt, encrypted or over a limit, `unsupported_media_type` for bytes that are none of the
 * formats, `overloaded` when too many wait, and the signal's reason after an abort.
 */
export interface DocumentReader {
  /** `name` only tells formats apart that look alike; it is never trusted. */
  extract(
    document: { name: string; bytes: Uint8Array },
    options: { signal: AbortSignal },
  ): Promise<ExtractedText>;
}
