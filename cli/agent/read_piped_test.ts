import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { MAX_PIPED_BYTES, readPiped } from "./read_piped.ts";

const noNote = () => {
  throw new Error("noted");
};

Deno.test("readPiped() reads to the end, characters split between chunks included", async () => {
  const bytes = new TextEncoder().encode("héllo 😀\n");
  const stdin = ReadableStream.from([...bytes].map((byte) => new Uint8Array([byte])));
  assertEquals(await readPiped({ stdin, onWait: noNote }), "héllo 😀\n");
});

Deno.test("readPiped() accepts exactly the limit and refuses a byte more without reading on", async () => {
  const whole = new Uint8Array(MAX_PIPED_BYTES).fill(97);
  const text = await readPiped({ stdin: ReadableStream.from([whole]), onWait: noNote });
  assertEquals(text.length, MAX_PIPED_BYTES);

  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(1024 * 1024).fill(97));
    },
  });
  const error = await assertRejects(
    () => readPiped({ stdin: endless, onWait: noNote }),
    ServiceError,
  );
  assertEquals([error.code, error.details.param], ["too_large", "stdin"]);
  assertEquals(pulled < 15, true);
});

Deno.test("readPiped() says that it waits, and goes on waiting", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const noted = Promise.withResolvers<void>();
  const text = readPiped({ stdin: readable, onWait: () => noted.resolve(), noteAfterMs: 1 });
  await noted.promise;
  const writer = writable.getWriter();
  await writer.write(new TextEncoder().encode("late"));
  await writer.close();
  assertEquals(await text, "late");
});

Deno.test("readPiped() refuses what is no text, and tells why it cannot read", async () => {
  const binary = ReadableStream.from([new Uint8Array([80, 75, 0, 4])]);
  const refused = await assertRejects(
    () => readPiped({ stdin: binary, onWait: noNote }),
    ServiceError,
    "--file",
  );
  assertEquals(refused.code, "unsupported_media_type");
  const broken = new ReadableStream<Uint8Array>({
    pull: () => Promise.reject(new Error("Is a directory")),
  });
  await assertRejects(
    () => readPiped({ stdin: broken, onWait: noNote }),
    ServiceError,
    "Cannot read standard input: Is a directory; --no-stdin",
  );
});
