import { assert, assertEquals } from "@std/assert";
import { makeHome } from "../support/home.ts";
import { HAS_PROC, residentBytes, until } from "../support/process_facts.ts";
import { jsonPost, type RawAnswer, RawSocket } from "../support/raw_socket.ts";
import { needs } from "../support/needs.ts";
import { FULL_RUN } from "../support/rounds.ts";

const CLIENTS = 24;
const MEBIBYTE = 1024 * 1024;
/** Of each body, which ends a byte later than it is sent. */
const BODY_BYTES = 80 * MEBIBYTE;

const HEAD = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n" +
  "Content-Type: application/json\r\n";
const BLANKS = new Uint8Array(MEBIBYTE).fill(0x20);

/** Sends all of a body but its last byte. Resolves with the refusal, if it is refused before. */
async function hold(socket: RawSocket, chunked: boolean): Promise<RawAnswer | undefined> {
  const framing = chunked
    ? "Transfer-Encoding: chunked\r\n"
    : `Content-Length: ${BODY_BYTES + 1}\r\n`;
  await socket.send(`${HEAD}${framing}\r\n`);
  const sending = (async () => {
    for (let sent = 0; sent < BODY_BYTES; sent += BLANKS.length) {
      if (chunked) await socket.send(`${BLANKS.length.toString(16)}\r\n`);
      if (!await socket.send(BLANKS)) return await new Promise<never>(() => {});
      if (chunked) await socket.send("\r\n");
    }
    return undefined;
  })();
  return await Promise.race([sending, socket.answer()]);
}

Deno.test(
  needs(
    "W13 clients that hold large bodies open cost bounded memory, and keep small requests from nobody",
    FULL_RUN,
  ),
  async () => {
    await using home = await makeHome({});
    await using service = await home.start();
    const before = HAS_PROC ? await residentBytes(service.pid) : 0;
    const sockets = await Promise.all(
      Array.from({ length: CLIENTS }, () => RawSocket.open(service.apiUrl)),
    );
    const held = sockets.map((socket, index) => hold(socket, index % 2 === 0));
    let refused = 0;
    for (const answer of await Promise.all(held)) {
      if (answer === undefined) continue;
      refused++;
      assertEquals(answer.status, 503);
      assertEquals(JSON.parse(answer.body).error.code, "overloaded");
      assert(Number(answer.headers.get("retry-after")) > 0);
    }
    assert(refused > 0, "there is a bound");
    if (HAS_PROC) {
      const grownMiB = Math.round((await residentBytes(service.pid) - before) / MEBIBYTE);
      const sentMiB = CLIENTS * BODY_BYTES / MEBIBYTE;
      assert(grownMiB < sentMiB * 0.6, `it holds ${grownMiB} MiB of ${sentMiB}`);
    }
    const ask = async (content: string) => {
      using socket = await RawSocket.open(service.apiUrl);
      await socket.send(
        jsonPost("/v1/chat/completions", { messages: [{ role: "user", content }] }),
      );
      return (await socket.answer()).status;
    };
    assertEquals(await ask("hi"), 200);

    for (const socket of sockets) socket.close();
    // The room that they took is free again, as soon as it was noticed that they left.
    await until(async () => {
      using late = await RawSocket.open(service.apiUrl);
      return await hold(late, true) === undefined;
    });
  },
);
