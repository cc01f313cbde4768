/**
 * Documents of about 5 MB, as people send them: a long text, and pictures that make most of the size.
 * The workbook is all cells.
 *
 * @module
 */

import { Document, ImageRun, Packer, Paragraph, Table, TableCell, TableRow } from "docx";
import { PDFDocument, StandardFonts } from "pdf-lib";
import { makePptx, makeXlsx } from "../lib/documents/testing/make_documents.ts";

const SENTENCE = "The quick brown fox jumps over the lazy dog, and then over another one.";
const PAGES = 150;
const LINES_A_PAGE = 40;
const PICTURE_BYTES = 4_400_000;
const ROWS = 42_000;

/** One document of each kind that is read. */
export async function makeLargeDocuments(): Promise<
  Record<"pdf" | "docx" | "xlsx" | "pptx", Uint8Array>
> {
  return {
    pdf: await makeLargePdf(),
    docx: await makeLargeDocx(),
    xlsx: makeLargeXlsx(),
    pptx: await makeLargePptx(),
  };
}

async function makeLargePdf(): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (let n = 0; n < PAGES; n++) {
    const text = Array(LINES_A_PAGE).fill(`${SENTENCE} (${n})`).join("\n");
    pdf.addPage([600, 1_200]).drawText(text, { x: 20, y: 1_150, size: 10, font });
  }
  await pdf.attach(picture(), "picture.png");
  return await pdf.save();
}

async function makeLargeDocx(): Promise<Uint8Array> {
  const table = new Table({
    rows: Array.from({ length: 200 }, (_, row) =>
      new TableRow({
        children: Array.from({ length: 5 }, (_, column) =>
          new TableCell({ children: [new Paragraph(`cell ${row} ${column}`)] })),
      })),
  });
  const image = new ImageRun({
    type: "png",
    data: picture(),
    transformation: { width: 100, height: 100 },
  });
  const text = Array.from(
    { length: PAGES * 8 },
    (_, n) => new Paragraph(`${n} ${Array(5).fill(SENTENCE).join(" ")}`),
  );
  const children = [...text, table, new Paragraph({ children: [image] })];
  return new Uint8Array(await Packer.toArrayBuffer(new Document({ sections: [{ children }] })));
}

function makeLargeXlsx(): Uint8Array {
  const rows = Array.from(
    { length: ROWS },
    (_, row) =>
      Array.from({ length: 8 }, (_, column) => column === 0 ? `row ${row}` : row * column * 1.25),
  );
  return makeXlsx({ Numbers: rows });
}

function makeLargePptx(): Promise<Uint8Array> {
  const data = `image/png;base64,${picture().toBase64()}`;
  return makePptx((slides) => {
    for (let n = 0; n < PAGES; n++) {
      const slide = slides.addSlide();
      slide.addText(`Slide ${n}`, { x: 1, y: 1 });
      slide.addText(Array(10).fill(SENTENCE).join("\n"), { x: 1, y: 2 });
      slide.addTable(Array.from({ length: 5 }, (_, row) => [{ text: `${row}` }, { text: "b" }]));
      slide.addNotes(SENTENCE);
      if (n === 0) slide.addImage({ data, x: 1, y: 1, w: 1, h: 1 });
    }
  });
}

/** Bytes that do not get smaller when they are packed, as those of a picture. */
function picture(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(PICTURE_BYTES);
  for (let at = 0; at < bytes.length; at += 65_536) {
    crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  }
  return bytes;
}
