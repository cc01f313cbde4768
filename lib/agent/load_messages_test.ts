import { assertEquals, assertStrictEquals } from "@std/assert";
import { loadMessages, MAX_IMAGE_BYTES, promptParts } from "./load_messages.ts";
import type { Message } from "../contract/messages.ts";
import { fileText } from "./prompt_text.ts";

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
  const document = { type: "text" as const, text: fileText("a.pdf", "one\ntwo") };
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

Deno.test("loadMessages() marks what is not in the person's own words", async () => {
  const parts = [
    {
      type: "text" as const,
      text: "In reply to Bob:\nsee",
      provenance: "quoted" as const,
      from: "B]ob\n",
    },
    { type: "text" as const, text: "what is it?" },
  ];
  const [message] = await loadMessages([{ role: "user", parts }], media());
  assertEquals(message, {
    role: "user",
    parts: [
      { type: "text", text: "[quoted, from B ob]\n> In reply to Bob:\n> see" },
      { type: "text", text: "what is it?" },
    ],
  });
});

Deno.test("loadMessages() leaves the oldest images out of a request that would be too long, unread", async () => {
  const image = (sha256: string, bytes: number) => ({
    type: "image" as const,
    mediaType: "image/png",
    file: { sha256, bytes },
  });
  const large = MAX_IMAGE_BYTES / 2;
  const messages: Message[] = [
    { role: "user", parts: [image("a", 1), image("b", large)] },
    { role: "assistant", text: "seen", calls: [] },
    { role: "user", parts: [image("c", large - 1), image("d", 1)] },
  ];
  const read: string[] = [];
  const all = (await loadMessages(messages, {
    read(sha256) {
      read.push(sha256);
      return Promise.resolve(new Uint8Array([1, 2, 3]));
    },
  })).flatMap((message) => message.role === "user" ? message.parts : []);
  assertEquals(read, ["b", "c", "d"]);
  assertEquals(all.map(({ type }) => type), ["text", "image", "image", "image"]);
  assertEquals(all[0], {
    type: "text",
    text: "[An image (image/png) stood here; it is left out to make room for newer ones.]",
  });
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
      { type: "text", text: fileText("n.txt", "t") },
    ],
  );
});
