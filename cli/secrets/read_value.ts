/**
 * The value of a secret: typed where nobody sees it, or from standard input; never an argument.
 *
 * @module
 */

import { MAX_SECRET_BYTES } from "../../lib/state/secret_fields.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { readHidden } from "../operator/read_hidden.ts";
import type { Output } from "../output.ts";

/** Where a value comes from. */
export interface ValueSource {
  /** Standard input is a terminal. */
  isTerminal: boolean;
  /** What is typed up to Enter, unseen; undefined when the person gave up. */
  readHidden(prompt: string): Promise<string | undefined>;
  /** Standard input, where it is no terminal. */
  stdin: ReadableStream<Uint8Array>;
  /** Called once when standard input has not ended after 2 s. */
  onWait(): void;
}

const NOTE_AFTER_MS = 2_000;

/** The value; undefined when the person gave up. Throws `usage` for what is too long or no text. */
export async function readValue(name: string, source: ValueSource): Promise<string | undefined> {
  if (source.isTerminal) return await source.readHidden(`Value of ${name} (hidden): `);
  const timer = setTimeout(source.onWait, NOTE_AFTER_MS);
  try {
    const text = decode(await readBytes(source.stdin));
    // One newline is the end of what `echo` and most files give; a second one may be meant.
    return text.replace(/\r?\n$/, "");
  } finally {
    clearTimeout(timer);
  }
}

async function readBytes(stdin: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(MAX_SECRET_BYTES + 2);
  let length = 0;
  for await (const chunk of stdin) {
    if (length + chunk.length > bytes.length) {
      throw new ServiceError(
        "usage",
        `Standard input has more than ${MAX_SECRET_BYTES} bytes, the most a secret can have`,
        { param: "stdin" },
      );
    }
    bytes.set(chunk, length);
    length += chunk.length;
  }
  return bytes.slice(0, length);
}

function decode(bytes: Uint8Array<ArrayBuffer>): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ServiceError(
      "usage",
      "Standard input isn't UTF-8 text; encode other bytes first, for example with base64",
      { param: "stdin" },
    );
  }
}

/** The terminal and standard input of this process. */
export function processValueSource(out: Output): ValueSource {
  return {
    isTerminal: Deno.stdin.isTerminal(),
    readHidden: (prompt) => readHidden(prompt, out, { maxChars: MAX_SECRET_BYTES }),
    // Not opened where the terminal is read.
    get stdin() {
      return Deno.stdin.readable;
    },
    onWait: () => out.note("Waiting for the value on standard input"),
  };
}
