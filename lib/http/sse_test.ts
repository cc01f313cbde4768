import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { EventStream, KEEP_ALIVE_MS, type StreamOutcome } from "./sse.ts";
import { ManualClock } from "./testing/manual_clock.ts";

function open(options: { maxWaitingChars?: number } = {}) {
  const clock = new ManualClock();
  const outcomes: StreamOutcome[] = [];
  const stream = new EventStream({ clock, onEnd: (outcome) => outcomes.push(outcome), ...options });
  const reader = stream.body.getReader();
  const read = async () => {
    const { done, value } = await reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  };
  return { clock, outcomes, stream, reader, read };
}

Deno.test("EventStream hands over at once what is written while its reader waits", async () => {
  const { stream, read, outcomes, clock } = open();
  const first = read();
  stream.write("data: 1\n\n");
  assertEquals(await first, "data: 1\n\n");
  stream.write("data: 2\n\n");
  stream.write("data: 3\n\n");
  assertEquals(await read(), "data: 2\n\ndata: 3\n\n");
  stream.write("data: 4\n\n");
  stream.close();
  assertEquals(await read(), "data: 4\n\n");
  assertEquals(await read(), undefined);
  assertEquals(outcomes, ["ended"]);
  assertEquals(clock.timers, 0);
});

Deno.test("EventStream hands over in one piece what is written in one turn of the event loop", async () => {
  const { stream, read } = open();
  const first = read();
  // The reader waits already, and what follows comes one microtask after the other.
  await Promise.resolve();
  for (let n = 1; n <= 100; n++) {
    stream.write(`data: ${n}\n\n`);
    await Promise.resolve();
  }
  stream.close();
  const expected = Array.from({ length: 100 }, (_, n) => `data: ${n + 1}\n\n`).join("");
  assertEquals(await first, expected);
  assertEquals(await read(), undefined);
});

Deno.test("W8 EventStream sends a comment after 15 s of silence, counted from the last event", async () => {
  const { stream, read, clock } = open();
  let pending = read();
  clock.advance(14_999);
  stream.write("data: 1\n\n");
  assertEquals(await pending, "data: 1\n\n");
  pending = read();
  clock.advance(14_999);
  let silent = true;
  pending.then(() => silent = false);
  await Promise.resolve();
  assert(silent);
  clock.advance(1);
  assertEquals(await pending, ": keep-alive\n\n");
  for (let i = 0; i < 3; i++) {
    pending = read();
    clock.advance(KEEP_ALIVE_MS);
    assertEquals(await pending, ": keep-alive\n\n");
  }
  stream.close();
});

Deno.test("W8 EventStream piles up no comments for a reader that takes nothing", () => {
  const { stream, clock } = open();
  clock.advance(100 * KEEP_ALIVE_MS);
  assertEquals(stream.waitingChars, ": keep-alive\n\n".length);
  stream.close();
});

Deno.test("W13 EventStream.write() makes the writer wait while the buffer is full", async () => {
  const { stream, read } = open({ maxWaitingChars: 10 });
  assertEquals(stream.write("0123456789"), undefined);
  let waited = false;
  const room = stream.write("x")!.then(() => waited = true);
  await Promise.resolve();
  assertEquals(waited, false);
  assertEquals(await read(), "0123456789x");
  await room;
  assertEquals(stream.waitingChars, 0);
  stream.close();
});

Deno.test("EventStream ends once and releases the writer when the reader leaves", async () => {
  const { stream, reader, outcomes, clock } = open({ maxWaitingChars: 1 });
  const room = stream.write("data: 1\n\n");
  await reader.cancel();
  await room;
  assertEquals(stream.write("data: 2\n\n"), undefined);
  stream.close();
  assertEquals(outcomes, ["cancelled"]);
  assertEquals(stream.waitingChars, 0);
  assertEquals(clock.timers, 0);
});

Deno.test("EventStream ends as cancelled when the reader leaves while it waits", async () => {
  const { reader, read, outcomes } = open();
  const pending = read();
  await reader.cancel();
  assertEquals(await pending, undefined);
  assertEquals(outcomes, ["cancelled"]);
});

Deno.test("EventStream keeps every character in order whatever the pace of writer and reader", async () => {
  const pieces = fc.array(fc.string({ unit: "grapheme", minLength: 1 }), { maxLength: 50 });
  await fc.assert(fc.asyncProperty(pieces, fc.scheduler(), async (texts, scheduler) => {
    const { stream, reader } = open({ maxWaitingChars: 8 });
    const writing = (async () => {
      for (const text of texts) {
        await scheduler.schedule(Promise.resolve());
        await stream.write(text);
        assert(stream.waitingChars <= 8 + text.length);
      }
      stream.close();
    })();
    const reading = (async () => {
      const decoder = new TextDecoder();
      let all = "";
      for (;;) {
        await scheduler.schedule(Promise.resolve());
        const { done, value } = await reader.read();
        if (done) return all;
        all += decoder.decode(value, { stream: true });
      }
    })();
    await scheduler.waitFor(writing);
    assertEquals(await scheduler.waitFor(reading), texts.join(""));
  }));
});

Deno.test("EventStream hands over a long event in slices, none of which cuts a character", async () => {
  const { stream, read } = open();
  const event = `data: ${"x".repeat(256 * 1024 - 7)}\u{1f600}${"y".repeat(300_000)}\n\n`;
  stream.write(event);
  stream.close();
  let whole = "";
  let slices = 0;
  for (let slice = await read(); slice !== undefined; slice = await read()) {
    whole += slice;
    slices++;
  }
  assertEquals(whole, event);
  assertEquals(slices, 3);
});
