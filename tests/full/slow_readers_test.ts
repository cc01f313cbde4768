import { createHash } from "node:crypto";
import { assert, assertEquals } from "@std/assert";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome } from "../support/home.ts";
import { HAS_PROC, residentBytes, untilIdle } from "../support/process_facts.ts";
import { jsonPost, RawSocket } from "../support/raw_socket.ts";
import { needs } from "../support/needs.ts";
import { FULL_RUN } from "../support/rounds.ts";

const READERS = 100;
/** Of each step of the answer: one alone would fit into what the sockets hold. */
const PIECES = 2_000;
const PIECE_CHARS = 2_000;
const STEPS = 3;
const MEBIBYTE = 1024 * 1024;

/** Told apart by its number, and long, so that an answer is more than what sockets hold. */
function pieceOf(index: number): string {
  return `${index} `.padStart(PIECE_CHARS, ".");
}

/** Takes a chunked body apart as it comes, without keeping it. */
class ChunkedBody {
  readonly hash = createHash("sha256");
  bytes = 0;
  tail = "";
  ended = false;
  #left = 0;
  #line = "";
  #inData = false;

  take(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && !this.ended;) {
      if (this.#left > 0) {
        const data = bytes.subarray(at, at + this.#left);
        this.#left -= data.length;
        at += data.length;
        if (this.#inData) this.#keep(data);
        if (this.#left === 0 && this.#inData) {
          this.#inData = false;
          this.#left = 2;
        }
        continue;
      }
      this.#line += String.fromCharCode(bytes[at++]!);
      if (!this.#line.endsWith("\r\n")) continue;
      this.#left = Number.parseInt(this.#line, 16);
      this.#line = "";
      this.#inData = true;
      this.ended = this.#left === 0;
    }
  }

  #keep(data: Uint8Array): void {
    this.hash.update(data);
    this.bytes += data.length;
    this.tail = (this.tail + new TextDecoder().decode(data.subarray(-200))).slice(-200);
  }
}

Deno.test(
  needs(
    "W13 a hundred slow readers of a fast stream cost bounded memory, delay nobody, and get all of it",
    FULL_RUN,
  ),
  async () => {
    const texts = Array.from(
      { length: STEPS },
      (_, step) => Array.from({ length: PIECES }, (_, index) => pieceOf(step * PIECES + index)),
    );
    await using model = startModelServer({
      script: [
        ...texts.slice(0, -1).map((text) => ({ text, calls: [{ tool: "list_files", args: {} }] })),
        { text: texts.at(-1) },
        { text: "quick" },
      ],
    });
    await using home = await makeHome({
      agent: { model: "local/fake", contextTokens: 10_000_000 },
      providers: { local: { baseUrl: model.baseUrl } },
    });
    await using service = await home.start();
    const post = (session_id: string, more = {}, headers = {}) =>
      jsonPost(
        "/v1/chat/completions",
        { messages: [{ role: "user", content: "go on" }], session_id, ...more },
        headers,
      );

    /** Someone else, whose turn has to be answered whatever the others do. */
    async function askQuickly(session: string): Promise<void> {
      using socket = await RawSocket.open(service.apiUrl);
      await socket.send(post(session, {}, { connection: "close" }));
      const { status, body } = await socket.answer();
      assertEquals([status, JSON.parse(body).choices[0].message.content], [200, "quick"]);
    }

    /** Opens a stream and reads no more than that it is there. */
    async function beginReading(): Promise<Deno.TcpConn> {
      const port = Number(new URL(service.apiUrl).port);
      const socket = await Deno.connect({ hostname: "127.0.0.1", port });
      const request = post("slow", { stream: true }, { "idempotency-key": "k" });
      await socket.write(new TextEncoder().encode(request));
      const head = new Uint8Array(15);
      assert(await socket.read(head) !== null);
      assertEquals(new TextDecoder().decode(head), "HTTP/1.1 200 OK");
      return socket;
    }

    // One turn, so that the model is asked once: repeats of a key read it from its beginning.
    const readers = [await beginReading()];
    readers.push(...await Promise.all(Array.from({ length: READERS - 1 }, beginReading)));
    try {
      // The model has said everything, and the turn is over, while nobody has read on.
      for (let step = 0; step < STEPS; step++) {
        const request = await model.request(step);
        await request.closed;
        assertEquals(request.aborted, false);
      }
      await untilIdle(home);
      const unreadMiB = Math.round(READERS * STEPS * PIECES * PIECE_CHARS / MEBIBYTE);
      if (HAS_PROC) {
        const heldMiB = Math.round(await residentBytes(service.pid) / MEBIBYTE);
        assert(heldMiB < 550, `it holds ${heldMiB} MiB for readers of about ${unreadMiB} MiB`);
      }
      await askQuickly("before");

      const bodies = await Promise.all(readers.map(async (socket, index) => {
        const body = new ChunkedBody();
        const chunk = new Uint8Array(256 * 1024);
        let head = "";
        let asked = false;
        while (!body.ended) {
          const count = await socket.read(chunk);
          assert(
            count !== null,
            `the stream of reader ${index} broke off after ${body.bytes} bytes`,
          );
          let from = 0;
          if (!head.endsWith("\r\n\r\n")) {
            while (from < count && !head.endsWith("\r\n\r\n")) {
              head += String.fromCharCode(chunk[from++]!);
            }
          }
          body.take(chunk.subarray(from, count));
          // Others are answered while these read as fast as they can.
          if (index === 0 && body.bytes > 0 && !asked) {
            asked = true;
            await askQuickly("during");
          }
        }
        return body;
      }));
      const hashes = new Set(bodies.map(({ hash }) => hash.digest("hex")));
      assertEquals(hashes.size, 1, "all read the same");
      assert(bodies[0]!.bytes > PIECES * PIECE_CHARS);
      assert(bodies[0]!.tail.endsWith("data: [DONE]\n\n"), bodies[0]!.tail);
    } finally {
      for (const socket of readers) socket.close();
    }
    const repeat = await fetch(`${service.apiUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "k" },
      body: JSON.stringify({
        messages: [{ role: "user", content: "go on" }],
        session_id: "slow",
        stream: true,
      }),
    });
    const chunks = (await repeat.text()).split("\n\n").filter((line) => line.startsWith("data: {"));
    const said = chunks.map((line) => JSON.parse(line.slice(6)).choices[0].delta.content ?? "");
    // No assertEquals: it would print megabytes.
    assert(said.join("") === texts.map((step) => step.join("")).join("\n\n"), "other text came");
    assertEquals(model.requests.length, STEPS + 2);
  },
);
