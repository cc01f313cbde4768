/**
 * Cells of a workbook, as its program shows them: formulas by their last value, numbers and dates in
 * their formats.
 *
 * A sheet is a header such as `[sheet "Sales"]`, a line of column letters, and a line for each row that
 * holds something, its number first; tabs between. Columns without a value are left out.
 *
 * @module
 */

import { type CellObject, read, utils, type WorkBook } from "xlsx";
import { formatCount } from "./cut_text.ts";
import type { DocumentText } from "./document_text.ts";
import { type OfficePackage, repack } from "./open_package.ts";
import { MAX_TEXT_CHARS } from "./types.ts";

/** Rows of a sheet that are read at first; more text than a model is given fits into fewer. */
const FIRST_ROWS = 30_000;

type Row = Record<number, CellObject | undefined>;

/** Throws what the library throws on a workbook that it cannot read. */
export function readXlsx(document: OfficePackage): Promise<DocumentText> {
  const archive = repack(document);
  const first = render(readBook(archive, FIRST_ROWS));
  // Rows far down in a sheet that is mostly blank.
  const isWhole = first.notes.length === 0 || first.text.length >= MAX_TEXT_CHARS;
  return Promise.resolve(isWhole ? first : render(readBook(archive, 0)));
}

function readBook(archive: Uint8Array, sheetRows: number): WorkBook {
  return read(archive, {
    type: "array",
    dense: true,
    sheetRows,
    cellFormula: false,
    cellHTML: false,
    // Else dates of the default format come as month/day/year, which could be either way round.
    dateNF: "yyyy-mm-dd",
  });
}

function render(book: WorkBook): DocumentText {
  const sheets: string[] = [];
  const notes: string[] = [];
  book.SheetNames.forEach((name, index) => {
    const sheet = book.Sheets[name] as Record<string, unknown> | undefined;
    const rows = (sheet?.["!data"] ?? []) as Row[];
    const hidden = book.Workbook?.Sheets?.[index]?.Hidden ? " (hidden)" : "";
    const body = sheetText(rows);
    sheets.push(`[sheet ${JSON.stringify(name)}${hidden}]\n${body}`.trimEnd());
    const all = lastRow(sheet?.["!fullref"]);
    if (all > rows.length && rows.length >= FIRST_ROWS) {
      const [read, total] = [rows.length, all].map(formatCount);
      notes.push(`[rows 1 to ${read} of ${total} of sheet ${JSON.stringify(name)} were read]`);
    }
  });
  return { text: sheets.join("\n\n"), notes };
}

function sheetText(rows: Row[]): string {
  const lines: { number: number; cells: Map<number, string> }[] = [];
  const used = new Set<number>();
  // Only what is there: a sheet of a few cells may span a million rows and 16,384 columns.
  for (const row in rows) {
    const cells = new Map<number, string>();
    for (const column in rows[row]) {
      const text = cellText(rows[row][Number(column)]);
      if (text === "") continue;
      cells.set(Number(column), text);
      used.add(Number(column));
    }
    if (cells.size > 0) lines.push({ number: Number(row) + 1, cells });
  }
  if (lines.length === 0) return "";
  const columns = [...used].sort((a, b) => a - b);
  const header = ["", ...columns.map((column) => utils.encode_col(column))];
  const table = lines.map(({ number, cells }) =>
    [number, ...columns.map((column) => cells.get(column) ?? "")].join("\t").trimEnd()
  );
  return [header.join("\t"), ...table].join("\n");
}

function cellText(cell: CellObject | undefined): string {
  if (cell === undefined || cell.t === "z") return "";
  const text = cell.w ?? (cell.v === undefined ? "" : String(cell.v));
  return text.trim().replaceAll("\t", " ").replace(/\s*\n\s*/g, "<br>");
}

/** Number of the last row of a range such as `A1:J100`, or 0. */
function lastRow(range: unknown): number {
  return typeof range === "string" ? utils.decode_range(range).e.r + 1 : 0;
}
