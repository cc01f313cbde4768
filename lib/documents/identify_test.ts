import { assertEquals, assertThrows } from "@std/assert";
import { utils, write } from "xlsx";
import { ServiceError } from "../base/errors.ts";
import { identifyDocument } from "./identify.ts";
import { makeEncryptedOffice, makeOle } from "./testing/encrypted.ts";
import { makeEach, withParts } from "./testing/make_documents.ts";
import { writeZip } from "./testing/write_zip.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function refusalOf(bytes: Uint8Array): [string, string] {
  const { code, message } = assertThrows(() => identifyDocument(bytes), ServiceError);
  return [code, message];
}

Deno.test("identifyDocument() knows a document by its bytes", async () => {
  for (const [format, bytes] of Object.entries(await makeEach())) {
    assertEquals(identifyDocument(bytes).format, format);
  }
  assertEquals(identifyDocument(encode(`${"x".repeat(1_024)}%PDF-1.7`)).format, "pdf");
});

Deno.test("identifyDocument() goes by content types first, then by names", async () => {
  const { docx } = await makeEach();
  const types = (type: string) =>
    withParts(docx, { "[Content_Types].xml": `<Types><Override ContentType="${type}"/></Types>` });
  const office = "application/vnd.openxmlformats-officedocument";
  const cases: [string, string][] = [
    [`${office}.wordprocessingml.template.main+xml`, "docx"],
    ["application/vnd.ms-word.document.macroEnabled.main+xml", "docx"],
    [`${office}.spreadsheetml.sheet.main+xml`, "xlsx"],
    ["application/vnd.ms-excel.sheet.macroEnabled.main+xml", "xlsx"],
    [`${office}.presentationml.slideshow.main+xml`, "pptx"],
    ["application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml", "pptx"],
    // Nothing that names a main part: the names of the parts remain.
    [`${office}.spreadsheetml.sheet`, "docx"],
  ];
  for (const [type, format] of cases) {
    assertEquals([type, identifyDocument(types(type)).format], [type, format]);
  }
  const nameless = withParts(docx, { "[Content_Types].xml": undefined });
  assertEquals(identifyDocument(nameless).format, "docx");
});

Deno.test("identifyDocument() says what else it is", () => {
  const expected = "; expected a PDF, .docx, .xlsx or .pptx file";
  const unsupported = (what: string) => ["unsupported_media_type", what + expected];
  assertEquals(refusalOf(writeZip([{ name: "a.txt" }])), unsupported("it is a zip archive"));
  assertEquals(refusalOf(writeZip([])), unsupported("it is a zip archive"));
  assertEquals(
    refusalOf(writeZip([{ name: "[Content_Types].xml", content: "<Types/>" }])),
    unsupported("it is a package of another format"),
  );
  const old = unsupported(
    "it is in the binary format of old office programs (.doc, .xls, .ppt)",
  );
  assertEquals(refusalOf(makeOle(["WordDocument", "1Table"])), old);
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet([["EncryptedPackage"]]), "S");
  const xls = new Uint8Array(write(book, { type: "array", bookType: "biff8" }));
  assertEquals(refusalOf(xls), old);
  const unknown = unsupported("it is of no known type");
  assertEquals(refusalOf(encode("plain text")), unknown);
  assertEquals(refusalOf(encode(`${"x".repeat(1_025)}%PDF-1.7`)), unknown);
  assertEquals(refusalOf(Uint8Array.of(0)), unknown);
});

Deno.test("identifyDocument() refuses empty and encrypted documents with the reason", async () => {
  assertEquals(refusalOf(new Uint8Array()), ["unreadable_document", "it is empty"]);
  const encrypted = [
    "unreadable_document",
    "it is encrypted; expected a file that opens without a password",
  ];
  assertEquals(refusalOf(makeEncryptedOffice()), encrypted);
  const { xlsx } = await makeEach();
  const flagged = writeZip([{ name: "xl/workbook.xml", content: xlsx, flags: 1 }]);
  assertEquals(refusalOf(flagged), encrypted);
});
