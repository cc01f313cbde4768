/**
 * Prints rows in columns.
 *
 * @module
 */

import { displayWidth } from "./display_width.ts";
import type { Output } from "./output.ts";
import { wrapText } from "./wrap_text.ts";

/** Space between two columns. */
const GAP = 2;

/** Columns that words need to be read; with fewer they stand below their row. */
const READABLE = 28;

/** Columns that a cut cell needs to tell something. */
const CUT = 10;

/** How a table is printed. */
export interface TableOptions {
  /** The last column is shown whole, on more lines where it has to be. */
  wraps?: boolean;
}

/**
 * Prints a header and rows, each column as wide as its widest cell. On a terminal the last column is
 * cut where the line ends, unless it `wraps`. If the other columns leave it no room, each row is
 * stacked: its first cell, then a line for each other cell with its title. Elsewhere each row is
 * whole, on one line.
 */
export function printTable(
  out: Output,
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { wraps = false }: TableOptions = {},
): void {
  const cells = rows.map((row) => row.map((cell) => cell.replace(/\s+/g, " ").trim()));
  const widths = header.map((title, at) =>
    Math.max(displayWidth(title), ...cells.map((row) => displayWidth(row[at] ?? "")))
  );
  const last = widths.length - 1;
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + GAP, 0);
  const left = out.columns === undefined ? Infinity : out.columns - before;
  const below = wraps && left < Math.min(READABLE, widths[last]!);
  const needed = below ? -GAP : Math.min(CUT, widths[last]!);
  if (left < needed) return stack(out, header, cells);
  for (const [at, row] of [header, ...cells].entries()) {
    for (const line of rowLines(row)) {
      out.line({ text: line.trimEnd(), style: at === 0 ? "bold" : undefined, isData: true });
    }
  }

  function rowLines(row: readonly string[]): string[] {
    const cell = row[last] ?? "";
    const text = widths.slice(0, last)
      .map((width, at) => padded(row[at] ?? "", width) + " ".repeat(GAP)).join("");
    if (!wraps || left === Infinity) return [text + cut(cell, left)];
    if (cell === "") return [text];
    const indent = below ? GAP : before;
    const [first, ...more] = wrapText(cell, Math.max(CUT, before + left - indent))
      .map((each) => " ".repeat(indent) + each);
    return below ? [text, first!, ...more] : [text + first!.slice(indent), ...more];
  }
}

/** Rows without room for their columns: a block each. */
function stack(
  out: Output,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  // A mark has no title, and belongs to what it marks.
  const keys = header[0] === "" ? 2 : 1;
  for (const row of rows) {
    const key = row.slice(0, keys).filter((cell) => cell !== "").join(" ");
    for (const line of wrapText(key, out.columns!)) {
      out.line({ text: line, style: "bold", isData: true });
    }
    for (const [at, cell] of row.entries()) {
      if (at < keys || cell === "") continue;
      const title = header[at]![0] + header[at]!.slice(1).toLowerCase();
      for (const line of wrapText(`${title}: ${cell}`, Math.max(CUT, out.columns! - GAP))) {
        out.line({ text: " ".repeat(GAP) + line, isData: true });
      }
    }
  }
}

function padded(text: string, width: number): string {
  return text + " ".repeat(width - displayWidth(text));
}

function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let result = "";
  let used = 1;
  for (const char of text) {
    used += displayWidth(char);
    if (used > width) break;
    result += char;
  }
  return result + "…";
}
