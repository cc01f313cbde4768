import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { renderResult } from "./render_result.ts";

Deno.test("renderResult() gives texts as they are and names what is no text", () => {
  const text = renderResult({
    content: [
      { type: "text", text: "one" },
      { type: "image", mimeType: "image/png", data: btoa("12345") },
      { type: "audio", mimeType: "audio/wav\nx", data: btoa("1234") },
      { type: "resource", resource: { uri: "a://b", mimeType: "text/plain", text: "inside" } },
      { type: "resource", resource: { uri: "a://c", blob: btoa("123") } },
      { type: "resource_link", uri: "a://d", name: "d", size: 7 },
      { type: "hologram" },
      7,
    ],
  }, 10_000);
  assertEquals(text.split("\n\n"), [
    "one",
    "[image: image/png, 5 bytes, not shown]",
    "[audio: audio/wav x, 4 bytes, not shown]",
    "[resource a://b, text/plain]\ninside",
    "[resource a://c, 3 bytes, not shown]",
    '[link to a resource "d": a://d, 7 bytes]',
    "[a part of the type hologram, not shown]",
    "[a part that is none]",
  ]);
});

Deno.test("renderResult() gives structured content once", () => {
  const structuredContent = { a: [1, { b: "c" }] };
  const alone = renderResult({ content: [], structuredContent }, 1_000);
  assertEquals(JSON.parse(alone), structuredContent);
  const said = JSON.stringify(structuredContent);
  const content = [{ type: "text", text: said }];
  assertEquals(renderResult({ content, structuredContent }, 1_000), said);
  const words = [{ type: "text", text: "see below" }];
  assert(renderResult({ content: words, structuredContent }, 1_000).startsWith("see below\n\n{"));
});

Deno.test("renderResult() says of an empty result that it is one", () => {
  for (const empty of [{}, { content: [] }, { content: [{ type: "text", text: "" }] }]) {
    assertEquals(renderResult(empty, 1_000), "[The tool gave an empty result.]");
  }
});

Deno.test("renderResult() keeps its bound and states a cut, whatever a server answers", () => {
  const long = renderResult({ content: [{ type: "text", text: "ä".repeat(10_000) }] }, 1_000);
  assertMatch(long, /bytes cut/);
  const answers = fc.record({ content: fc.anything(), structuredContent: fc.jsonValue() });
  fc.assert(fc.property(answers, (answer) => {
    const plain = JSON.parse(JSON.stringify(answer));
    assert(new TextEncoder().encode(renderResult(plain, 200)).length <= 200);
  }));
});

Deno.test("renderResult() says of structured content that it is nested too deep, and gives the rest", () => {
  const levels = 500_000;
  const structuredContent = JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
  const content = [{ type: "text", text: "the rest" }];
  assertEquals(
    renderResult({ content, structuredContent }, 1_000),
    "the rest\n\n[structured content that is nested too deep to be shown]",
  );
});
