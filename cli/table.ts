/**
 * Prints rows in columns.
 *
 * @module
 */

import { displayWidth } from "./display_width.ts";
import type { Output, Span } from "./output.ts";
import { terminalWidth } from "./terminal_width.ts";
import { wrapText } from "./wrap_text.ts";

/** Space between two columns. */
const GAP = 2;

/** Columns that words need to be read; what has fewer stands below its row. */
const READABLE = 28;

/** How a table is printed. */
export interface TableOptions {
  /** The last column is shown whole, on more lines where it has to be. */
  wraps?: boolean;
  /** Columns of the terminal. */
  widthOf?: () => number | undefined;
}

/**
 * Prints a header and rows, each column as wide as its widest cell. On a terminal the last column is
 * cut where the line ends, unless it `wraps`; elsewhere each row is whole, and stays on one line.
 */
export function printTable(
  out: Output,
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { wraps = false, widthOf = terminalWidth }: TableOptions = {},
): void {
  const cells = rows.map((row) => row.map((cell) => cell.replace(/\s+/g, " ").trim()));
  const widths = header.map((title, at) =>
    Math.max(displayWidth(title), ...cells.map((row) => displayWidth(row[at] ?? "")))
  );
  const lineWidth = out.isTerminal ? widthOf() : undefined;
  const lines: [readonly string[], Span["style"]][] = [
    [header, "bold"],
    ...cells.map((row): [readonly string[], undefined] => [row, undefined]),
  ];
  for (const [row, style] of lines) {
    let text = "";
    let used = 0;
    for (const [at, width] of widths.slice(0, -1).entries()) {
      const cell = row[at] ?? "";
      text += cell + " ".repeat(width - displayWidth(cell) + GAP);
      used += width + GAP;
    }
    for (const line of withLast(text, used, row[widths.length - 1] ?? "")) {
      out.line({ text: line.trimEnd(), style });
    }
  }

  /** Lines of a row, from what stands before its last cell. */
  function withLast(text: string, used: number, cell: string): string[] {
    if (lineWidth === undefined) return [text + cell];
    const left = lineWidth - used;
    if (!wraps) return [text + cut(cell, Math.max(10, left))];
    if (cell === "") return [text];
    const below = left < Math.min(READABLE, widths.at(-1)!);
    const indent = below ? GAP : used;
    const [first, ...more] = wrapText(cell, Math.max(10, lineWidth - indent))
      .map((each) => " ".repeat(indent) + each);
    return below ? [text, first!, ...more] : [text + first!.slice(indent), ...more];
  }
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
