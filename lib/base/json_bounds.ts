/**
 * Bounds of a JSON text before it is parsed: ninety megabytes of `[[[[…` or `0,0,0,…` would become
 * gigabytes of values, and an exhausted heap ends the process.
 *
 * @module
 */

import { ServiceError } from "./errors.ts";

/** Levels of lists and objects inside each other. */
export const MAX_JSON_DEPTH = 128;

/**
 * Values, members of objects included. A long conversation has some ten thousand; a check of a list
 * of wrong ones keeps what is wrong with each.
 */
export const MAX_JSON_VALUES = 100_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/**
 * Throws `invalid_request` for a text that is nested deeper or holds more values. Says nothing of
 * whether it is JSON: what is not may be counted wrongly, and is refused by the parser.
 */
export function requireJsonBounds(text: string): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = stringEnd(text, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        values++;
        if (++depth > MAX_JSON_DEPTH) {
          throw new ServiceError(
            "invalid_request",
            `The body must be JSON of at most ${MAX_JSON_DEPTH} levels, and is nested deeper`,
          );
        }
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case COMMA:
        values++;
    }
    if (values > MAX_JSON_VALUES) {
      throw new ServiceError(
        "invalid_request",
        `The body must be JSON of at most ${MAX_JSON_VALUES} values, and holds more`,
      );
    }
  }
}

/** The closing quote of the string that begins at `start`; the text's end if there is none. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
