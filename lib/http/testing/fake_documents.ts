/**
 * A reader of documents without a child: it knows PDFs by their first bytes, and reads none.
 *
 * @module
 */

import type { DocumentReader } from "../../contract/documents.ts";
import { ServiceError } from "../../base/errors.ts";

/** Says of a PDF that it is one, and refuses everything else. */
export const fakeDocuments: DocumentReader = {
  async extract({ name, bytes }, { signal }) {
    // As the real one: the answer never comes in the same turn of the event loop.
    await Promise.resolve();
    signal.throwIfAborted();
    const text = new TextDecoder().decode(bytes);
    if (text.startsWith("%PDF-broken")) {
      throw new ServiceError("unreadable_document", `"${name}" cannot be read: it is corrupt`);
    }
    if (text.startsWith("%PDF-")) return { mediaType: "application/pdf", text: "words of a PDF" };
    throw new ServiceError("unsupported_media_type", `"${name}" is of an unknown type`);
  },
};
