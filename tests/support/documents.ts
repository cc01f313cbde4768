/**
 * Documents made by libraries of others, small and with known words in them.
 *
 * @module
 */

import { Document, Packer, Paragraph, Table, TableCell, TableRow } from "docx";
import { PDFDocument } from "pdf-lib";
import pptxgen from "pptxgenjs";
import * as xlsx from "xlsx";

/** A file for an upload. */
export interface TestFile {
  name: string;
  mediaType: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** An image of one pixel. */
export const PNG: TestFile = {
  name: "dot.png",
  mediaType: "image/png",
  bytes: Uint8Array.fromBase64(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  ),
};

/** A PDF with a page for each text. */
export async function makePdf(...pages: string[]): Promise<TestFile> {
  const pdf = await PDFDocument.create();
  for (const text of pages) pdf.addPage().drawText(text, { x: 50, y: 700, size: 14 });
  return { name: "paper.pdf", mediaType: "application/pdf", bytes: copy(await pdf.save()) };
}

/** A Word document of one paragraph and a table of one row. */
export async function makeDocx(text: string, ...cells: string[]): Promise<TestFile> {
  const row = new TableRow({
    children: cells.map((cell) => new TableCell({ children: [new Paragraph(cell)] })),
  });
  const document = new Document({
    sections: [{ children: [new Paragraph(text), new Table({ rows: [row] })] }],
  });
  const blob = await Packer.toBlob(document);
  return {
    name: "letter.docx",
    mediaType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    bytes: new Uint8Array(await blob.arrayBuffer()),
  };
}

/** A workbook of one sheet. */
export function makeXlsx(sheet: string, rows: (string | number)[][]): TestFile {
  const book = xlsx.utils.book_new();
  xlsx.utils.book_append_sheet(book, xlsx.utils.aoa_to_sheet(rows), sheet);
  return {
    name: "table.xlsx",
    mediaType: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    bytes: copy(new Uint8Array(xlsx.write(book, { type: "array", bookType: "xlsx" }))),
  };
}

/** A presentation with a slide for each text, the first with notes. */
export async function makePptx(notes: string, ...slides: string[]): Promise<TestFile> {
  // Its types say that the module is a class; at run time it is.
  const deck = new (pptxgen as unknown as { new (): pptxgen.default })();
  for (const [index, text] of slides.entries()) {
    const slide = deck.addSlide();
    slide.addText(text, { x: 1, y: 1 });
    if (index === 0) slide.addNotes(notes);
  }
  const bytes = await deck.write({ outputType: "uint8array" }) as Uint8Array;
  return {
    name: "talk.pptx",
    mediaType: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    bytes: copy(bytes),
  };
}

/** As the APIs of OpenAI take files. */
export function dataUrl({ mediaType, bytes }: TestFile): string {
  return `data:${mediaType};base64,${bytes.toBase64()}`;
}

function copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
