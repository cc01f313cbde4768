import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ServerFrame } from "../../../lib/contract/wire/frames.ts";
import { OutFrame } from "./out_frame.ts";
import { OutQueue } from "./out_queue.ts";

/** The text of an unmasked frame. */
function textOf(wire: Uint8Array): string {
  const short = wire[1]!;
  return new TextDecoder().decode(wire.subarray(short < 126 ? 2 : short === 126 ? 4 : 10));
}

/** A sink whose client reads only when it is told to. */
class Client {
  readonly frames: ServerFrame[] = [];
  readonly #waiting: { bytes: Uint8Array; done?: () => void }[] = [];

  write(bytes: Uint8Array, done?: () => void): void {
    this.#waiting.push({ bytes, done });
  }

  bufferedBytes(): number {
    return this.#waiting.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** Reads so many frames, or all. */
  read(count = Infinity): void {
    for (let at = 0; at < count; at++) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.frames.push(JSON.parse(textOf(next.bytes)));
      next.done?.();
    }
  }
}

function delta(chat: string, seq: number, text: string, stream = "s", seqFrom?: number): OutFrame {
  return new OutFrame({
    event: "delta",
    chat_id: chat,
    turn_id: "t",
    stream_id: stream,
    seq,
    ...seqFrom !== undefined && { seq_from: seqFrom },
    text,
  });
}

function end(chat: string, seq: number): OutFrame {
  return new OutFrame({
    event: "stream_end",
    chat_id: chat,
    turn_id: "t",
    stream_id: "s",
    seq,
    resuming: false,
  });
}

/** Fills what is written without waiting, by frames that never merge. */
function block(queue: OutQueue): void {
  for (let at = 0; at < 32; at++) queue.push(new OutFrame({ event: "pong" }));
}

Deno.test("OutQueue sends at once while the client reads, each piece by itself", () => {
  const client = new Client();
  const queue = new OutQueue(client);
  for (const seq of [1, 2, 3]) assert(queue.push(delta("a", seq, `${seq}`)));
  client.read();
  assertEquals(client.frames.map((frame) => (frame as { seq: number }).seq), [1, 2, 3]);
  assertEquals([queue.frames, queue.bytes], [0, 0]);
});

Deno.test("OutQueue merges the pieces of a stream that wait, with the numbers of all", () => {
  const client = new Client();
  const queue = new OutQueue(client);
  block(queue);
  queue.push(delta("a", 3, "x", "s", 2));
  queue.push(delta("b", 1, "B"));
  queue.push(delta("a", 4, "y"));
  queue.push(delta("a", 7, "z", "s", 5));
  queue.push(end("a", 8));
  queue.push(delta("a", 9, "new", "s2"));
  client.read();
  assertEquals(client.frames.slice(32), [
    {
      event: "delta",
      chat_id: "a",
      turn_id: "t",
      stream_id: "s",
      seq: 7,
      seq_from: 2,
      text: "xyz",
    },
    { event: "delta", chat_id: "b", turn_id: "t", stream_id: "s", seq: 1, text: "B" },
    end("a", 8).frame,
    delta("a", 9, "new", "s2").frame,
  ]);
});

Deno.test("OutQueue merges nothing over another frame of the chat, nor over a gap", () => {
  const client = new Client();
  const queue = new OutQueue(client);
  block(queue);
  const attached = new OutFrame({ event: "attached", chat_id: "a", epoch: "e", last_seq: 0 });
  const frames = [delta("a", 1, "x"), attached, delta("a", 2, "y"), delta("a", 4, "z")];
  for (const frame of frames) queue.push(frame);
  client.read();
  assertEquals(client.frames.slice(32), frames.map(({ frame }) => frame));
});

Deno.test("OutQueue holds 256 frames, written ones included, and refuses the next", () => {
  const client = new Client();
  const queue = new OutQueue(client);
  for (let seq = 1; seq <= 256; seq++) assert(queue.push(end("a", seq)));
  assertEquals(queue.frames, 256);
  assertEquals(queue.push(end("a", 257)), false);
  assertEquals(queue.frames, 256);
  client.read(32);
  assert(queue.push(end("a", 257)));
});

