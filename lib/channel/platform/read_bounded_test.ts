import { assertEquals, assertRejects } from "@std/assert";
import { readBounded } from "./read_bounded.ts";

function streamOf(chunks: number[][], onCancel = () => {}): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks[at++];
      if (chunk === undefined) controller.close();
      else controller.enqueue(new Uint8Array(chunk));
    },
    cancel: onCancel,
  }, { highWaterMark: 0 });
}

Deno.test("readBounded() gives a body whole, up to the last byte that fits", async () => {
  const body = streamOf([[1, 2], [], [3]]);
  assertEquals(await readBounded({ body }, 3), new Uint8Array([1, 2, 3]));
  assertEquals(await readBounded({ body: null }, 3), new Uint8Array());
});

Deno.test("readBounded() cancels a body that goes on", async () => {
  let cancelled = 0;
  const body = streamOf([[1, 2], [3, 4], [5]], () => cancelled += 1);
  assertEquals(await readBounded({ body }, 3), undefined);
  assertEquals(cancelled, 1);
});

Deno.test("readBounded() does not begin to read what says that it is too long", async () => {
  let cancelled = 0;
  const body = streamOf([[1]], () => cancelled += 1);
  const headers = new Headers({ "content-length": "4" });
  assertEquals(await readBounded({ body, headers }, 3), undefined);
  assertEquals(cancelled, 1);
});

Deno.test("readBounded() ends with its signal, whatever the body does with it", async () => {
  let cancelled = 0;
  const stalled = () => new ReadableStream<Uint8Array>({ cancel: () => void (cancelled += 1) });
  const ending = new AbortController();
  const reading = readBounded({ body: stalled() }, 3, ending.signal);
  ending.abort(new Error("late"));
  await assertRejects(() => reading, Error, "late");
  await assertRejects(() => readBounded({ body: stalled() }, 3, ending.signal), Error, "late");
  assertEquals(cancelled, 2);
});

Deno.test("readBounded() rejects as its body does", async () => {
  const body = new ReadableStream<Uint8Array>({
    pull: () => Promise.reject(new Error("cut off")),
  });
  await assertRejects(() => readBounded({ body }, 3), Error, "cut off");
});
