import { rounds } from "../../tests/support/rounds.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { PDFDocument, StandardFonts } from "pdf-lib";
import { ServiceError } from "../base/errors.ts";
import { readPdf } from "./pdf.ts";
import { makeEncryptedPdf } from "./testing/encrypted.ts";
import { makePdf } from "./testing/make_documents.ts";

Deno.test("readPdf() puts each page under its number", async () => {
  assertEquals(await readPdf(await makePdf(["First page\nsecond line", null, "Third"])), {
    text: "[page 1]\nFirst page\nsecond line\n\n[page 2]\n\n[page 3]\nThird",
    notes: [],
  });
});

Deno.test("readPdf() sets columns apart by a tab, words by a blank", async () => {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  const page = pdf.addPage([400, 400]);
  for (const [y, cells] of [["Item", "Price"], ["Apples and pears", "1.20"]].entries()) {
    for (const [x, text] of cells.entries()) {
      page.drawText(text, { x: 20 + 200 * x, y: 300 - 20 * y, size: 12, font });
    }
  }
  const { text } = await readPdf(await pdf.save());
  assertEquals(text, "[page 1]\nItem\tPrice\nApples and pears\t1.20");
});

const plain = (count: number) => count.toLocaleString("en");

Deno.test("readPdf() reads 200 pages of thousands, and says so", async () => {
  const count = rounds(5_000, 400);
  const pages = Array.from({ length: count }, (_, n) => `Text of page ${n + 1}`);
  const { text, notes } = await readPdf(await makePdf(pages));
  assertStringIncludes(text, "[page 200]\nText of page 200");
  assertEquals(text.includes("page 201"), false);
  assertEquals(notes, [
    `[pages 1 to 200 of ${plain(count)} were read; ${plain(count - 200)} are left out]`,
  ]);
  assertEquals((await readPdf(await makePdf(pages.slice(0, 200)))).notes, []);
});

Deno.test("readPdf() says when there is no text", async () => {
  assertEquals(await readPdf(await makePdf([null, null])), {
    text: "",
    notes: ["[no text was found: its 2 pages may hold images only]"],
  });
});

Deno.test("readPdf() refuses one that needs a password, and reads one that does not", async () => {
  const error = await assertRejects(
    () => readPdf(makeEncryptedPdf("a secret", "the user's")),
    ServiceError,
    "it is encrypted",
  );
  assertEquals(error.code, "unreadable_document");
  // Encrypted against changes only: every program opens it.
  const { text } = await readPdf(makeEncryptedPdf("no secret", ""));
  assertEquals(text, "[page 1]\nno secret");
});

Deno.test("readPdf() reads what was filled into a form", async () => {
  const pdf = await PDFDocument.create();
  const page = pdf.addPage([400, 400]);
  page.drawText("Application", { x: 20, y: 380, size: 12 });
  const form = pdf.getForm();
  const name = form.createTextField("applicant.name");
  name.setText("Ann Example");
  name.addToPage(page, { x: 20, y: 300 });
  form.createTextField("left blank").addToPage(page, { x: 20, y: 200 });
  const agreed = form.createCheckBox("agreed");
  agreed.addToPage(page, { x: 20, y: 100 });
  agreed.check();
  form.createCheckBox("not agreed").addToPage(page, { x: 20, y: 50 });
  const { text } = await readPdf(await pdf.save());
  assertEquals(
    text,
    '[page 1]\nApplication\n[field "applicant.name"] Ann Example\n[field "agreed"] Yes',
  );
});

Deno.test("readPdf() leaves out pages that are broken", async () => {
  const bytes = makeEncryptedPdf("kept", "");
  const source = new TextDecoder("latin1").decode(bytes);
  const broken = Uint8Array.from(
    source.replace("/Kids[3 0 R]/Count 1", "/Kids[3 0 R 9 0 R]/Count 2"),
    (character) => character.charCodeAt(0),
  );
  const { text } = await readPdf(broken);
  assertEquals(text, "[page 1]\nkept\n\n[page 2]\n[this page cannot be read]");
});