Deno.test("OutQueue takes any number of pieces, up to 8 MiB of text", () => {
  const client = new Client();
  const queue = new OutQueue(client);
  block(queue);
  let seq = 0;
  let ok = true;
  const text = 'é\n"'.repeat(100);
  while (ok && seq < 1_000_000) ok = queue.push(delta("a", ++seq, text));
  const encoded = JSON.stringify(text).length - 2 + 100;
  assert(queue.bytes <= 8 * 1024 * 1024 + 1_024, `${queue.bytes}`);
  assert(seq * encoded > 7.5 * 1024 * 1024, `${seq} pieces`);
  assert(queue.frames < 256, `${queue.frames}`);
});

Deno.test("OutQueue lets a frame over its bound through when nothing is before it, and the next ones after it", () => {
  const client = new Client();
  const queue = new OutQueue(client);
  const huge = new OutFrame({ event: "error", detail: "x".repeat(9 * 1024 * 1024) });
  assert(queue.push(huge));
  assert(queue.push(end("a", 1)));
  assertEquals(queue.push(huge), false);
  client.read();
  assertEquals(client.frames.length, 2);
  queue.push(end("a", 2));
  client.read();
  assertEquals(queue.bytes, 0);
});

Deno.test("whenDrained() waits until everything is written, and for nothing after the end", async () => {
  const client = new Client();
  const queue = new OutQueue(client);
  await queue.whenDrained();
  block(queue);
  queue.push(end("a", 1));
  let isDrained = false;
  const drained = queue.whenDrained().then(() => isDrained = true);
  await Promise.resolve();
  assertEquals(isDrained, false);
  client.read(32);
  await drained;
  client.read();
  block(queue);
  queue.push(end("a", 2));
  const ended = queue.whenDrained();
  queue.end();
  await ended;
  assert(queue.push(end("a", 3)), "it is no slow reader any more");
  client.read();
  assertEquals(client.frames.filter(({ event }) => event === "stream_end").length, 1);
});

Deno.test("OutQueue keeps each chat's order, numbers and text, whenever the client reads", () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ chat: fc.constantFrom("a", "b"), text: fc.string() }) },
    {
      weight: 1,
      arbitrary: fc.record({ chat: fc.constantFrom("a", "b"), end: fc.constant(true) }),
    },
    { weight: 2, arbitrary: fc.record({ read: fc.nat(60) }) },
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
    const client = new Client();
    const queue = new OutQueue(client);
    const sent: Record<string, { seq: number; text: string; stream: number }> = {};
    for (const one of steps) {
      if ("read" in one) {
        client.read(one.read);
        continue;
      }
      const chat = sent[one.chat] ??= { seq: 0, text: "", stream: 0 };
      const pushed = "end" in one
        ? queue.push(end(one.chat, chat.seq + 1))
        : queue.push(delta(one.chat, chat.seq + 1, one.text, `s${chat.stream}`));
      assertEquals(pushed, true);
      chat.seq++;
      if ("end" in one) chat.stream++;
      else chat.text += one.text;
      assert(queue.frames <= 256);
    }
    client.read();
    assertEquals([queue.frames, queue.bytes], [0, 0]);
    for (const chatId of Object.keys(sent)) {
      let seq = 0;
      let text = "";
      for (const frame of client.frames) {
        if (!("chat_id" in frame) || frame.chat_id !== chatId) continue;
        const { seq_from = (frame as { seq: number }).seq, seq: last } = frame as {
          seq: number;
          seq_from?: number;
        };
        assertEquals(seq_from, seq + 1, "no gap and no repeat");
        seq = last;
        if (frame.event === "delta") text += frame.text;
      }
      assertEquals({ seq, text }, { seq: sent[chatId]!.seq, text: sent[chatId]!.text });
    }
  }));
});
