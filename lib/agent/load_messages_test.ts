import { assertEquals, assertStrictEquals } from "@std/assert";
import { loadMessages, promptParts } from "./load_messages.ts";
import type { Message } from "./messages.ts";

const file = { sha256: "ab", bytes: 3 };
const media = (bytes?: Uint8Array) => ({ read: () => Promise.resolve(bytes) });

Deno.test("loadMessages() hands text on as it is", async () => {
  const messages: Message[] = [
    { role: "user", parts: [{ type: "text", text: "hi" }] },
    { role: "assistant", text: "ho", calls: [] },
  ];
  assertStrictEquals(await loadMessages(messages, media()), messages);
});

Deno.test("loadMessages() reads images, puts documents under their names and says what is gone", async () => {
  const messages: Message[] = [{
    role: "user",
    parts: [
      { type: "text", text: "look" },
      { type: "image", mediaType: "image/png", file },
      { type: "image", mediaType: "image/gif", data: "R0lG" },
      { type: "document", name: "a.pdf", mediaType: "application/pdf", file, text: "one\ntwo" },
    ],
  }];
  const text = { type: "text" as const, text: "look" };
  const old = { type: "image" as const, mediaType: "image/gif", data: "R0lG" };
  const document = { type: "text" as const, text: "[file: a.pdf]\none\ntwo" };
  assertEquals(await loadMessages(messages, media(new Uint8Array([1, 2, 3]))), [{
    role: "user",
    parts: [text, { type: "image", mediaType: "image/png", data: "AQID" }, old, document],
  }]);
  assertEquals(await loadMessages(messages, media(undefined)), [{
    role: "user",
    parts: [
      text,
      { type: "text", text: "[An image (image/png) stood here; its file is gone.]" },
      old,
      document,
    ],
  }]);
});

Deno.test("promptParts() gives what a message says without keeping anything", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  assertEquals(
    promptParts([
      { type: "image", mediaType: "image/png", bytes },
      { type: "document", name: "n.txt", mediaType: "text/plain", bytes, text: "t" },
    ]),
    [
      { type: "image", mediaType: "image/png", data: "AQID" },
      { type: "text", text: "[file: n.txt]\nt" },
    ],
  );
});
