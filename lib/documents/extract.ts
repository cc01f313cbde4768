/**
 * Text of a document of any format that is read. Runs in a child: the libraries behind it work on
 * bytes of strangers, without bounds on memory or time.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";
import { cutText } from "./cut_text.ts";
import type { DocumentText } from "./document_text.ts";
import { type IdentifiedDocument, identifyDocument } from "./identify.ts";
import { type ExtractedText, MEDIA_TYPES } from "../contract/documents.ts";
import { REASONS, unreadable } from "./unreadable.ts";

/**
 * Reads a document; its format follows from the bytes alone. Throws `unreadable_document` and
 * `unsupported_media_type` with a reason for people; any other error says that the program is broken,
 * not the document.
 */
export async function extractDocument(bytes: Uint8Array): Promise<ExtractedText> {
  const document = identify(bytes);
  const read = await loadReader(document);
  const { text, moreChars, notes } = await read();
  const body = cutText(cleanText(text).trim(), { moreChars });
  if (body === "" && notes.length === 0) notes.push("[no text was found]");
  return {
    mediaType: MEDIA_TYPES[document.format],
    text: [...(body === "" ? [] : [body]), ...notes].join("\n\n"),
  };
}

function identify(bytes: Uint8Array): IdentifiedDocument {
  try {
    return identifyDocument(bytes);
  } catch (error) {
    throw asUnreadable(error);
  }
}

/** A format's library is loaded only for it. Failing to load one is no fault of the document. */
async function loadReader(document: IdentifiedDocument): Promise<() => Promise<DocumentText>> {
  switch (document.format) {
    case "pdf": {
      const { readPdf } = await import("./pdf.ts");
      return guarded(() => readPdf(document.bytes));
    }
    case "docx": {
      const { readDocx } = await import("./docx.ts");
      return guarded(() => readDocx(document));
    }
    case "xlsx": {
      const { readXlsx } = await import("./xlsx.ts");
      return guarded(() => readXlsx(document));
    }
    case "pptx": {
      const { readPptx } = await import("./pptx.ts");
      return guarded(() => readPptx(document));
    }
  }
}

function guarded(read: () => Promise<DocumentText>): () => Promise<DocumentText> {
  return async () => {
    try {
      return await read();
    } catch (error) {
      throw asUnreadable(error);
    }
  };
}

/** Whatever a reader throws on a document means that the document cannot be read. */
function asUnreadable(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const isMemory = error instanceof RangeError &&
    /allocation failed|invalid string length|invalid (typed )?array (buffer )?length|maximum size/i
      .test(error.message);
  return unreadable(isMemory ? REASONS.memory : REASONS.corrupt, error);
}

/** Without what no text needs and other programs stumble over: control characters, broken pairs. */
function cleanText(text: string): string {
  // deno-lint-ignore no-control-regex -- these are what is taken out
  return text.replace(/\r\n?/g, "\n").replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "").toWellFormed();
}
