import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { childrenNamed, findAll, parseXml, type XmlElement } from "./xml.ts";
import { rounds } from "../../tests/support/rounds.ts";

/** An element as plain data: its name, its attributes, its children. */
type Plain = [string, Record<string, string>, ...unknown[]];

function plain({ name, attributes, children }: XmlElement): Plain {
  const shown = children.map((child) => typeof child === "string" ? child : plain(child));
  return [name, { ...attributes }, ...shown];
}

Deno.test("parseXml() keeps the order, and names without their prefixes", () => {
  const root = parseXml(
    '\ufeff<?xml version="1.0"?>\n<!-- <c> --><p:a r:id = "1"\n id=\'2>\' > x<b/>y<q:b\t> </q:b ></p:a>\n',
  );
  assertEquals(plain(root), ["a", { "r:id": "1", id: "2>" }, " x", ["b", {}], "y", ["b", {}, " "]]);
  assertEquals(childrenNamed(root, "b").length, 2);
});

Deno.test("parseXml() decodes the entities of XML, once, and no others", () => {
  const { attributes, children } = parseXml(
    "<a b='&lt;&quot;'>&amp;lt; &gt; &apos; &#65;&#x1F600;</a>",
  );
  assertEquals(attributes.b, '<"');
  assertEquals(children, ["&lt; > ' A😀"]);
  for (const entity of ["&bomb;", "&#x110000;", "&LT;"]) {
    assertThrows(() => parseXml(`<a>${entity}</a>`), Error, "Cannot read XML");
  }
  assertEquals(parseXml("<a><![CDATA[<b>&amp;</b>]]></a>").children, ["<b>&amp;</b>"]);
});

Deno.test("parseXml() refuses what is nested too deep", () => {
  const nested = (depth: number) => "<a>".repeat(depth) + "</a>".repeat(depth);
  assertEquals([...findAll(parseXml(nested(200)), "a")].length, 199);
  assertThrows(() => parseXml(nested(201)));
  assertThrows(() => parseXml(nested(100_000)));
});

Deno.test("parseXml() refuses what is no XML, and what declares a type", () => {
  const cases = [
    "",
    "no xml",
    "<a>",
    "<a></b>",
    "</a>",
    "<a/><b/>",
    "<a/>text",
    "text<a/>",
    "<a b></a>",
    "<a b=c></a>",
    '<a b="></a>',
    '<a b="<"></a>',
    "<a",
    "<a><!-- </a>",
    "<a><![CDATA[</a>",
    "<?xml <a/>",
    "< a/>",
    "<!DOCTYPE a><a/>",
    "<a><!DOCTYPE a></a>",
  ];
  for (const xml of cases) assertThrows(() => parseXml(xml), Error, "Cannot read XML", xml);
});

Deno.test("parseXml() takes names of JavaScript for names", () => {
  const root = parseXml("<a __proto__='1' constructor='2'><__proto__/></a>");
  assertEquals(Object.entries(root.attributes), [["__proto__", "1"], ["constructor", "2"]]);
  assertEquals(childrenNamed(root, "__proto__").length, 1);
});

Deno.test("parseXml() ends on any text", () => {
  const piece = fc.constantFrom(..."<>/=\"'&;! \n-[]?a:#x", "<!--", "]]>", "<a ", "</a>", "b='c'");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      try {
        parseXml(pieces.join(""));
      } catch (error) {
        if (!(error as Error).message.startsWith("Cannot read XML")) throw error;
      }
    }),
    { numRuns: rounds(2_000) },
  );
  const spaces = `<a ${" ".repeat(1_000_000)}`;
  assertThrows(() => parseXml(spaces));
  assertThrows(() => parseXml(`<a ${"b='c' ".repeat(200_000)}`));
});
