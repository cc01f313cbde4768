import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { pictureSize } from "./picture_size.ts";

const ascii = (text: string) => [...text].map((character) => character.charCodeAt(0));

Deno.test("pictureSize() reads PNG, GIF, JPEG and the kinds of WebP", () => {
  const png = [0x89, ...ascii("PNG"), 13, 10, 26, 10, 0, 0, 0, 13, ...ascii("IHDR")];
  const jpeg = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC4, 0, 2];
  const webp = (kind: string, rest: number[]) => [
    ...ascii("RIFF"),
    ...[0, 0, 0, 0],
    ...ascii(`WEBP${kind}`),
    ...rest,
  ];
  const pictures: readonly (readonly [number[], number, number])[] = [
    [[...png, 0, 0, 1, 0x40, 0, 0, 0, 0xF0], 320, 240],
    [[...ascii("GIF89a"), 0x40, 1, 0xF0, 0], 320, 240],
    [[...jpeg, 0xFF, 0xC2, 0, 17, 8, 0, 0xF0, 1, 0x40], 320, 240],
    [webp("VP8X", [10, 0, 0, 0, 0, 0, 0, 0, 0x3F, 1, 0, 0xEF, 0, 0]), 320, 240],
    [webp("VP8L", [0, 0, 0, 0, 0x2F, 0x3F, 0xC1, 0x3B, 0]), 320, 240],
    [webp("VP8 ", [0, 0, 0, 0, 0, 0, 0, 0x9D, 1, 0x2A, 0x40, 1, 0xF0, 0]), 320, 240],
  ];
  for (const [bytes, width, height] of pictures) {
    assertEquals(pictureSize(new Uint8Array(bytes)), { width, height }, bytes.join());
  }
});

Deno.test("pictureSize() is undefined for anything else, and never throws", () => {
  const starts = [
    [],
    [0x89, ...ascii("PNG")],
    [0xFF, 0xD8],
    ascii("GIF"),
    ascii("RIFF....WEBPVP8X"),
  ];
  fc.assert(
    fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 40 }), (start, rest) => {
      const size = pictureSize(new Uint8Array([...start, ...rest]));
      if (size !== undefined) assertEquals(size.width > 0 && size.height > 0, true);
    }),
  );
  assertEquals(pictureSize(new TextEncoder().encode("just a text of some length")), undefined);
});
