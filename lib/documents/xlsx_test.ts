import { FULL_RUN } from "../../tests/support/rounds.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { utils, write } from "xlsx";
import { openPackage } from "./open_package.ts";
import { makeXlsx, partOf, withParts } from "./testing/make_documents.ts";
import { readXlsx } from "./xlsx.ts";
import { needs } from "../../tests/support/needs.ts";

function read(bytes: Uint8Array) {
  return readXlsx(openPackage(bytes));
}

/** A workbook whose one sheet has this XML between `<sheetData>` and its end. */
function withRows(rows: string): Uint8Array {
  const bytes = makeXlsx({ Sheet: [["x"]] });
  const xml = partOf(bytes, "xl/worksheets/sheet1.xml")
    .replace(/<sheetData>.*<\/sheetData>/s, () => `<sheetData>${rows}</sheetData>`);
  return withParts(bytes, { "xl/worksheets/sheet1.xml": xml });
}

Deno.test("readXlsx() shows each sheet with the letters and numbers of its cells", async () => {
  const bytes = makeXlsx({
    Sales: [["Item", "Amount"], ["Apples", 3], [], ['Pears, "big"', 4.5, null, true]],
    "a & b": [[]],
  });
  assertEquals(await read(bytes), {
    text: '[sheet "Sales"]\n' +
      "\tA\tB\tD\n1\tItem\tAmount\n2\tApples\t3\n" +
      '4\tPears, "big"\t4.5\tTRUE\n' +
      '\n[sheet "a & b"]',
    moreChars: 0,
    notes: [],
  });
});

Deno.test("readXlsx() shows cells as their program does, dates readable, formulas by value", async () => {
  const sheet = utils.aoa_to_sheet([["x"]]);
  Object.assign(sheet, {
    A1: { t: "n", v: 45_293, z: "m/d/yy" },
    B1: { t: "n", v: 45_293.75, z: "yyyy-mm-dd hh:mm" },
    C1: { t: "n", v: 0.125, z: "0.0%" },
    D1: { t: "n", v: 1234.5, z: "#,##0.00" },
    E1: { t: "n", v: 7, f: "3+4" },
    F1: { t: "e", v: 0x17 },
    G1: { t: "s", v: "tab\there\nand a line" },
    "!ref": "A1:G1",
    "!merges": [{ s: { r: 0, c: 0 }, e: { r: 0, c: 1 } }],
  });
  const book = utils.book_new();
  utils.book_append_sheet(book, sheet, "S");
  const bytes = new Uint8Array(write(book, { type: "array", bookType: "xlsx" }));
  const { text } = await read(bytes);
  assertEquals(
    text.split("\n").at(-1),
    "1\t2024-01-02\t2024-01-02 18:00\t12.5%\t1,234.50\t7\t#REF!\ttab here<br>and a line",
  );
});

Deno.test("readXlsx() says which sheets are hidden", async () => {
  const bytes = makeXlsx({ Open: [["a"]], Closed: [["b"]] });
  const book = partOf(bytes, "xl/workbook.xml")
    .replace('name="Closed"', 'name="Closed" state="hidden"');
  const { text } = await read(withParts(bytes, { "xl/workbook.xml": book }));
  assertStringIncludes(text, '[sheet "Open"]\n');
  assertStringIncludes(text, '[sheet "Closed" (hidden)]\n');
});

Deno.test(
  needs(
    "readXlsx() reads up to a million cells, and counts what it does not put together",
    FULL_RUN,
  ),
  async () => {
    const count = 100_000;
    const rows = Array.from(
      { length: count },
      (_, n) =>
        `<row r="${n + 1}">${
          ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"]
            .map((letter) => `<c r="${letter}${n + 1}"><v>${n}</v></c>`).join("")
        }</row>`,
    );
    const { text, moreChars, notes } = await read(withRows(rows.join("")));
    assertStringIncludes(text, "\n2\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\n");
    assert(text.length > 200_000 && text.length < 201_000, `${text.length}`);
    // Every row: its number, ten tabs, ten values, the line's end; then the two lines of headers.
    let expected = '[sheet "Sheet"]\n\tA\tB\tC\tD\tE\tF\tG\tH\tI\tJ'.length;
    for (let n = 0; n < count; n++) expected += 11 + `${n + 1}`.length + 10 * `${n}`.length;
    assertEquals(text.length + moreChars!, expected);
    assertEquals(notes, []);
  },
);

Deno.test("readXlsx() is not impressed by ranges and cells at the end of the world", async () => {
  const { text } = await read(withRows(
    '<row r="1"><c r="A1"><v>1</v></c></row>' +
      '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>',
  ));
  assertEquals(text, '[sheet "Sheet"]\n\tA\tXFD\n1\t1\n1048576\t\t2');
  await read(withRows('<row r="999999999999"><c r="ZZZZZZ999999999999"><v>1</v></c></row>'));
});

Deno.test("readXlsx() measures a diagonal of cells instead of writing it", async () => {
  const rows = Array.from(
    { length: 16_384 },
    (_, n) => `<row r="${n + 1}"><c r="${utils.encode_col(n)}${n + 1}"><v>1</v></c></row>`,
  );
  const { text, moreChars } = await read(withRows(rows.join("")));
  assert(text.length < 300_000);
  assert(moreChars! > 100_000_000);
});

Deno.test(
  needs("readXlsx() reads the first 30,000 rows of a workbook too large for all", FULL_RUN),
  async () => {
    // Few long cells: the size decides, and each cell costs time.
    const value = "0123456789".repeat(30);
    const row = `<row>${`<c t="str"><v>${value}</v></c>`.repeat(3)}</row>`;
    const { text, notes } = await read(withRows(row.repeat(35_000)));
    assertStringIncludes(text, `\n2\t${value}\t`);
    assertEquals(notes, ["[a large workbook: rows 1 to 30,000 of each sheet were read]"]);
  },
);
