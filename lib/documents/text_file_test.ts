import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { decodeText } from "./text_file.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

function utf16(text: string, littleEndian: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 + 2 * text.length));
  [0xfeff, ...Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))]
    .forEach((unit, at) => view.setUint16(2 * at, unit, littleEndian));
  return new Uint8Array(view.buffer);
}

/** Text that a file may hold: no control characters but white space. */
const prose = fc.string({ unit: "grapheme" }).map((text) =>
  text.replace(/[\p{Cc}\ufeff]/gu, " ") + "\t\r\n"
);

Deno.test("decodeText() reads UTF-8 and UTF-16 with and without what marks them", () => {
  fc.assert(fc.property(prose, (text) => {
    assertEquals(decodeText(utf8(text)), text);
    assertEquals(decodeText(utf8(`\ufeff${text}`)), text);
    assertEquals(decodeText(utf16(text, true)), text);
    assertEquals(decodeText(utf16(text, false)), text);
  }));
});

Deno.test("decodeText() reads Latin-1 and windows-1252", () => {
  assertEquals(decodeText(new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x0a])), "café\n");
  assertEquals(decodeText(new Uint8Array([0x80, 0x20, 0x93, 0x68, 0x69, 0x94])), "€ “hi”");
});

Deno.test("decodeText() keeps the escapes of a terminal in UTF-8, as logs have them", () => {
  assertEquals(decodeText(utf8("\x1b[31mred\x1b[0m")), "\x1b[31mred\x1b[0m");
});

for (
  const [name, bytes] of [
    ["NUL in UTF-8", utf8("a\0b")],
    ["an executable", new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0])],
    ["gzip", new Uint8Array([0x1f, 0x8b, 0x08, 0xff, 0xe9])],
    ["a zip archive", new Uint8Array([0x50, 0x4b, 3, 4, 0xff])],
    ["an old office document", new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])],
    ["bytes that windows-1252 has no letters for", new Uint8Array([0x61, 0x81, 0x8d])],
    ["UTF-16 without its mark", utf16("hello", true).subarray(2)],
    ["half a letter of UTF-16", new Uint8Array([0xff, 0xfe, 0x61])],
    ["half a pair of UTF-16", new Uint8Array([0xff, 0xfe, 0x00, 0xd8])],
    ["UTF-32", new Uint8Array([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
  ] as [string, Uint8Array][]
) {
  Deno.test(`decodeText() takes ${name} for no text`, () => {
    assertEquals(decodeText(bytes), undefined);
  });
}

Deno.test("decodeText() gives a text or nothing for any bytes", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) => {
    const text = decodeText(bytes);
    assertEquals(text?.includes("\0") ?? false, false);
  }));
});
