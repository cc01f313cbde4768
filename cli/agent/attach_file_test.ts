import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/errors.ts";
import { attachFile, fileText, imageType, MAX_FILE_BYTES, MAX_FILE_CHARS } from "./attach_file.ts";

/** Opens one file with these bytes. */
function opening(...chunks: (Uint8Array | string)[]) {
  const encoder = new TextEncoder();
  return () =>
    Promise.resolve({
      readable: ReadableStream.from(
        chunks.map((chunk) => typeof chunk === "string" ? encoder.encode(chunk) : chunk),
      ),
    });
}

async function refusal(path: string, ...chunks: (Uint8Array | string)[]): Promise<ServiceError> {
  return await assertRejects(() => attachFile(path, opening(...chunks)), ServiceError);
}

Deno.test("attachFile() gives text under a header with the file's name", async () => {
  assertEquals(await attachFile("a/notes.md", opening("# Not", "es\n")), {
    type: "text",
    text: "[file: a/notes.md]\n# Notes\n",
  });
});

Deno.test("attachFile() knows images by their bytes, not their name", async () => {
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]);
  assertEquals(await attachFile("photo.txt", opening(png)), {
    type: "image",
    mediaType: "image/png",
    data: "iVBORw0KGgoA",
  });
  assertEquals((await attachFile("fake.png", opening("text"))).type, "text");
  const ascii = (text: string) => new TextEncoder().encode(text);
  assertEquals(imageType(new Uint8Array([0xff, 0xd8, 0xff, 0xe0])), "image/jpeg");
  assertEquals(imageType(ascii("GIF89a...")), "image/gif");
  assertEquals(imageType(ascii("RIFF1234WEBPVP8 ")), "image/webp");
  assertEquals(imageType(ascii("RIFF1234WAVE")), undefined);
  assertEquals(imageType(ascii("RIFF")), undefined);
});

Deno.test("attachFile() refuses documents and binary files, naming file and type", async () => {
  const pdf = await refusal("r.pdf", "%PDF-1.7 all ascii");
  assertEquals([pdf.code, pdf.details.param], ["unsupported_media_type", "file"]);
  assertStringIncludes(pdf.message, `"r.pdf": it is a PDF document`);
  assertStringIncludes((await refusal("x.docx", "PK\x03\x04")).message, "office document");
  assertStringIncludes((await refusal("x", "ELF\0")).message, "binary file of an unknown type");
  assertStringIncludes((await refusal("l1", new Uint8Array([0x63, 0xe9]))).message, "binary file");
});

Deno.test("attachFile() accepts exactly the limit and stops reading beyond it", async () => {
  const whole = new Uint8Array(MAX_FILE_BYTES).fill(97);
  assertEquals((await attachFile("big", opening(whole))).type, "text");
  const error = await refusal("big", whole, "b");
  assertEquals(error.code, "too_large");
  let pulled = 0;
  const endless = () =>
    Promise.resolve({
      readable: new ReadableStream<Uint8Array>({
        pull(controller) {
          pulled++;
          controller.enqueue(new Uint8Array(1024 * 1024));
        },
      }),
    });
  await assertRejects(() => attachFile("/dev/zero", endless), ServiceError, "larger than");
  assertEquals(pulled < 15, true);
});

Deno.test("attachFile() tells what is wrong with a path", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const missing = await assertRejects(() => attachFile(`${dir}/none`), ServiceError);
    assertEquals(missing.code, "not_found");
    assertStringIncludes(missing.message, `${dir}/none`);
    const folder = await assertRejects(() => attachFile(dir), ServiceError, "Cannot read");
    assertEquals(folder.code, "invalid_request");
    await Deno.writeTextFile(`${dir}/empty`, "");
    await assertRejects(() => attachFile(`${dir}/empty`), ServiceError, "is empty");
    await Deno.writeTextFile(`${dir}/real`, "hello");
    assertEquals((await attachFile(`${dir}/real`)).type, "text");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("fileText() cuts a long text, says how much, and never inside a character", () => {
  const exact = "x".repeat(MAX_FILE_CHARS);
  assertEquals(fileText("n", exact), `[file: n]\n${exact}`);
  assertEquals(
    fileText("n", exact + "yz"),
    `[file: n]\n${exact}\n[2 of 200002 characters were left out]`,
  );
  const split = "x".repeat(MAX_FILE_CHARS - 1) + "😀";
  assertEquals(
    fileText("n", split),
    `[file: n]\n${"x".repeat(MAX_FILE_CHARS - 1)}\n[2 of 200001 characters were left out]`,
  );
});

Deno.test("fileText() keeps the header one line, whatever the name", () => {
  assertEquals(fileText("a]\n[file: b", "text").split("\n").length, 2);
});
