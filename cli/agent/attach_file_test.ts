import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { MAX_FILE_BYTES } from "../../lib/contract/documents.ts";
import { attachFile } from "./attach_file.ts";

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

Deno.test("attachFile() gives the bytes of any file under the path as it was typed", async () => {
  assertEquals(await attachFile("a/notes.md", opening("# Not", "es\n")), {
    type: "file",
    name: "a/notes.md",
    data: btoa("# Notes\n"),
  });
  const binary = new Uint8Array([0, 0xff, 0x25]);
  assertEquals((await attachFile("x", opening(binary))).data, binary.toBase64());
});

Deno.test("attachFile() accepts exactly the limit and stops reading beyond it", async () => {
  const whole = new Uint8Array(MAX_FILE_BYTES).fill(97);
  assertEquals((await attachFile("big", opening(whole))).data, whole.toBase64());
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
    assertEquals((await attachFile(`${dir}/real`)).data, btoa("hello"));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
