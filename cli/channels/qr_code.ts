/**
 * A QR code in characters, two rows of it in a line.
 *
 * @module
 */

import { encodeQR } from "qr";

/** Rows and columns of light around it, without which phones do not see it (ISO/IEC 18004, 5.3.8). */
const QUIET = 4;

/** Lines of equal length. Dark is drawn, so they belong on something light. */
export function qrCode(text: string): string[] {
  const rows = encodeQR(text, "raw", { border: QUIET, ecc: "low" });
  const lines: string[] = [];
  for (let at = 0; at < rows.length; at += 2) {
    const [upper, lower] = [rows[at]!, rows[at + 1] ?? []];
    lines.push(
      upper.map((isDark, x) => BLOCKS[Number(isDark) + 2 * Number(lower[x] ?? false)]).join(""),
    );
  }
  return lines;
}

/** By whether the upper half is dark, and twice whether the lower is. */
const BLOCKS = [" ", "▀", "▄", "█"];
