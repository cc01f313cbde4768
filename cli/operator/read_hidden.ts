/**
 * Reads what a person types where nobody is to see it.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { Output } from "../output.ts";

/** Most characters that are taken by default. */
const MAX_CHARS = 1_000;

/**
 * What is typed at this process's terminal up to Enter; undefined when the person gave up. Throws
 * `usage` as {@linkcode typed} does.
 */
export async function readHidden(
  prompt: string,
  out: Output,
  options: TypedOptions = {},
): Promise<string | undefined> {
  const buffer = new Uint8Array(4_096);
  const decoder = new TextDecoder();
  // Before the question: who is quick with a paste would see it.
  Deno.stdin.setRaw(true);
  try {
    out.writeNote(prompt);
    return await typed(async () => {
      const read = await Deno.stdin.read(buffer);
      return read === null ? undefined : decoder.decode(buffer.subarray(0, read), { stream: true });
    }, options);
  } finally {
    Deno.stdin.setRaw(false);
    out.note();
  }
}

/** What {@linkcode typed} takes. */
export interface TypedOptions {
  /** Default 1,000. */
  maxChars?: number;
}

/**
 * What the keys of a raw terminal make up to Enter; undefined after Ctrl-C, Ctrl-D or its end. Throws
 * `usage` for more than `maxChars`, and for several lines at once: the others would be lost.
 */
export async function typed(
  read: () => Promise<string | undefined>,
  { maxChars = MAX_CHARS }: TypedOptions = {},
): Promise<string | undefined> {
  let chars: string[] = [];
  while (true) {
    const keys = await read();
    if (keys === undefined) return undefined;
    const plain = [...keys.replaceAll(SEQUENCE, "")];
    for (const [at, key] of plain.entries()) {
      if (key === "\r" || key === "\n") {
        if (plain.slice(at).join("").trim() === "") return chars.join("");
        throw new ServiceError(
          "usage",
          "Several lines were pasted, and one is taken here; give them on standard input",
        );
      }
      if (key === "\x03" || key === "\x04") return undefined;
      if (key === "\x7f" || key === "\b") chars.pop();
      else if (key === "\x15") chars = [];
      else if (key >= " " || key === "\t") chars.push(key);
      if (chars.length > maxChars) {
        throw new ServiceError("usage", `More than ${maxChars} characters were typed`);
      }
    }
  }
}

/** Arrows and the like, and what a terminal puts around a paste. */
// deno-lint-ignore no-control-regex
const SEQUENCE = /\x1b(?:\[[0-9;?]*[A-Za-z~]|O[A-Z])/g;
