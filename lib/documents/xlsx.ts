/**
 * Cells of a workbook, as its program shows them: formulas by their last value, numbers and dates in
 * their formats.
 *
 * A sheet is a header such as `[sheet "Sales"]`, a line of column letters, and a line for each row that
 * holds something, its number first; tabs between. Columns without a value are left out.
 *
 * @module
 */

import { type CellObject, read, utils } from "xlsx";
import { formatCount } from "./cut_text.ts";
import type { DocumentText } from "./document_text.ts";
import { type OfficePackage, repack } from "./open_package.ts";
import { MAX_TEXT_CHARS } from "../contract/documents.ts";

/** Bytes of unpacked XML up to which a workbook is read whole: some 30 bytes a cell. */
const MAX_WHOLE_BYTES = 32 * 1024 * 1024;
/** Rows that are read of each sheet of a larger one; more text than a model is given fits into fewer. */
const MAX_ROWS = 30_000;

type Row = Record<string, CellObject>;

/** Throws what the library throws on a workbook that it cannot read. */
export function readXlsx(document: OfficePackage): Promise<DocumentText> {
  let bytes = 0;
  for (const part of document.parts.values()) bytes += part.length;
  const isLarge = bytes > MAX_WHOLE_BYTES;
  const book = read(repack(document), {
    type: "array",
    dense: true,
    sheetRows: isLarge ? MAX_ROWS : 0,
    cellFormula: false,
    cellHTML: false,
    // Else dates of the default format come as month/day/year, which could be either way round.
    dateNF: "yyyy-mm-dd",
  });
  const out = new Lines();
  book.SheetNames.forEach((name, index) => {
    const rows = (book.Sheets[name] as { "!data"?: Row[] } | undefined)?.["!data"] ?? [];
    const hidden = book.Workbook?.Sheets?.[index]?.Hidden ? " (hidden)" : "";
    if (index > 0) out.add(new Map());
    out.add(new Map([[0, `[sheet ${JSON.stringify(name)}${hidden}]`]]));
    addRows(rows, out);
  });
  const notes = isLarge
    ? [`[a large workbook: rows 1 to ${formatCount(MAX_ROWS)} of each sheet were read]`]
    : [];
  return Promise.resolve({ text: out.text, moreChars: out.moreChars, notes });
}

/** Lines of fields with tabs between; beyond what a model is given they are only measured. */
class Lines {
  #lines: string[] = [];
  #chars = 0;
  moreChars = 0;

  get text(): string {
    return this.#lines.join("\n");
  }

  /** Fields by their place, in rising order; those between that are not there are blank. */
  add(fields: ReadonlyMap<number, string>): void {
    let chars = 1;
    let last = 0;
    for (const [place, field] of fields) {
      chars += field.length;
      last = place;
    }
    chars += last;
    if (this.#chars > MAX_TEXT_CHARS) {
      this.moreChars += chars;
      return;
    }
    this.#chars += chars;
    const line = Array.from({ length: last + 1 }, (_, place) => fields.get(place) ?? "");
    this.#lines.push(line.join("\t"));
  }
}

function addRows(rows: Row[], out: Lines): void {
  // Only what is there: a sheet of a few cells may span a million rows and 16,384 columns.
  const texts = new Map<number, Map<number, string>>();
  const used = new Set<number>();
  for (const row of Object.keys(rows)) {
    const cells = new Map<number, string>();
    for (const [column, cell] of Object.entries(rows[Number(row)]!)) {
      const text = cellText(cell);
      if (text === "") continue;
      cells.set(Number(column), text);
      used.add(Number(column));
    }
    if (cells.size > 0) texts.set(Number(row) + 1, cells);
  }
  if (used.size === 0) return;
  const places = new Map([...used].sort((a, b) => a - b).map((column, n) => [column, n + 1]));
  out.add(new Map([...places].map(([column, place]) => [place, utils.encode_col(column)])));
  for (const [number, cells] of texts) {
    const line = new Map([[0, String(number)]]);
    for (const [column, text] of cells) line.set(places.get(column)!, text);
    out.add(line);
  }
}

function cellText(cell: CellObject): string {
  if (cell.t === "z") return "";
  const text = cell.w ?? (cell.v === undefined ? "" : String(cell.v));
  return text.trim().replaceAll("\t", " ").replace(/\s*\n\s*/g, "<br>");
}
