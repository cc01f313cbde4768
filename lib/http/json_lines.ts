/**
 * A body of JSON lines that is written as fast as it is read: no line is made before the reader has
 * taken those before it, so a long one costs no more memory than a short one.
 *
 * @module
 */

import type { ErrorEnvelope } from "../listen/errors.ts";
import type { StreamOutcome } from "./sse.ts";

/** Characters that are sent in one piece. */
const PIECE_CHARS = 64 * 1024;

/** What a body needs. */
export interface JsonLinesOptions {
  /** The values of the lines. Its `return` is called when the reader leaves. */
  lines: AsyncIterator<unknown>;
  /** What a line that could not be made is answered with; it is the last one. */
  fail: (error: unknown) => ErrorEnvelope;
  /** Called once, when the last byte was taken or the reader left. */
  onEnd: (outcome: StreamOutcome) => void;
}

/** Media type of the body. */
export const JSON_LINES = "application/x-ndjson";

const encoder = new TextEncoder();

/** The body; it never fails, it only ends. */
export function jsonLines(
  { lines, fail, onEnd }: JsonLinesOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  async function readPiece(): Promise<{ text: string; done: boolean }> {
    let text = "";
    try {
      while (text.length < PIECE_CHARS) {
        const { value, done } = await lines.next();
        if (done) return { text, done };
        text += `${JSON.stringify(value)}\n`;
      }
      return { text, done: false };
    } catch (error) {
      return { text: `${text}${JSON.stringify({ kind: "error", ...fail(error) })}\n`, done: true };
    }
  }

  let left = false;
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { text, done } = await readPiece();
      if (left) return;
      if (text !== "") controller.enqueue(encoder.encode(text));
      if (!done) return;
      controller.close();
      onEnd("ended");
    },
    async cancel() {
      left = true;
      onEnd("cancelled");
      await lines.return?.();
    },
  }, { highWaterMark: 0 });
}
