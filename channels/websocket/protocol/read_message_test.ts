import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { readMessage } from "./read_message.ts";

const read = (value: unknown) =>
  readMessage({ text: typeof value === "string" ? value : JSON.stringify(value) });
const text = (text: string) => ({ kind: "text" as const, text });
const nothing = { kind: "nothing" as const };

function faultOf(value: unknown) {
  const found = read(value);
  assert(found.kind === "fault", JSON.stringify(value).slice(0, 80));
  return { message: found.error.message, code: found.error.code, place: found.place };
}

Deno.test("readMessage() takes the first of content, text and message that says something", () => {
  assertEquals(read({ message: "c", text: "b", content: "a" }), text("a"));
  assertEquals(read({ message: "c", text: "b" }), text("b"));
  assertEquals(read({ message: "c", content: " \n", text: 5 }), text("c"));
  assertEquals(read({ content: " padded " }), text(" padded "));
  // A type that is no text makes no envelope.
  assertEquals(read({ type: 5, content: "a" }), text("a"));
});

Deno.test("readMessage() ignores what says nothing", () => {
  for (const value of ["", " \t\r\n", "\u200b", "{}", " {} ", { content: "" }, { other: "x" }]) {
    assertEquals(read(value), nothing);
  }
  assertEquals(readMessage({ binary: new Uint8Array() }), nothing);
});

Deno.test("readMessage() takes anything that is no JSON object as plain text, as sent", () => {
  for (
    const value of [
      "hello",
      " hi ",
      "{not json",
      "[1, 2]",
      "null",
      "5",
      '"quoted"',
      '{"a":1} x',
      "{",
    ]
  ) assertEquals(read(value), text(value));
  // One mark at the begin of a text is a character of it.
  assertEquals(read("\ufeff{}"), text("\ufeff{}"));
});

Deno.test("readMessage() takes a binary frame as text, or as a fault", () => {
  const binary = new TextEncoder().encode('{"content":"hé"}');
  assertEquals(readMessage({ binary }), text("hé"));
  const broken = readMessage({ binary: new Uint8Array([0x68, 0xff]) });
  assert(broken.kind === "fault");
  assertStringIncludes(broken.error.message, "UTF-8");
});

Deno.test("readMessage() reads every envelope, and leaves out what it does not know", () => {
  const envelopes = [
    { type: "new_chat" },
    { type: "attach", chat_id: "a:b_c-1" },
    { type: "attach", chat_id: "a", after_seq: 0, epoch: "e" },
    { type: "message", chat_id: "a", content: "hi", client_msg_id: "1" },
    { type: "message", chat_id: "a", content: "", media: [{ data_url: "data:,", name: "n" }] },
    { type: "cancel", chat_id: "a" },
    { type: "fork_chat", source_chat_id: "a", before_user_index: 3 },
    { type: "transcribe_audio", request_id: "r", data_url: "data:," },
    { type: "ping" },
  ];
  for (const envelope of envelopes) {
    assertEquals(read({ ...envelope, extra: 1 }), { kind: "envelope", envelope } as never);
  }
});

Deno.test("readMessage() says of a bad envelope which field is wrong, and whose it was", () => {
  const cases: [Record<string, unknown>, string][] = [
    [{ type: "fly" }, 'type is "fly": expected one of new_chat, attach'],
    [{ type: "__proto__" }, "type is"],
    [{ type: "constructor" }, "type is"],
    [{ type: "" }, "type is"],
    [{ type: "attach" }, "chat_id is missing"],
    [{ type: "attach", chat_id: "a b" }, 'chat_id is "a b": 1 to 64'],
    [{ type: "attach", chat_id: "a".repeat(65) }, "1 to 64"],
    [{ type: "attach", chat_id: "a\n" }, "1 to 64"],
    [{ type: "attach", chat_id: "a", after_seq: -1 }, "after_seq is -1"],
    [{ type: "attach", chat_id: "a", after_seq: 1.5 }, "after_seq is 1.5"],
    [{ type: "attach", chat_id: "a", after_seq: "1" }, 'after_seq is "1"'],
    [{ type: "attach", chat_id: "a", after_seq: 1e300 }, "after_seq"],
    [{ type: "message", chat_id: "a" }, "content is missing"],
    [{ type: "message", chat_id: "a", content: " " }, "content is blank"],
    [{ type: "message", chat_id: "a", content: ["x"] }, "content is a list"],
    [{ type: "message", chat_id: "a", content: "x", media: {} }, "media is an object"],
    [{ type: "message", chat_id: "a", content: "x", media: [{}] }, "media.0.data_url is missing"],
    [
      { type: "message", chat_id: "a", content: "x", media: Array(5).fill({}) },
      "media has 5 items",
    ],
    [{ type: "message", chat_id: "a", content: "x", client_msg_id: "" }, "client_msg_id"],
    [{ type: "fork_chat", source_chat_id: "a", before_user_index: -1 }, "before_user_index"],
    [{ type: "transcribe_audio", data_url: "data:," }, "request_id is missing"],
  ];
  for (const [envelope, words] of cases) {
    const { message, code } = faultOf(envelope);
    assertStringIncludes(message, words);
    assertEquals(code, "invalid_request");
  }
  assertEquals(
    faultOf({ type: "message", chat_id: "a", content: 5, client_msg_id: "m" }).place,
    { chat_id: "a", client_msg_id: "m" },
  );
  assertEquals(faultOf({ type: "message", chat_id: "a b", content: "x" }).place, {});
});

Deno.test("readMessage() holds the text of an envelope to 1 MiB of UTF-8, and legacy text to nothing", () => {
  const envelope = (content: string) => ({ type: "message", chat_id: "a", content });
  assertEquals(read(envelope("é".repeat(512 * 1024))).kind, "envelope");
  assertEquals(read(envelope("a".repeat(1024 * 1024))).kind, "envelope");
  const { code, message } = faultOf(envelope("é".repeat(512 * 1024) + "a"));
  assertEquals(code, "too_large");
  assertStringIncludes(message, "1048577 bytes: at most 1048576");
  const long = "a".repeat(3 * 1024 * 1024);
  assertEquals(read(long), text(long));
  assertEquals(read({ content: long }), text(long));
});

Deno.test("readMessage() makes no gigabytes of values out of a large frame", () => {
  assertStringIncludes(
    faultOf(`{"type":"ping","x":[${"{},".repeat(1_000_000)}{}]}`).message,
    "An envelope must be JSON of at most",
  );
  assertStringIncludes(
    faultOf(`{"type":"message","chat_id":"a","content":"x","media":[${"0,".repeat(90_000)}0]}`)
      .message,
    "media has 90001 items",
  );
  assertEquals(read("[".repeat(2_000_000)).kind, "text");
  assertEquals(read('{"a":'.repeat(200_000)).kind, "text");
});

Deno.test("readMessage() is total", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json(), fc.object()), (value) => {
    assert(["envelope", "text", "nothing", "fault"].includes(read(value).kind));
  }));
  fc.assert(fc.property(fc.uint8Array(), (binary) => {
    assert(["text", "nothing", "fault"].includes(readMessage({ binary }).kind));
  }));
});
