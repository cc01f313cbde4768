/**
 * What a file that came with a message is, by its bytes: an image, a text file or a document.
 *
 * @module
 */

import type { InputPart } from "../contract/messages.ts";
import { ServiceError } from "../base/errors.ts";
import { cutText } from "./cut_text.ts";
import { imageType } from "./image_type.ts";
import { decodeText } from "./text_file.ts";
import type { DocumentReader } from "../contract/documents.ts";

/** Files of one message. */
export const MAX_FILES = 20;

/** Bytes of all files of one message together. */
export const MAX_FILES_BYTES = 64 * 1024 * 1024;

/** A file as it came, at most `MAX_FILE_BYTES` long. */
export interface Upload {
  /** The field or argument that holds it, for errors. */
  param: string;
  /** As the sender named it; may be anything. */
  name: string;
  bytes: Uint8Array;
  /** `image`: it stands where only an image may. */
  expects: "image" | "any";
}

/**
 * The file as a part of a message. Text files are read here, documents by the reader. Throws
 * `invalid_request` for an empty file, `unsupported_media_type` for one of no known type, both naming
 * it, what the reader throws, and the signal's reason after an abort.
 */
export async function readUpload(
  upload: Upload,
  documents: DocumentReader,
  signal: AbortSignal,
): Promise<InputPart> {
  const { bytes, param } = upload;
  signal.throwIfAborted();
  const name = oneLine(upload.name);
  if (bytes.length === 0) {
    throw new ServiceError("invalid_request", `${described(upload)} is empty`, { param });
  }
  const image = imageType(bytes);
  if (image !== undefined) return { type: "image", mediaType: image, bytes };
  if (upload.expects === "image") {
    throw new ServiceError(
      "unsupported_media_type",
      `${described(upload)} must be a PNG, JPEG, GIF or WebP image, by its bytes`,
      { param },
    );
  }
  const text = isDocument(bytes) ? undefined : decodeText(bytes);
  if (text !== undefined) {
    return { type: "document", name, mediaType: "text/plain", bytes, text: cutText(text) };
  }
  try {
    const document = await documents.extract({ name, bytes }, { signal });
    return { type: "document", name, ...document, bytes };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.details.param !== undefined) throw error;
    const { code, message, details } = error;
    throw new ServiceError(code, message, { ...details, param }, { cause: error });
  }
}

/** A name is a line: what breaks lines in it could pretend to be the file's text. */
export function oneLine(name: string): string {
  const line = name.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return line.slice(0, MAX_NAME_CHARS).toWellFormed() || "file";
}

const MAX_NAME_CHARS = 255;

function described({ param, name }: Upload): string {
  return name === "" ? param : `${param} (${JSON.stringify(oneLine(name))})`;
}

/** The beginnings of documents that may hold nothing but ASCII, and would pass for text. */
const DOCUMENT_HEADS = ["%PDF-", "PK\x03\x04", "PK\x05\x06"];

function isDocument(bytes: Uint8Array): boolean {
  return DOCUMENT_HEADS.some((head) =>
    Array.from(head).every((char, index) => bytes[index] === char.charCodeAt(0))
  );
}
