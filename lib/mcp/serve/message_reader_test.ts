import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { INVALID_REQUEST, PARSE_ERROR, type ReadMessage, readMessages } from "./message_reader.ts";

/** Everything that is read of bytes which come in pieces. */
async function readAll(bytes: Uint8Array, sizes: number[], maxBytes: number) {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      let at = 0;
      for (const size of [...sizes, bytes.length]) {
        controller.enqueue(bytes.slice(at, at + size));
        at += size;
      }
      controller.close();
    },
  });
  const read: ReadMessage[] = [];
  for await (const one of readMessages(stream, maxBytes)) read.push(one);
  return read;
}

Deno.test("readMessages() reads each line alone, however the bytes are cut into pieces", async () => {
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const line = fc.oneof(
    fc.constant({ text: JSON.stringify(ping), is: "message" }),
    fc.constant({ text: `${JSON.stringify({ ...ping, id: "ä€" })}\r`, is: "message" }),
    fc.constant({ text: "{", is: PARSE_ERROR }),
    fc.constant({ text: `[${JSON.stringify(ping)}]`, is: INVALID_REQUEST }),
    fc.constant({ text: "x".repeat(101), is: INVALID_REQUEST }),
    fc.constant({ text: "", is: undefined }),
  );
  await fc.assert(fc.asyncProperty(
    fc.array(line, { maxLength: 8 }),
    fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 20 }),
    async (lines, sizes) => {
      const bytes = new TextEncoder().encode(lines.map(({ text }) => `${text}\n`).join(""));
      const read = await readAll(bytes, sizes, 100);
      assertEquals(
        read.map((one) => "message" in one ? "message" : one.code),
        lines.map(({ is }) => is).filter((is) => is !== undefined),
      );
    },
  ));
});

Deno.test("readMessages() passes over a last line without its end", async () => {
  const bytes = new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  assertEquals(await readAll(bytes, [], 100), []);
});
