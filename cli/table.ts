/**
 * Prints rows in columns.
 *
 * @module
 */

import type { Output, Span } from "./output.ts";

/** Space between two columns. */
const GAP = 2;

/**
 * Prints a header and rows, each column as wide as its widest cell. On a terminal the last column is
 * cut where the line ends; elsewhere everything is whole. Each row stays on one line.
 */
export function printTable(
  out: Output,
  header: readonly string[],
  rows: readonly (readonly string[])[],
  widthOf: () => number | undefined = terminalWidth,
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
    for (const [at, width] of widths.entries()) {
      const cell = row[at] ?? "";
      if (at < widths.length - 1) {
        text += cell + " ".repeat(width - displayWidth(cell) + GAP);
        used += width + GAP;
      } else {
        text += lineWidth === undefined ? cell : cut(cell, Math.max(10, lineWidth - used));
      }
    }
    out.line({ text: text.trimEnd(), style });
  }
}

/** Columns that a text takes: two for wide characters, none for combining ones. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) width += /\p{M}|\p{Cf}/u.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
}

// East Asian wide and fullwidth blocks, and emoji (Unicode TR11, without its rare ends).
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

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

function terminalWidth(): number | undefined {
  try {
    return Deno.consoleSize().columns;
  } catch {
    return undefined;
  }
}
