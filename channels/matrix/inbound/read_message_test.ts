import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { events, readSyncAnswer } from "../sync/sync_answer.ts";
import { isAddressed, withoutName } from "./addressing.ts";
import { readMessage } from "./read_message.ts";
import { rounds } from "../../../tests/support/rounds.ts";

const me = { userId: "@helper:example.org", displayName: "Helper" };

function read(content: Record<string, unknown>) {
  return readMessage({ content }, "alice");
}

Deno.test("readMessage() takes away the quote of a reply, and only that", () => {
  const reply = (body: string) =>
    read({
      msgtype: "m.text",
      body,
      "m.relates_to": { "m.in_reply_to": { event_id: "$a" } },
    });
  assertEquals(reply("> <@a:b> one\n> two\n\nanswer\n> of mine")!.text, "answer\n> of mine");
  assertEquals(reply("> * <@a:b> waves\n\nhello")!.text, "hello");
  assertEquals(reply("> only a quote of mine")!.text, "> only a quote of mine");
  assertEquals(reply("no quote")!.replyTo, "$a");
  assertEquals(read({ msgtype: "m.text", body: "> <@a:b> x\n\ny" })!.text, "> <@a:b> x\n\ny");
});

Deno.test("readMessage() tells what stands in a thread for older clients from a reply", () => {
  const relation = { rel_type: "m.thread", event_id: "$root", "m.in_reply_to": { event_id: "$a" } };
  const inThread = (more: Record<string, unknown>) =>
    read({ msgtype: "m.text", body: "x", "m.relates_to": { ...relation, ...more } })!;
  const fallback = inThread({ is_falling_back: true });
  assertEquals([fallback.threadId, fallback.replyTo], ["$root", undefined]);
  assertEquals(inThread({ is_falling_back: false }).replyTo, "$a");
});

Deno.test("withoutName() takes the name in front away, and no other word", () => {
  for (
    const [text, wanted] of [
      ["helper: /new", "/new"],
      ["@Helper, what?", "what?"],
      ["HELPER what?", "what?"],
      ["@helper:example.org: what?", "what?"],
      ["helpers: what?", "helpers: what?"],
      ["helper", "helper"],
      ["ask helper: what?", "ask helper: what?"],
    ]
  ) assertEquals(withoutName(text!, me), wanted);
});

Deno.test("whatever JSON a server sends, it is read or left out", () => {
  const text = fc.constantFrom(
    "m.text",
    "m.image",
    "m.emote",
    "x",
    "$a",
    "!r:s",
    "@a:b",
    "mxc://a/b",
  );
  const keys = fc.constantFrom(
    ...["msgtype", "body", "url", "info", "m.relates_to", "m.mentions", "user_ids", "rel_type"],
    ...["event_id", "sender", "type", "content", "m.in_reply_to", "filename", "unsigned"],
    ...["rooms", "join", "timeline", "events", "next_batch", "state", "__proto__"],
  );
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.string(),
      fc.integer(),
      fc.constant(null),
      fc.array(tie("json"), { maxLength: 3 }),
      fc.dictionary(keys, tie("json"), { maxKeys: 5 }),
    ),
  }));
  fc.assert(
    fc.property(json, json, (one, other) => {
      const content = typeof one === "object" && one !== null ? one as Record<string, unknown> : {};
      const message = read({ msgtype: "m.text", body: "x", ...content });
      if (message !== undefined) isAddressed(message, me);
      const event = { event_id: "$a", type: "m.room.message", sender: "@a:b", content: one };
      assertEquals(events([other, event]).at(-1)!.eventId, "$a");
      const room = { timeline: { events: [event, other] }, state: other, summary: other };
      const answer = readSyncAnswer({
        next_batch: "s1",
        rooms: { join: { "!a:b": room, "!c:d": other, x: room }, invite: other, leave: other },
        account_data: other as Record<string, unknown>,
      });
      assertEquals(answer.joined.length, 2);
    }),
    { numRuns: rounds(300) },
  );
});

Deno.test("isAddressed() takes nobody who is named in a quote, and no path, for a call of the account", () => {
  const pill = '<a href="https://matrix.to/#/@helper:example.org">Assistant</a>';
  const quote = `<mx-reply><blockquote>${pill}, what now?</blockquote></mx-reply>`;
  const reply = (formatted_body: string) =>
    read({
      msgtype: "m.text",
      body: "> <@a:b> what now?\n\nI would wait",
      formatted_body,
      "m.relates_to": { "m.in_reply_to": { event_id: "$a" } },
    })!;
  const named = { ...me, displayName: "Assistant" };
  assertEquals(isAddressed(reply(`${quote}I would wait`), named), false);
  assertEquals(isAddressed(reply(`${quote}I would wait, ${pill}`), named), true);
  const said = (body: string) => isAddressed(read({ msgtype: "m.text", body })!, me);
  assertEquals([said("/usr/bin/env is missing"), said("/status"), said("/approve a 1")], [
    false,
    true,
    true,
  ]);
});

Deno.test("readMessage() takes no file of another path", () => {
  const file = (url: string) => read({ msgtype: "m.file", body: "x", filename: "a", url })?.file;
  assertEquals(file("mxc://example.org/a")!.name, "a");
  for (const url of ["mxc://../config", "mxc://./a", "mxc://example.org/..", "https://a/b"]) {
    assertEquals(file(url), undefined, url);
  }
});
