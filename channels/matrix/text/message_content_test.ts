import { assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import {
  editContent,
  MAX_CONTENT_BYTES,
  MAX_PART_BYTES,
  partsOf,
  textContent,
} from "./message_content.ts";
import { rounds } from "../../../tests/support/rounds.ts";

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

Deno.test("textContent() has HTML where the text has a form, and always says who is meant", () => {
  assertEquals(textContent("just words", "m.notice"), {
    "org.matrix.msc1767.automated": true,
    msgtype: "m.notice",
    body: "just words",
    "m.mentions": {},
  });
  assertEquals(
    textContent("**x**", "m.text", { replyTo: "$a", mentions: ["@alice:example.org"] }),
    {
      "org.matrix.msc1767.automated": true,
      msgtype: "m.text",
      body: "**x**",
      format: "org.matrix.custom.html",
      formatted_body: "<strong>x</strong>",
      "m.mentions": { user_ids: ["@alice:example.org"] },
      "m.relates_to": { "m.in_reply_to": { event_id: "$a" } },
    },
  );
  assertEquals(textContent("@room x", "m.text")["m.mentions"], {});
});

Deno.test("editContent() keeps its new text whole, and shortens what stands there for older clients", () => {
  const small = editContent("$a", "**x**", "m.text");
  assertEquals([small.body, small.formatted_body], ["* **x**", "* <strong>x</strong>"]);
  const markdown = `**${'"'.repeat(4_000)}**`;
  const large = editContent("$a", markdown, "m.text");
  assertEquals((large["m.new_content"] as { body: string }).body, markdown);
  assertMatch(
    String((large["m.new_content"] as { formatted_body: string }).formatted_body),
    /quot/,
  );
  assertEquals(bytes(large) <= MAX_CONTENT_BYTES, true);
  assertEquals(String(large.body).endsWith("…"), String(large.body).length < 4_000);
});

Deno.test("messages and their edits stay within the bounds of an event, whatever the text is", () => {
  const wild = fc.constantFrom(
    "<",
    '"',
    "&",
    "\n",
    "\\",
    "\u0001",
    "💥",
    "`",
    "**",
    "é",
    "x ",
    "| ",
  );
  const texts = fc.array(wild, { minLength: 1, maxLength: 50 }).map((units) =>
    units.join("").repeat(Math.ceil(15_000 / units.join("").length))
  );
  fc.assert(
    fc.property(texts, (text) => {
      for (const part of partsOf(text)) {
        assertEquals(new TextEncoder().encode(part).length <= MAX_PART_BYTES, true);
        const relation = { threadId: `$${"x".repeat(200)}`, replyTo: "$a", mentions: ["@a:b"] };
        assertEquals(bytes(textContent(part, "m.text", relation)) < 63_000, true);
        assertEquals(bytes(editContent("$a", part, "m.text")) < 63_000, true);
      }
    }),
    { numRuns: rounds(25) },
  );
});
