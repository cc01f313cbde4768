import { assertEquals, assertRejects } from "@std/assert";
import { keepInput } from "./keep_input.ts";
import { memoryMedia } from "./testing/memory_media.ts";

const image = (byte: number) => ({
  type: "image" as const,
  mediaType: "image/png",
  bytes: new Uint8Array([byte]),
});

Deno.test("keepInput() puts files into the folder and holds them until it is told", async () => {
  const media = memoryMedia();
  const kept = await keepInput([{ type: "text", text: "hi" }, image(1), image(1)], media);
  const [text, first, second] = kept.parts;
  assertEquals(text, { type: "text", text: "hi" });
  assertEquals(first, second);
  const [sha256] = media.files.keys();
  assertEquals(first, {
    type: "image",
    mediaType: "image/png",
    file: { sha256: sha256!, bytes: 1 },
  });
  assertEquals(media.held.length, 2);
  await kept.release();
  assertEquals(media.held.length, 0);
});

Deno.test("keepInput() holds nothing when one file cannot be kept", async () => {
  const media = memoryMedia();
  const hold = (bytes: Uint8Array) =>
    bytes[0] === 2 ? Promise.reject(new Error("disk full")) : media.hold(bytes);
  await assertRejects(() => keepInput([image(1), image(2)], { hold }), Error, "disk full");
  assertEquals(media.held, []);
});
