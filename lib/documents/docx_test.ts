import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  ExternalHyperlink,
  FootnoteReferenceRun,
  HeadingLevel,
  ImageRun,
  LevelFormat,
  Paragraph,
  Tab,
  Table,
  TableCell,
  TableRow,
  TextRun,
} from "docx";
import { openPackage } from "./open_package.ts";
import { prepareGlobals } from "./prepare_globals.ts";
import { makeDocx, partOf, withParts } from "./testing/make_documents.ts";

prepareGlobals();
const { readDocx } = await import("./docx.ts");

async function read(bytes: Uint8Array): Promise<string> {
  return (await readDocx(openPackage(bytes))).text;
}

const cell = (text: string, more = {}) =>
  new TableCell({ children: text.split("\n").map((line) => new Paragraph(line)), ...more });

Deno.test("readDocx() keeps headings, lists, links and notes apart from the text", async () => {
  const bytes = await makeDocx([
    new Paragraph({ text: "A title", heading: HeadingLevel.TITLE }),
    new Paragraph({ text: "A heading", heading: HeadingLevel.HEADING_2 }),
    new Paragraph({
      children: [
        new TextRun("Text & <more>"),
        new TextRun({ text: " in bold", bold: true }),
        new FootnoteReferenceRun(1),
        new TextRun({ children: [new Tab(), "after a tab"] }),
        new TextRun({ text: "after a break", break: 1 }),
      ],
    }),
    new Paragraph({ text: "one", bullet: { level: 0 } }),
    new Paragraph({ text: "two", bullet: { level: 1 } }),
    new Paragraph({ text: "first", numbering: { reference: "n", level: 0 } }),
    "   ",
    new Paragraph({
      children: [
        new ExternalHyperlink({ link: "https://example.org/", children: [new TextRun("a link")] }),
      ],
    }),
  ], {
    footnotes: { 1: { children: [new Paragraph("The note.")] } },
    numbering: {
      config: [{
        reference: "n",
        levels: [{ level: 0, format: LevelFormat.DECIMAL, text: "%1." }],
      }],
    },
  });
  assertEquals(
    await read(bytes),
    `# A title

## A heading

Text & <more> in bold[footnote 1]\tafter a tab
after a break

- one
  - two
1. first

[a link](https://example.org/)

[footnote 1]: The note.`,
  );
});

Deno.test("readDocx() makes tables readable, merged cells and tables in tables included", async () => {
  const bytes = await makeDocx([
    "Before",
    new Table({
      rows: [
        new TableRow({
          children: [cell("Item", { columnSpan: 2 }), cell("Price", { rowSpan: 2 })],
        }),
        new TableRow({ children: [cell("a|b"), cell("two\nlines")] }),
        new TableRow({
          children: [
            new TableCell({
              children: [
                new Table({ rows: [new TableRow({ children: [cell("in"), cell("ner")] })] }),
                new Paragraph(""),
              ],
            }),
            cell("c"),
            cell("1.20"),
          ],
        }),
      ],
    }) as unknown as Paragraph,
    "After",
  ]);
  assertEquals(
    await read(bytes),
    `Before

| Item |  | Price |
| --- | --- | --- |
| a\\|b | two<br>lines |  |
| \\| in \\| ner \\|<br>\\| --- \\| --- \\| | c | 1.20 |

After`,
  );
});

Deno.test("readDocx() names images by their description, and does not look at them", async () => {
  const bytes = await makeDocx([
    new Paragraph({
      children: [
        new ImageRun({
          type: "png",
          data: new Uint8Array(10),
          transformation: { width: 10, height: 10 },
          altText: { name: "n", title: "t", description: "a cat" },
        }),
      ],
    }),
  ]);
  assertEquals(await read(bytes), "[image: a cat]");
});

Deno.test("readDocx() reads comments, and changes as they were accepted", async () => {
  const bytes = await makeDocx(["Changed"], {
    comments: {
      children: [{ id: 0, author: "Ann", date: new Date(0), children: [new Paragraph("Why?")] }],
    },
  });
  const document = partOf(bytes, "word/document.xml").replace(
    /(<w:r>.*<\/w:r>)/,
    '<w:ins w:id="1">$1</w:ins><w:del w:id="2"><w:r><w:delText>gone</w:delText></w:r></w:del>',
  );
  const text = await read(withParts(bytes, { "word/document.xml": document }));
  assertEquals(text, "Changed\n\n[comment 0 by Ann] Why?");
});

Deno.test("readDocx() finds notes that refer to each other, once", async () => {
  const bytes = await makeDocx([
    new Paragraph({ children: [new TextRun("Text"), new FootnoteReferenceRun(1)] }),
  ], { footnotes: { 1: { children: [new Paragraph("Note")] } } });
  const footnotes = partOf(bytes, "word/footnotes.xml").replace(
    /(Note<\/w:t>)/,
    '$1</w:r><w:r><w:footnoteReference w:id="1"/>',
  );
  const text = await read(withParts(bytes, { "word/footnotes.xml": footnotes }));
  assertEquals(text, "Text[footnote 1]\n\n[footnote 1]: Note[footnote 1]");
});

Deno.test("readDocx() reads parts in UTF-16, which the format allows", async () => {
  const bytes = await makeDocx(["Grüße 😀"]);
  const xml = partOf(bytes, "word/document.xml").replace('encoding="UTF-8"', 'encoding="UTF-16"');
  const utf16 = new Uint8Array(new Uint16Array([..."\ufeff" + xml].join("").length + 0).buffer);
  new Uint16Array(utf16.buffer).set(
    [..."\ufeff" + xml].flatMap((c) => Array.from({ length: c.length }, (_, n) => c.charCodeAt(n))),
  );
  assertStringIncludes(await read(withParts(bytes, { "word/document.xml": utf16 })), "Grüße 😀");
});
