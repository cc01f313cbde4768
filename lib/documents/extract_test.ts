import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import fc from "fast-check";
import { PDFDocument } from "pdf-lib";
import { ServiceError } from "../base/errors.ts";
import { extractDocument } from "./extract.ts";
import { prepareGlobals } from "./prepare_globals.ts";
import { makeEach, makePdf, makeXlsx, partOf, withParts } from "./testing/make_documents.ts";
import { writeZip } from "./testing/write_zip.ts";
import { MEDIA_TYPES } from "../contract/documents.ts";
import { rounds } from "../../tests/support/rounds.ts";

prepareGlobals();
const documents = await makeEach();
type Format = keyof typeof documents;
const FORMATS = Object.keys(documents) as Format[];

/** The part of each office format that holds the text. */
const TEXT_PARTS = {
  docx: "word/document.xml",
  xlsx: "xl/sharedStrings.xml",
  pptx: "ppt/slides/slide1.xml",
} as const;

async function reasonOf(bytes: Uint8Array): Promise<string> {
  const { code, message } = await assertRejects(() => extractDocument(bytes), ServiceError);
  assertEquals(code, "unreadable_document");
  return message;
}

/** What every input has to lead to: a text, or one of two refusals. */
async function extractOrRefuse(bytes: Uint8Array): Promise<void> {
  try {
    const { mediaType, text } = await extractDocument(bytes);
    assert(Object.values(MEDIA_TYPES).includes(mediaType as typeof MEDIA_TYPES.pdf));
    assert(text !== "" && text.isWellFormed());
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    assertMatch(error.code, /^(unreadable_document|unsupported_media_type)$/);
  }
}

Deno.test("extractDocument() gives the text of each format, by its bytes alone", async () => {
  const texts: Record<Format, string> = {
    pdf: "[page 1]\nThe first page\n\n[page 2]\nThe second page",
    docx: "A paragraph\n\nAnother one",
    xlsx: '[sheet "Numbers"]\n\tA\tB\n1\ta\t1\n2\tb\t2',
    pptx: "[slide 1]\nA slide\n\n[notes]\nA note",
  };
  for (const format of FORMATS) {
    assertEquals(await extractDocument(documents[format]), {
      mediaType: MEDIA_TYPES[format],
      text: texts[format],
    });
  }
});

Deno.test("extractDocument() cuts a long text, and keeps its notes", async () => {
  const page = Array.from({ length: 14 }, () => "01234567890".repeat(5)).join("\n");
  const { text } = await extractDocument(await makePdf(Array.from({ length: 201 }, () => page)));
  assertMatch(text, /^\[page 1\]\n01234567890/);
  const short = "[pages 1 to 200 of 201 were read; 1 are left out]";
  assertEquals(text.split("\n\n").at(-1), short);
  const long = await extractDocument(makeXlsx({ S: [["x".repeat(30_000)], ...wide(10)] }));
  assertMatch(
    long.text.slice(200_000),
    /^\n\n\[cut here: these are the first 200,000 of 330,\d{3} characters; 130,\d{3} are left out\]$/,
  );
});

/** Rows of one cell as long as a cell may be. */
function wide(rows: number): string[][] {
  return Array.from({ length: rows }, () => ["y".repeat(30_000)]);
}

Deno.test("extractDocument() says when there is no text", async () => {
  const { text } = await extractDocument(
    withParts(documents.docx, {
      [TEXT_PARTS.docx]: partOf(documents.docx, TEXT_PARTS.docx).replace(/<w:p>.*<\/w:p>/, ""),
    }),
  );
  assertEquals(text, "[no text was found]");
});

Deno.test("extractDocument() leaves out control characters and broken pairs", async () => {
  const xml = partOf(documents.xlsx, "xl/workbook.xml").replace("Numbers", "a&#x1;b&#xD800;c");
  const { text } = await extractDocument(withParts(documents.xlsx, { "xl/workbook.xml": xml }));
  assert(text.isWellFormed());
  // deno-lint-ignore no-control-regex -- what must not be there
  assertEquals(/[\0-\x08\x0b-\x1f]/.test(text), false);
});

Deno.test("extractDocument() refuses what is cut off anywhere", async () => {
  for (const format of FORMATS) {
    const bytes = documents[format];
    const step = Math.max(1, Math.floor(bytes.length / 60));
    for (let length = 0; length < bytes.length; length += step) {
      await extractOrRefuse(bytes.slice(0, length));
    }
    if (format !== "pdf") {
      assertEquals(await reasonOf(bytes.slice(0, -30)), "it is corrupt or cut off");
    }
  }
});

for (const format of FORMATS) {
  Deno.test(`extractDocument() gives a text or a refusal for any damage to a .${format}`, async () => {
    const bytes = documents[format];
    const damage = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(damage, fc.nat(bytes.length), async (changes, start) => {
        const damaged = bytes.slice();
        for (const [at, value] of changes) damaged[at] = value;
        await extractOrRefuse(damaged);
        await extractOrRefuse(damaged.slice(start));
      }),
      { numRuns: rounds(300) },
    );
  });
}

