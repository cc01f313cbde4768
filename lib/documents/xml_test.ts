import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { XMLBuilder, XMLParser } from "fast-xml-parser";
import { childrenNamed, findAll, parseXml, XmlElement } from "./xml.ts";

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
    "<a b='&lt;&quot;'>&amp;lt; &gt; &apos; &#65;&#x1F600; &bomb; &#x110000; &LT;</a>",
  );
  assertEquals(attributes.b, '<"');
  assertEquals(children, ["&lt; > ' A😀 &bomb; &#x110000; &LT;"]);
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

Deno.test("parseXml() reads what a general parser reads", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9._-]{0,5}$/);
  const text = fc.string({ unit: "grapheme", maxLength: 8 }).filter((text) => text.trim() !== "");
  const { element } = fc.letrec<{ element: object; node: object }>((tie) => ({
    element: fc.record({
      name,
      attributes: fc.dictionary(name, text, { maxKeys: 3, noNullPrototype: true }),
      children: fc.array(tie("node"), { maxLength: 3 }),
    }).map(({ name, attributes, children }) => ({ [name]: children, ":@": attributes })),
    node: fc.oneof({ maxDepth: 4 }, text.map((text) => ({ "#text": text })), tie("element")),
  }));
  const options = { preserveOrder: true, ignoreAttributes: false, attributeNamePrefix: "" };
  const parser = new XMLParser({ ...options, parseTagValue: false, trimValues: false });
  fc.assert(fc.property(element, (tree) => {
    const xml: string = new XMLBuilder(options).build([tree]);
    const toPlain = (node: Record<string, unknown>): unknown => {
      if ("#text" in node) return node["#text"];
      const name = Object.keys(node).find((key) => key !== ":@")!;
      return [name, node[":@"] ?? {}, ...(node[name] as typeof node[]).map(toPlain)];
    };
    assertEquals(plain(parseXml(xml)), toPlain(parser.parse(xml)[0]) as Plain);
  }));
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
    { numRuns: 2_000 },
  );
  const spaces = `<a ${" ".repeat(1_000_000)}`;
  assertThrows(() => parseXml(spaces));
  assertThrows(() => parseXml(`<a ${"b='c' ".repeat(200_000)}`));
});
