/**
 * The child that extracts documents. It has no permission at all; the document comes over its standard
 * input and the text goes out over its standard output.
 *
 * @module
 */

import { type ChildRun, serveChild } from "../executor/serve_child.ts";
import { ServiceError } from "../base/errors.ts";
import { extractDocument } from "./extract.ts";
import { prepareGlobals } from "./prepare_globals.ts";
import type { ExtractedText } from "../contract/documents.ts";

/** What the `result` of this child holds, as JSON. */
export type DocumentAnswer =
  | ExtractedText
  /** `detail` is for the log: what the library said. */
  | { code: "unreadable_document" | "unsupported_media_type"; message: string; detail?: string };

/** Reads the bytes. Throws when this program is broken. */
export const run: ChildRun = async ({ bytes }) => {
  silenceConsole();
  prepareGlobals();
  const output = JSON.stringify(await answer(bytes!));
  return { type: "result", output };
};

async function answer(bytes: Uint8Array): Promise<DocumentAnswer> {
  try {
    return await extractDocument(bytes);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, message, cause } = error;
    if (code !== "unreadable_document" && code !== "unsupported_media_type") throw error;
    return { code, message, detail: cause instanceof Error ? cause.message : undefined };
  }
}

/** Standard output carries frames; libraries that warn would write between them. */
function silenceConsole(): void {
  const silent = () => {};
  for (const name of Object.keys(console)) {
    (console as unknown as Record<string, unknown>)[name] = silent;
  }
}

if (import.meta.main) serveChild(run);
