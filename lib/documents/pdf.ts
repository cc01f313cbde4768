/**
 * Text of a PDF, page by page.
 *
 * @module
 */

import { getDocumentProxy } from "unpdf";
import { formatCount } from "./cut_text.ts";
import type { DocumentText } from "./document_text.ts";
import { MAX_PDF_PAGES } from "../contract/documents.ts";
import { REASONS, unreadable } from "./unreadable.ts";

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;
type PdfPage = Awaited<ReturnType<PdfDocument["getPage"]>>;

/** A gap of so many line heights stands between columns, not between words. */
const COLUMN_GAP = 1.5;

/**
 * Pages under headers such as `[page 3]`, columns apart by a tab. Throws `unreadable_document` when it
 * needs a password; other errors are the library's.
 */
export async function readPdf(bytes: Uint8Array): Promise<DocumentText> {
  const pdf = await open(bytes);
  const hasForm = await isForm(pdf);
  const count = Math.min(pdf.numPages, MAX_PDF_PAGES);
  const pages: string[] = [];
  const broken: unknown[] = [];
  let hasText = false;
  for (let number = 1; number <= count; number++) {
    let text = "";
    try {
      text = await readPage(await pdf.getPage(number), hasForm);
    } catch (error) {
      broken.push(error);
      text = "[this page cannot be read]";
    }
    if (text !== "") hasText = true;
    pages.push(`[page ${number}]\n${text}`.trimEnd());
  }
  if (broken.length === count) throw unreadable(REASONS.corrupt, broken[0]);
  const notes: string[] = [];
  if (pdf.numPages > count) {
    const [first, all, rest] = [count, pdf.numPages, pdf.numPages - count].map(formatCount);
    notes.push(`[pages 1 to ${first} of ${all} were read; ${rest} are left out]`);
  }
  if (!hasText) {
    const where = count === 1 ? "its page" : `its ${formatCount(count)} pages`;
    notes.push(`[no text was found: ${where} may hold images only]`);
  }
  return { text: hasText ? pages.join("\n\n") : "", notes };
}

async function open(bytes: Uint8Array): Promise<PdfDocument> {
  try {
    // A copy: the library takes over what it is given.
    return await getDocumentProxy(bytes.slice(), {
      // Only errors: it writes to the console.
      verbosity: 0,
      disableFontFace: true,
      useSystemFonts: false,
      useWorkerFetch: false,
    });
  } catch (error) {
    if ((error as Error).name === "PasswordException") throw unreadable(REASONS.encrypted, error);
    throw error;
  }
}

/** Looking for the fields of a page takes as long as its text. */
async function isForm(pdf: PdfDocument): Promise<boolean> {
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  return (info as { IsAcroFormPresent?: boolean }).IsAcroFormPresent === true;
}

async function readPage(page: PdfPage, hasForm: boolean): Promise<string> {
  const { items } = await page.getTextContent();
  let text = "";
  for (const item of items) {
    if (!("str" in item)) continue;
    // The library puts a blank of the gap's width between pieces of one line.
    const lineHeight = Math.hypot(item.transform[2], item.transform[3]);
    const isGap = item.str === " " && item.width > lineHeight * COLUMN_GAP;
    text += isGap ? "\t" : item.str;
    if (item.hasEOL) text += "\n";
  }
  const fields = hasForm ? await formFields(page) : [];
  page.cleanup();
  return [text.replace(/[ \t]+$/gm, "").trim(), ...fields].filter((part) => part !== "").join("\n");
}

/** What was filled into a form is no part of the page's text. */
async function formFields(page: PdfPage): Promise<string[]> {
  const lines: string[] = [];
  for (const { subtype, fieldName, fieldValue } of await page.getAnnotations()) {
    const value = [fieldValue].flat().filter((part) => typeof part === "string" && part !== "");
    if (subtype !== "Widget" || value.length === 0 || value[0] === "Off") continue;
    const line = `[field ${JSON.stringify(fieldName)}] ${value.join(", ")}`;
    // Buttons of one choice each give its value.
    if (line !== lines.at(-1)) lines.push(line);
  }
  return lines;
}
