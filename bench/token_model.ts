// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * A model server that sends every token by itself, as real ones do: one chunk, one write, and the
 * next one when the socket took it, or so many milliseconds after the last one. Its cost is small, so
 * that it is not what a bench measures.
 *
 * `deno run -A bench/token_model.ts <tokens> [<ms>]`; the first line is its base URL.
 *
 * @module
 */

import { CHAT } from "../tests/fakes/wire_chat.ts";
import { answerOf } from "../tests/fakes/model_behaviour.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const tokens = Number(Deno.args[0]!);
const everyMs = Number(Deno.args[1] ?? 0);
const answer = answerOf({ text: Array.from({ length: tokens }, () => "hi") });
const HEAD = encoder.encode(
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
);
const END = encoder.encode("0\r\n\r\n");
const chunks = CHAT.events(answer, { model: "fake", includeUsage: true }).map((event) => {
  const bytes = encoder.encode(event);
  return encoder.encode(`${bytes.length.toString(16)}\r\n${event}\r\n`);
});

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
console.log(`http://127.0.0.1:${listener.addr.port}/v1`);
for await (const connection of listener) serve(connection).catch(() => {});

async function serve(connection: Deno.TcpConn): Promise<void> {
  using _closed = connection;
  connection.setNoDelay(true);
  for (let rest: string | undefined = "";;) {
    rest = await readRequest(connection, rest);
    if (rest === undefined) return;
    await write(connection, HEAD);
    const startedAt = performance.now();
    for (const [index, chunk] of chunks.entries()) {
      const leftMs = startedAt + index * everyMs - performance.now();
      if (everyMs > 0 && leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
      await write(connection, chunk);
    }
    await write(connection, END);
  }
}

/** Reads a request to its end and returns what came behind it; undefined when there is none. */
async function readRequest(connection: Deno.Conn, received: string): Promise<string | undefined> {
  const buffer = new Uint8Array(16 * 1024);
  for (;;) {
    const headEnd = received.indexOf("\r\n\r\n");
    if (headEnd >= 0) {
      const length = Number(received.match(/^content-length: *(\d+)/im)?.[1] ?? 0);
      // Requests of the benches are ASCII, so that characters are bytes.
      if (received.length >= headEnd + 4 + length) return received.slice(headEnd + 4 + length);
    }
    const read = await connection.read(buffer);
    if (read === null) return undefined;
    received += decoder.decode(buffer.subarray(0, read));
  }
}

async function write(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
