import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ServiceError } from "../../../lib/base/errors.ts";
import { readMedia } from "./read_media.ts";

const MIB = 1024 * 1024;
const url = (bytes: number) => `data:image/png;base64,${new Uint8Array(bytes).toBase64()}`;

Deno.test("readMedia() gives the files with a name each", () => {
  assertEquals(readMedia([]), []);
  assertEquals(
    readMedia([
      { data_url: "data:text/plain;base64,aGk=", name: "a.txt" },
      { data_url: "DATA:;charset=utf-8; BASE64 ,aG k=\n" },
    ]),
    [
      { name: "a.txt", bytes: new TextEncoder().encode("hi") },
      { name: "file-2", bytes: new TextEncoder().encode("hi") },
    ],
  );
});

Deno.test("readMedia() takes 4 files, 8 MiB each and 24 MiB together, and not a byte more", () => {
  assertEquals(readMedia([8, 8, 8].map((size) => ({ data_url: url(size * MIB) }))).length, 3);
  assertEquals(readMedia([1, 1, 1, 1].map((size) => ({ data_url: url(size) }))).length, 4);
  const cases: [string[], string, string][] = [
    [Array(5).fill(url(1)), "invalid_request", "at most 4"],
    [[url(1), url(8 * MIB + 1)], "too_large", "media[1].data_url has 8388609 bytes"],
    [[...Array(3).fill(url(8 * MIB)), url(1)], "too_large", "media has 25165825 bytes"],
  ];
  for (const [urls, code, words] of cases) {
    const error = assertThrows(
      () => readMedia(urls.map((data_url) => ({ data_url }))),
      ServiceError,
    );
    assertEquals(error.code, code);
    assertStringIncludes(error.message, words);
  }
});

Deno.test("readMedia() refuses all for one item that is wrong, and names it", () => {
  const bad = [
    "",
    "data:",
    "data:,",
    "data:text/plain,hi",
    "https://example.com/a.png",
    "data:text/plain;base64",
    "data:text/plain;base64,",
    "data:text/plain;base64,a",
    "data:text/plain;base64,%%%%",
    `data:${"x".repeat(300)};base64,aGk=`,
  ];
  for (const data_url of bad) {
    const error = assertThrows(() => readMedia([{ data_url: url(1) }, { data_url }]), ServiceError);
    assertEquals([error.code, error.details.param], ["invalid_request", "media[1].data_url"]);
  }
});
