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

/** Columns that one cell may span; Word has 63 in a table. */
const MAX_SPAN = 100;

/**
 * The table with its first row as the header. Cells that another one covers are blank; rows are not
 * filled up, for a broken table may have any number of columns.
 */
export function markdownTable(rows: readonly (readonly TableCell[])[]): string {
  const grid = toGrid(rows);
  const columns = grid.reduce((most, row) => Math.max(most, row.length), 0);
  if (columns === 0) return "";
  const [header = [], ...rest] = grid;
  while (header.length < columns) header.push("");
  return [header, Array<string>(columns).fill("---"), ...rest].map(toLine).join("\n");
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
      for (let n = 0; n < Math.min(colSpan, MAX_SPAN); n++) {
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
