import { assertEquals } from "@std/assert";
import { imageType } from "./image_type.ts";

const HEADS: Record<string, number[]> = {
  "image/png": [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  "image/jpeg": [0xff, 0xd8, 0xff],
  "image/gif": [0x47, 0x49, 0x46, 0x38, 0x39, 0x61],
  "image/webp": [0x52, 0x49, 0x46, 0x46, 1, 2, 3, 4, 0x57, 0x45, 0x42, 0x50],
};

for (const [type, head] of Object.entries(HEADS)) {
  Deno.test(`imageType() knows ${type} by its first bytes, all of them`, () => {
    assertEquals(imageType(new Uint8Array([...head, 9, 9])), type);
    assertEquals(imageType(new Uint8Array(head)), type);
    assertEquals(imageType(new Uint8Array(head.slice(0, -1))), undefined);
  });
}

Deno.test("imageType() knows nothing else", () => {
  for (
    const text of [
      "",
      "hello",
      "<svg xmlns='http://www.w3.org/2000/svg'/>",
      "%PDF-",
      "RIFF1234WAVE",
    ]
  ) {
    assertEquals(imageType(new TextEncoder().encode(text)), undefined);
  }
});
