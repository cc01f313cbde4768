import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "../../errors.ts";
import { imageType, MAX_FILE_BYTES, readImage } from "./image_part.ts";

const PARAM = "messages[0].content[0].image_url.url";

function refusal(url: string): ServiceError {
  const error = assertThrows(() => readImage(url, PARAM), ServiceError);
  assertEquals(error.details.param, PARAM);
  return error;
}

const HEADS: Record<string, number[]> = {
  "image/png": [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  "image/jpeg": [0xff, 0xd8, 0xff, 0xe0],
  "image/gif": [0x47, 0x49, 0x46, 0x38, 0x39, 0x61],
  "image/webp": [0x52, 0x49, 0x46, 0x46, 1, 2, 3, 4, 0x57, 0x45, 0x42, 0x50],
};

for (const [type, head] of Object.entries(HEADS)) {
  Deno.test(`readImage() knows ${type} by its bytes, whatever is declared`, () => {
    const data = new Uint8Array([...head, 9, 9, 9]).toBase64();
    for (const declared of ["image/png", "image/jpeg", "text/plain", "", "x/y;charset=utf-8"]) {
      assertEquals(readImage(`data:${declared};base64,${data}`, PARAM), {
        part: { type: "image", mediaType: type, data },
        bytes: head.length + 3,
      });
    }
    assertEquals(
      imageType(new Uint8Array(head.slice(0, -1))),
      type === "image/jpeg" ? type : undefined,
    );
  });
}

Deno.test("readImage() gives base64 in its plain form", () => {
  const bytes = new Uint8Array([...HEADS["image/png"]!, 1, 2]);
  const plain = bytes.toBase64();
  const folded = plain.replace(/(.{4})/g, "$1\r\n");
  assertEquals(readImage(`data:image/png;base64,${folded}`, PARAM).part.data, plain);
  const bare = plain.replace(/=+$/, "");
  assertEquals(readImage(`DATA:image/png;BASE64,${bare}`, PARAM).part.data, plain);
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
  Deno.test(`readImage() refuses the URL "${url}" as unsupported_image_url`, () => {
    assertEquals(refusal(url).code, "unsupported_image_url");
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
  ]
) {
  Deno.test(`readImage() refuses "${url}" as invalid_request`, () => {
    assertEquals(refusal(url).code, "invalid_request");
  });
}

Deno.test("readImage() refuses what is no image by its bytes", () => {
  for (const text of ["", "hello", "<svg xmlns='http://www.w3.org/2000/svg'/>", "%PDF-1.7"]) {
    assertEquals(refusal(`data:image/png;base64,${btoa(text)}`).code, "unsupported_media_type");
  }
});

Deno.test("readImage() accepts exactly 10 MiB and not a byte more", () => {
  const bytes = new Uint8Array(MAX_FILE_BYTES + 1);
  bytes.set(HEADS["image/png"]!);
  const exact = bytes.subarray(0, MAX_FILE_BYTES).toBase64();
  assertEquals(readImage(`data:image/png;base64,${exact}`, PARAM).bytes, MAX_FILE_BYTES);
  assertEquals(refusal(`data:image/png;base64,${bytes.toBase64()}`).code, "too_large");
  const huge = "A".repeat(20 * 1024 * 1024);
  assertEquals(refusal(`data:image/png;base64,${huge}`).code, "too_large");
});
