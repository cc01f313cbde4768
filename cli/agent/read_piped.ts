/**
 * Reads standard input to its end.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";

/** Most bytes that a message takes from standard input. */
export const MAX_PIPED_BYTES = 10 * 1024 * 1024;

/** After this time without an end, a person may wonder what the program waits for. */
const NOTE_AFTER_MS = 2_000;

/** What {@linkcode readPiped} needs. */
export interface ReadPipedOptions {
  stdin: ReadableStream<Uint8Array>;
  /** Called once when the input has not ended after `noteAfterMs`. */
  onWait(): void;
  /** Default 2,000. */
  noteAfterMs?: number;
}

/**
 * Everything on standard input as text; bytes that are no UTF-8 become replacement characters, as
 * they do in a terminal. Throws `too_large` over the limit, at once, and `unsupported_media_type`
 * when the input has a NUL byte, which no text has.
 */
export async function readPiped(options: ReadPipedOptions): Promise<string> {
  const { stdin, onWait, noteAfterMs = NOTE_AFTER_MS } = options;
  const decoder = new TextDecoder();
  const timer = setTimeout(onWait, noteAfterMs);
  let text = "";
  let bytes = 0;
  try {
    for await (const chunk of stdin) {
      bytes += chunk.length;
      if (bytes > MAX_PIPED_BYTES) {
        throw new ServiceError(
          "too_large",
          `Standard input is larger than ${MAX_PIPED_BYTES} bytes, the most that a message takes`,
          { param: "stdin" },
        );
      }
      if (chunk.includes(0)) {
        throw new ServiceError(
          "unsupported_media_type",
          "Standard input is not text; give files with --file",
          { param: "stdin" },
        );
      }
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError(
      "invalid_request",
      `Cannot read standard input: ${why}; --no-stdin leaves it out`,
      { param: "stdin" },
      { cause },
    );
  } finally {
    clearTimeout(timer);
  }
}
