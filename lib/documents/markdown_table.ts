/**
 * Tables of documents and slides as Markdown.
 *
 * @module
 */

/** One cell; spans in columns and rows, 1 when absent. */
export interface TableCell {
  text: string;
  colSpan?: number;
  rowSpan?: number;
}

/** Columns of a table that are kept apart; Word has 63 at most. */
const MAX_COLUMNS = 100;

/** The table with its first row as the header. Cells that another one covers are blank. */
export function markdownTable(rows: readonly (readonly TableCell[])[]): string {
  const grid = toGrid(rows);
  const columns = Math.max(0, ...grid.map((row) => row.length));
  if (columns === 0) return "";
  const lines = grid.map((row) => toLine(Array.from({ length: columns }, (_, n) => row[n] ?? "")));
  lines.splice(1, 0, toLine(Array(columns).fill("---")));
  return lines.join("\n");
}

function toGrid(rows: readonly (readonly TableCell[])[]): string[][] {
  /** By column: rows below that a cell still covers. */
  const covered: number[] = [];
  return rows.map((cells) => {
    const line: string[] = [];
    const skip = () => {
      while ((covered[line.length] ?? 0) > 0) {
        covered[line.length]!--;
        line.push("");
      }
    };
    for (const { text, colSpan = 1, rowSpan = 1 } of cells) {
      skip();
      for (let n = 0; n < colSpan && line.length < MAX_COLUMNS; n++) {
        covered[line.length] = rowSpan - 1;
        line.push(n === 0 ? escapeCell(text) : "");
      }
    }
    skip();
    return line;
  });
}

function escapeCell(text: string): string {
  return text.trim().replaceAll("|", "\\|").replace(/\s*\n\s*/g, "<br>");
}

function toLine(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
