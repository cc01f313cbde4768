import { assert, assertEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import { ENVELOPES } from "./envelopes.ts";
import { FRAMES } from "./frames.ts";
import { wireJsonSchemaText, wireTable, withWireTables } from "./wire_docs.ts";

const DOCS = new URL("../../../docs/", import.meta.url);

Deno.test("docs/websocket.md has every frame and envelope; deno task generate writes them anew", async () => {
  const page = await Deno.readTextFile(new URL("websocket.md", DOCS));
  assertEquals(page, withWireTables(page));
  for (const name of [...Object.keys(FRAMES), ...Object.keys(ENVELOPES)]) {
    assert(page.includes(`| \`${name}\``), name);
  }
});

Deno.test("docs/websocket.schema.json is what the schemas give; deno task generate writes it anew", async () => {
  const text = await Deno.readTextFile(new URL("websocket.schema.json", DOCS));
  assertEquals(text, wireJsonSchemaText());
  const { $defs } = JSON.parse(text);
  const events = $defs.server_frame.oneOf.map((
    one: { properties: { event: { const: string } } },
  ) => one.properties.event.const);
  assertEquals(events, Object.keys(FRAMES));
  assertEquals($defs.client_envelope.oneOf.length, Object.keys(ENVELOPES).length);
});

Deno.test("wireTable() marks what may be absent, and keeps a bar in a text from ending its cell", () => {
  assertEquals(
    wireTable("type", {
      go: z.object({ type: z.literal("go"), a: z.string().optional(), b: z.int().describe("x|y") })
        .describe("Goes"),
    }),
    "| `type` | Fields           | Meaning |\n" +
      "| ------ | ---------------- | ------- |\n" +
      "| `go`   | `a`?, `b` (x\\|y) | Goes    |\n",
  );
});

Deno.test("withWireTables() refuses a page without marks", () => {
  assertThrows(() => withWireTables("text"), Error, "cannot be written");
});