Deno.test("extractDocument() gives a text or a refusal for any damage to the table of a .pdf", async () => {
  // Without object streams, so that damage reaches the objects themselves.
  const pdf = await (await PDFDocument.load(documents.pdf)).save({ useObjectStreams: false });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(pdf.length - 1), fc.nat(255)), { minLength: 1, maxLength: 10 }),
      async (changes) => {
        const damaged = pdf.slice();
        for (const [at, value] of changes) damaged[at] = value;
        await extractOrRefuse(damaged);
      },
    ),
    { numRuns: rounds(300) },
  );
});

for (const format of ["docx", "xlsx", "pptx"] as const) {
  Deno.test(`extractDocument() gives a text or a refusal for any damage to XML of a .${format}`, async () => {
    // Whole archives with damaged parts: the checksums of a damaged archive hide them else.
    const names = [
      ...new Set([
        TEXT_PARTS[format],
        "[Content_Types].xml",
        "_rels/.rels",
        ...(format === "docx" ? ["word/_rels/document.xml.rels", "word/styles.xml"] : []),
        ...(format === "xlsx" ? ["xl/workbook.xml", "xl/worksheets/sheet1.xml"] : []),
        ...(format === "pptx" ? ["ppt/presentation.xml", "ppt/slides/_rels/slide1.xml.rels"] : []),
      ]),
    ];
    const parts = Object.fromEntries(names.map((name) => [name, partOf(documents[format], name)]));
    const piece = fc.constantFrom(
      "<",
      ">",
      "/",
      '"',
      "&",
      "<a>",
      "</a>",
      "]]>",
      "\0",
      "-1",
      "9e99",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(40),
        fc.oneof(piece, fc.string({ maxLength: 10 })),
        async (name, where, length, text) => {
          const part = parts[name]!;
          const at = Math.floor(where * part.length);
          const damaged = part.slice(0, at) + text + part.slice(at + length);
          await extractOrRefuse(withParts(documents[format], { [name]: damaged }));
        },
      ),
      { numRuns: rounds(200) },
    );
  });

  const part = TEXT_PARTS[format];
  const withXml = (change: (xml: string) => string | Uint8Array) =>
    withParts(documents[format], { [part]: change(partOf(documents[format], part)) });

  Deno.test(`extractDocument() refuses a .${format} whose XML declares entities`, async () => {
    const levels = Array.from(
      { length: 9 },
      (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`,
    ).join("");
    const bomb = `<!DOCTYPE a [<!ENTITY e0 "ha">${levels}]>`;
    const expected = "its XML declares a document type, which the format forbids";
    const put = (doctype: string) => (xml: string) =>
      xml.replace(/^(<\?xml.*?\?>)?/, (declaration) => declaration + doctype)
        .replace(/A paragraph|A slide|<t>a<\/t>/, "&e9;");
    for (
      const doctype of [
        bomb,
        bomb.replace("DOCTYPE", "doctype"),
        '<!DOCTYPE a SYSTEM "file:///etc/passwd">',
      ]
    ) {
      assertEquals(await reasonOf(withXml(put(doctype))), expected);
    }
    const utf16 = (xml: string) => {
      const units = Uint16Array.from(`\ufeff${put(bomb)(xml)}`, (c) => c.charCodeAt(0));
      return new Uint8Array(units.buffer);
    };
    assertEquals(await reasonOf(withXml(utf16)), expected);
  });

  Deno.test(`extractDocument() survives XML of a .${format} that is nested without end`, async () => {
    const depth = rounds(200_000, 20_000);
    const nested = "<w:r>".repeat(depth) + "</w:r>".repeat(depth);
    await extractOrRefuse(withXml((xml) => xml.replace(/<\/[^<>]*>$/, (end) => nested + end)));
    await extractOrRefuse(withXml((xml) => xml.replace(/<\/[^<>]*>$/, "<a>".repeat(3_000))));
  });
}

Deno.test("extractDocument() names the limit that an archive is over", async () => {
  const many = Array.from({ length: 10_001 }, (_, n) => ({ name: `xl/m${n}.xml`, method: 0 }));
  assertEquals(
    await reasonOf(writeZip(many)),
    "it has 10,001 members; expected 10,000 at most",
  );
  const zeros = new Uint8Array(257 * 1024 * 1024);
  assertEquals(
    await reasonOf(writeZip([
      { name: "xl/workbook.xml", content: "<workbook/>" },
      { name: "xl/media/image1.png", content: zeros, unpackedBytes: 1 },
    ])),
    "it unpacks to more than 256 MiB",
  );
});

Deno.test("extractDocument() bounds a text of strings that are referred to again and again", async () => {
  const long = "ha".repeat(16_000);
  const cells = Array.from(
    { length: 50_000 },
    (_, n) => `<row r="${n + 1}"><c t="s"><v>0</v></c></row>`,
  );
  const xml = partOf(makeXlsx({ S: [[long]] }), "xl/worksheets/sheet1.xml")
    .replace(/<sheetData>.*<\/sheetData>/s, `<sheetData>${cells.join("")}</sheetData>`);
  const { text } = await extractDocument(
    withParts(makeXlsx({ S: [[long]] }), {
      "xl/worksheets/sheet1.xml": xml,
      "xl/sharedStrings.xml": `<sst count="1"><si><t>${long}</t></si></sst>`,
    }),
  );
  assert(text.length < 201_000);
  assertMatch(text, /of 1,60\d,\d{3},\d{3} characters/);
});
