import { assertEquals, assertThrows } from "@std/assert";
import { childrenNamed, findAll, parseXml } from "./xml.ts";

Deno.test("parseXml() keeps the order, and names without their prefixes", () => {
  const root = parseXml(
    '<?xml version="1.0"?><!-- c --><p:a r:id="1" id="2"> x<b/>y<q:b> </q:b></p:a>',
  );
  assertEquals(root, {
    name: "a",
    attributes: { "r:id": "1", id: "2" },
    children: [
      " x",
      { name: "b", attributes: {}, children: [] },
      "y",
      { name: "b", attributes: {}, children: [" "] },
    ],
  });
  assertEquals(childrenNamed(root, "b").length, 2);
});

Deno.test("parseXml() decodes the entities of XML, once, and no others", () => {
  const { attributes, children } = parseXml(
    "<a b='&lt;&quot;'>&amp;lt; &gt; &apos; &#65;&#x1F600; &bomb; &#x110000; &LT;</a>",
  );
  assertEquals(attributes.b, '<"');
  assertEquals(children, ["&lt; > ' A😀 &bomb; &#x110000; &LT;"]);
});

Deno.test("parseXml() leaves values as they are written", () => {
  assertEquals(parseXml("<a>007</a>").children, ["007"]);
  assertEquals(parseXml("<a><![CDATA[<b>&amp;</b>]]></a>").children, ["<b>&amp;</b>"]);
});

Deno.test("parseXml() refuses what is nested too deep, and what is no XML", () => {
  const nested = (depth: number) => "<a>".repeat(depth) + "</a>".repeat(depth);
  assertEquals([...findAll(parseXml(nested(150)), "a")].length, 149);
  assertThrows(() => parseXml(nested(100_000)));
  assertThrows(() => parseXml(""));
  assertThrows(() => parseXml("no xml"));
});

Deno.test("parseXml() refuses names that JavaScript gives a meaning to", () => {
  assertThrows(() => parseXml("<a __proto__='1'/>"));
  assertThrows(() => parseXml("<__proto__><a>1</a></__proto__>"));
  assertEquals(({} as Record<string, unknown>).a, undefined);
});
