/**
 * Real documents for tests, made by other libraries than those that read them.
 *
 * @module
 */

import { Document, Packer, Paragraph } from "docx";
import { PDFDocument, StandardFonts } from "pdf-lib";
import * as pptxgenjs from "pptxgenjs";
import { utils, write } from "xlsx";
import { unzipSync } from "fflate";
import { writeZip } from "./write_zip.ts";

/** A PDF with a page for each text. A page of `null` holds nothing. */
export async function makePdf(pages: readonly (string | null)[]): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (const text of pages) {
    const page = pdf.addPage([400, 400]);
    if (text !== null) page.drawText(text, { x: 20, y: 350, size: 12, font });
  }
  return await pdf.save();
}

/** A Word document of paragraphs, or of whatever `docx` has. */
export async function makeDocx(
  children: readonly (string | Paragraph)[],
  more: Partial<ConstructorParameters<typeof Document>[0]> = {},
): Promise<Uint8Array> {
  const document = new Document({
    ...more,
    sections: [{
      children: children.map((child) => typeof child === "string" ? new Paragraph(child) : child),
    }],
  });
  return new Uint8Array(await Packer.toArrayBuffer(document));
}

/** A workbook with a sheet for each name. */
export function makeXlsx(sheets: Record<string, unknown[][]>): Uint8Array {
  const book = utils.book_new();
  for (const [name, rows] of Object.entries(sheets)) {
    utils.book_append_sheet(book, utils.aoa_to_sheet(rows), name);
  }
  const options = { type: "array", bookType: "xlsx", bookSST: true, compression: true } as const;
  return new Uint8Array(write(book, options));
}

/** What `pptxgenjs` calls a presentation; its types describe another form of its module. */
export interface Slides {
  addSlide(): {
    addText(text: unknown, options?: object): void;
    addNotes(text: string): void;
    addTable(rows: unknown[][], options?: object): void;
    addImage(image: object): void;
    hidden: boolean;
  };
}

/** A presentation whose slides `draw` adds. */
export async function makePptx(draw: (slides: Slides) => void): Promise<Uint8Array> {
  const Presentation = (pptxgenjs as unknown as { default: new () => unknown }).default;
  const slides = new Presentation() as Slides & {
    write(options: { outputType: "arraybuffer" }): Promise<ArrayBuffer>;
  };
  draw(slides);
  return new Uint8Array(await slides.write({ outputType: "arraybuffer" }));
}

/** One of each format that is read. */
export async function makeEach(): Promise<Record<"pdf" | "docx" | "xlsx" | "pptx", Uint8Array>> {
  return {
    pdf: await makePdf(["The first page", "The second page"]),
    docx: await makeDocx(["A paragraph", "Another one"]),
    xlsx: makeXlsx({ Numbers: [["a", 1], ["b", 2]] }),
    pptx: await makePptx((slides) => {
      const slide = slides.addSlide();
      slide.addText("A slide", { x: 1, y: 1 });
      slide.addNotes("A note");
    }),
  };
}

/** An office document with some of its parts replaced, added, or (undefined) left out. */
export function withParts(
  bytes: Uint8Array,
  parts: Record<string, Uint8Array | string | undefined>,
): Uint8Array {
  const all: Record<string, Uint8Array | string | undefined> = { ...unzipSync(bytes), ...parts };
  return writeZip(
    Object.entries(all).flatMap(([name, content]) =>
      content === undefined || name.endsWith("/") ? [] : [{ name, content }]
    ),
  );
}

/** A part of an office document as text. */
export function partOf(bytes: Uint8Array, name: string): string {
  const part = unzipSync(bytes)[name];
  if (part === undefined) throw new Error(`there is no part "${name}"`);
  return new TextDecoder().decode(part);
}
