import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { MAX_FILE_BYTES } from "../../contract/documents.ts";
import { ServiceError } from "../../base/errors.ts";
import { readDataUrl } from "./data_url.ts";

const IMAGE = {
  param: "messages[0].content[0].image_url.url",
  name: "",
  expects: "image",
} as const;
const FILE = { param: "input[0].file_data", name: "a.pdf", expects: "any" } as const;

function refusal(url: string, file: typeof IMAGE | typeof FILE = IMAGE): ServiceError {
  const error = assertThrows(() => readDataUrl(url, file), ServiceError);
  assertEquals(error.details.param, file.param);
  return error;
}

Deno.test("readDataUrl() gives the bytes, whatever type is declared", () => {
  fc.assert(fc.property(fc.uint8Array(), (bytes) => {
    for (const declared of ["image/png", "", "x/y;charset=utf-8", " ; name=a.png "]) {
      const url = `data:${declared};base64,${bytes.toBase64()}`;
      assertEquals(readDataUrl(url, FILE), { ...FILE, bytes });
    }
  }));
});

Deno.test("readDataUrl() takes line breaks, missing padding and any case of the scheme", () => {
  const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]);
  const plain = bytes.toBase64();
  const folded = plain.replace(/(.{4})/g, "$1\r\n");
  assertEquals(readDataUrl(`data:image/png;base64,${folded}`, IMAGE).bytes, bytes);
  const bare = plain.replace(/=+$/, "");
  assertEquals(readDataUrl(`DATA:image/png;BASE64,${bare}`, IMAGE).bytes, bytes);
});

for (
  const url of [
    "https://x.example/cat.png",
    "http://x/",
    "file:///etc/passwd",
    "//x/y.png",
    "",
    "x",
  ]
) {
  Deno.test(`readDataUrl() does not fetch "${url}"`, () => {
    assertEquals(refusal(url).code, "unsupported_image_url");
    assertEquals(refusal(url, FILE).code, "invalid_request");
  });
}

for (
  const url of [
    "data:",
    "data:image/png",
    "data:image/png,abc",
    "data:image/png;base64",
    "data:image/png;base64,a",
    "data:image/png;base64,iVBORw0KGgo=iVBO",
    "data:image/png;base64,iVBORw0K_go=",
    "data:image/png;base64,ä",
    `data:${"x".repeat(300)};base64,AAAA`,
  ]
) {
  Deno.test(`readDataUrl() refuses "${url.slice(0, 40)}" as invalid_request`, () => {
    assertEquals(refusal(url).code, "invalid_request");
    assertEquals(refusal(url, FILE).code, "invalid_request");
  });
}

Deno.test("readDataUrl() accepts exactly 10 MiB and not a byte more, naming the file", () => {
  const bytes = new Uint8Array(MAX_FILE_BYTES + 1);
  const exact = bytes.subarray(0, MAX_FILE_BYTES).toBase64();
  assertEquals(readDataUrl(`data:;base64,${exact}`, FILE).bytes.length, MAX_FILE_BYTES);
  const folded = exact.replace(/(.{76})/g, "$1\r\n");
  assertEquals(readDataUrl(`data:;base64,${folded}`, FILE).bytes.length, MAX_FILE_BYTES);
  const over = refusal(`data:;base64,${bytes.toBase64()}`, FILE);
  assertEquals(over.code, "too_large");
  assertStringIncludes(over.message, '"a.pdf"');
  const huge = "A".repeat(20 * 1024 * 1024);
  assertEquals(refusal(`data:image/png;base64,${huge}`).code, "too_large");
});
