import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import type { BodyReader } from "./body_reader.ts";
import { gathered } from "./gathered.ts";
import { rounds } from "../../tests/support/rounds.ts";

/** A body of what is pushed into it. */
class Source {
  readonly #chunks: (string | Error | undefined)[] = [];
  #wake = () => {};
  reads = 0;

  /** A chunk, the error that ends the body, or its end. */
  push(...chunks: (string | Error | undefined)[]): void {
    this.#chunks.push(...chunks);
    this.#wake();
  }

  readonly reader: BodyReader = {
    read: async () => {
      this.reads += 1;
      while (this.#chunks.length === 0) {
        await new Promise<void>((resolve) => this.#wake = resolve);
      }
      const chunk = this.#chunks.shift();
      if (chunk instanceof Error) throw chunk;
      return chunk === undefined
        ? { done: true, value: undefined }
        : { done: false, value: new TextEncoder().encode(chunk) };
    },
    cancel: () => Promise.resolve(),
  };
}

async function text(reader: BodyReader): Promise<string | undefined> {
  const { value } = await reader.read();
  return value && new TextDecoder().decode(value);
}

/** A clock that stands still and is moved by hand. */
function manualClock() {
  const clock = { ms: 0, now: () => clock.ms };
  return clock;
}

/** A body whose first chunk came a second ago. */
async function oldBody(deps: { soon?: (run: () => void) => void } = {}) {
  const clock = manualClock();
  const source = new Source();
  const reader = gathered(source.reader, { now: clock.now, ...deps });
  source.push("first");
  assertEquals(await text(reader), "first");
  clock.ms += 1_000;
  return { clock, source, reader };
}

Deno.test("gathered() passes each chunk at once when nothing follows it", async () => {
  const clock = manualClock();
  const source = new Source();
  const reader = gathered(source.reader, { now: clock.now });
  for (const token of ["one", "two", "three"]) {
    clock.ms += 1_000;
    source.push(token);
    assertEquals(await text(reader), token);
  }
  source.push(undefined);
  assertEquals(await text(reader), undefined);
});

Deno.test("gathered() hands on together what is at hand", async () => {
  const { source, reader } = await oldBody();
  source.push("one ", "two ", "three");
  assertEquals(await text(reader), "one two three");
  source.push("four", undefined);
  assertEquals(await text(reader), "four");
  assertEquals(await text(reader), undefined);
});

Deno.test("gathered() passes the first chunk at once, however long it took to come", async () => {
  const clock = manualClock();
  const source = new Source();
  const reader = gathered(source.reader, { now: clock.now });
  clock.ms += 10_000;
  source.push("one", "two");
  assertEquals(await text(reader), "one");
});

Deno.test("gathered() keeps the first chunks of a body apart, however fast they come", async () => {
  const source = new Source();
  const reader = gathered(source.reader, { now: () => 0 });
  source.push("one", "two");
  assertEquals(await text(reader), "one");
  assertEquals(await text(reader), "two");
});

Deno.test("gathered() keeps nothing back for longer than 8 ms", async () => {
  let passes = () => {};
  const soon = (run: () => void) => {
    passes();
    setTimeout(run, 0);
  };
  const { clock, source, reader } = await oldBody({ soon });
  passes = () => {
    clock.ms += 1;
    // One more in each turn of the event loop.
    source.push("x");
  };
  source.push("x");
  assertEquals(await text(reader), "x".repeat(9));
  assertEquals(clock.ms, 1_008);
});

Deno.test("gathered() stops gathering at 64 KiB", async () => {
  const { source, reader } = await oldBody();
  const before = source.reads;
  source.push(...Array.from({ length: 20 }, () => "x".repeat(10_000)));
  const { value } = await reader.read();
  assertEquals(value!.length, 70_000);
  // One was under way.
  assert(source.reads - before <= 7);
});

Deno.test("gathered() takes chunks of nothing", async () => {
  const source = new Source();
  const reader = gathered(source.reader, { now: () => 0 });
  source.push("", "", "one", "", undefined);
  assertEquals(await text(reader), "one");
  assertEquals(await text(reader), undefined);
});

Deno.test("gathered() takes a chunk that is larger than all it gathers", async () => {
  const { source, reader } = await oldBody();
  const large = "x".repeat(300_000);
  source.push("one", large, "two", undefined);
  assertEquals(await text(reader), "one" + large);
  assertEquals(await text(reader), "two");
  assertEquals(await text(reader), undefined);
});

Deno.test("gathered() gives what came before an error, and then the error", async () => {
  let later = 0;
  const soon = (run: () => void) => {
    later += 1;
    setTimeout(run, 0);
  };
  const { source, reader } = await oldBody({ soon });
  source.push("one ", "two", new Error("reset"));
  assertEquals(await text(reader), "one two");
  const before = later;
  await assertRejects(() => reader.read(), Error, "reset");
  assert(later > before, "the error waits until the chunk has passed");
});

Deno.test("gathered() never changes the bytes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ chunk: fc.string({ minLength: 1 }), waits: fc.boolean() })),
      fc.integer({ min: 0, max: 20 }),
      async (pieces, ageMs) => {
        const clock = manualClock();
        const source = new Source();
        const reader = gathered(source.reader, { now: clock.now });
        const whole = (async () => {
          const decoder = new TextDecoder();
          let said = "";
          for (let result; !(result = await reader.read()).done;) {
            said += decoder.decode(result.value, { stream: true });
          }
          return said;
        })();
        for (const { chunk, waits } of pieces) {
          source.push(chunk);
          clock.ms += ageMs;
          if (waits) await new Promise((resolve) => setTimeout(resolve, 0));
        }
        source.push(undefined);
        const encoded = new TextEncoder().encode(pieces.map(({ chunk }) => chunk).join(""));
        assertEquals(await whole, new TextDecoder().decode(encoded));
      },
    ),
    { numRuns: rounds(50) },
  );
});
