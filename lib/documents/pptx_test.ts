import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { openPackage } from "./open_package.ts";
import { readPptx } from "./pptx.ts";
import { makePptx, partOf, withParts } from "./testing/make_documents.ts";

async function read(bytes: Uint8Array): Promise<string> {
  const { text, notes } = await readPptx(openPackage(bytes));
  assertEquals(notes, []);
  return text;
}

Deno.test("readPptx() reads text, lists, tables and notes of each slide", async () => {
  const bytes = await makePptx((slides) => {
    const first = slides.addSlide();
    first.addText("A title", { x: 1, y: 1 });
    first.addText([
      { text: "point", options: { bullet: true, breakLine: true } },
      { text: "below it", options: { bullet: true, indentLevel: 1 } },
    ], { x: 1, y: 2 });
    first.addTable([[{ text: "a|b" }, { text: "c" }], [{ text: "1 & 2" }, { text: "<3>" }]]);
    first.addNotes("Say hello.");
    const second = slides.addSlide();
    second.hidden = true;
    second.addText("Hidden text", { x: 1, y: 1 });
    slides.addSlide();
  });
  assertEquals(
    await read(bytes),
    `[slide 1]
A title

point
  - below it

| a\\|b | c |
| --- | --- |
| 1 & 2 | <3> |

[notes]
Say hello.

[slide 2 (hidden)]
Hidden text

[slide 3]`,
  );
});

const three = () =>
  makePptx((slides) => {
    for (const text of ["one", "two", "three"]) slides.addSlide().addText(text, { x: 1, y: 1 });
  });

Deno.test("readPptx() follows the order of the show, not of the files", async () => {
  const bytes = await three();
  const xml = partOf(bytes, "ppt/presentation.xml");
  const entries = [...xml.matchAll(/<p:sldId .*?\/>/g)].map(([entry]) => entry);
  assertEquals(entries.length, 3);
  const shown = [entries[2], entries[0]].join("");
  const reordered = xml.replace(entries.join(""), shown);
  const text = await read(withParts(bytes, { "ppt/presentation.xml": reordered }));
  assertEquals(text, "[slide 1]\nthree\n\n[slide 2]\none");
});

Deno.test("readPptx() finds relations by any prefix and by absolute targets", async () => {
  const bytes = await three();
  const xml = partOf(bytes, "ppt/presentation.xml").replace(/ r:id=/g, " d5p1:id=");
  const relations = partOf(bytes, "ppt/_rels/presentation.xml.rels")
    .replace('"slides/slide2.xml"', '"/ppt/./x/../slides/slide2.xml"');
  const text = await read(withParts(bytes, {
    "ppt/presentation.xml": xml,
    "ppt/_rels/presentation.xml.rels": relations,
  }));
  assertEquals(text, "[slide 1]\none\n\n[slide 2]\ntwo\n\n[slide 3]\nthree");
});

Deno.test("readPptx() says which slide is missing, and looks nowhere else for it", async () => {
  const bytes = await three();
  const relations = partOf(bytes, "ppt/_rels/presentation.xml.rels")
    .replace('"slides/slide2.xml"', '"../../../../etc/passwd"')
    .replace('Target="slides/slide3.xml"', 'TargetMode="External" Target="file:///etc/passwd"');
  const text = await read(withParts(bytes, { "ppt/_rels/presentation.xml.rels": relations }));
  assertEquals(
    text,
    "[slide 1]\none\n\n[slide 2]\n[this slide is missing]\n\n[slide 3]\n[this slide is missing]",
  );
});

Deno.test("readPptx() reads diagrams, groups and the newer of two forms", async () => {
  const bytes = await makePptx((slides) => slides.addSlide().addText("first", { x: 1, y: 1 }));
  const shape = (text: string) =>
    `<p:sp><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const xml = partOf(bytes, "ppt/slides/slide1.xml").replace(
    "</p:spTree>",
    `<p:grpSp>${shape("in a group")}<p:grpSp>${shape("in two")}</p:grpSp></p:grpSp>` +
      `<mc:AlternateContent><mc:Choice>${shape("new")}</mc:Choice>` +
      `<mc:Fallback>${shape("old")}</mc:Fallback></mc:AlternateContent>` +
      `<mc:AlternateContent><mc:Choice/><mc:Fallback>${shape("only old")}</mc:Fallback>` +
      `</mc:AlternateContent></p:spTree>`,
  );
  const relations = partOf(bytes, "ppt/slides/_rels/slide1.xml.rels").replace(
    "</Relationships>",
    '<Relationship Id="d" Type="http://x/diagramData" Target="../diagrams/data1.xml"/></Relationships>',
  );
  const diagram =
    `<dgm:dataModel><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>a box</a:t></a:r></a:p>` +
    `</dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>`;
  const text = await read(withParts(bytes, {
    "ppt/slides/slide1.xml": xml,
    "ppt/slides/_rels/slide1.xml.rels": relations,
    "ppt/diagrams/data1.xml": diagram,
  }));
  assertEquals(
    text,
    "[slide 1]\nfirst\n\nin a group\n\nin two\n\nnew\n\nonly old\n\na box",
  );
});

Deno.test("readPptx() refuses a presentation without its main part", async () => {
  const bytes = withParts(await three(), { "ppt/presentation.xml": undefined });
  const error = await assertRejects(() => read(bytes), ServiceError, "corrupt");
  assertEquals(error.code, "unreadable_document");
});

Deno.test("readPptx() gives a slide that stands twice in the show twice", async () => {
  const bytes = await three();
  const xml = partOf(bytes, "ppt/presentation.xml").replace(
    /<p:sldIdLst>.*<\/p:sldIdLst>/,
    (list) => list.replace(/<p:sldId .*?\/>/, (entry) => entry + entry),
  );
  assertStringIncludes(
    await read(withParts(bytes, { "ppt/presentation.xml": xml })),
    "[slide 1]\none\n\n[slide 2]\none\n\n[slide 3]\ntwo",
  );
});
