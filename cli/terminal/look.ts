/**
 * Styled text. A style never stands inside a text, so that no answer of a model can bring its own.
 *
 * @module
 */

import { sanitize } from "../output.ts";

/** Parameters of an SGR sequence, such as `1;36`; empty for plain text (ECMA-48, 8.3.117). */
export type Look = string;

/** The looks that are used. */
export const LOOK = {
  plain: "",
  bold: "1",
  dim: "2",
  italic: "3",
  underline: "4",
  inverse: "7",
  strike: "9",
  red: "31",
  green: "32",
  yellow: "33",
  magenta: "35",
  cyan: "36",
  heading: "1;36",
} as const satisfies Record<string, Look>;

/** A piece of a line. */
export interface Piece {
  text: string;
  look: Look;
}

/** One row, without its line end. */
export type Line = readonly Piece[];

/** A piece; plain without a look. */
export function piece(text: string, look: Look = LOOK.plain): Piece {
  return { text, look };
}

/** A line as the terminal is sent it. */
export function paint(line: Line, color: boolean): string {
  return line.map(({ text, look }) => {
    const safe = sanitize(text).replaceAll("\n", " ");
    return color && look !== "" && safe !== "" ? `\x1b[${look}m${safe}\x1b[0m` : safe;
  }).join("");
}
