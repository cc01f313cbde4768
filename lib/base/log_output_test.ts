import { assertEquals } from "@std/assert";
import { LogOutput } from "./log_output.ts";

const describeDropped = (lines: number) => `dropped ${lines}`;

/** A stream whose writes the test settles one by one. */
function heldStream() {
  const taken: string[] = [];
  const held: PromiseWithResolvers<number>[] = [];
  return {
    taken,
    async write(bytes: Uint8Array): Promise<number> {
      const settle = Promise.withResolvers<number>();
      held.push(settle);
      const count = Math.min(await settle.promise, bytes.length);
      taken.push(new TextDecoder().decode(bytes.subarray(0, count)));
      return count;
    },
    /** The next write that is being made. */
    async next(): Promise<PromiseWithResolvers<number>> {
      while (held.length === 0) await new Promise((resolve) => setTimeout(resolve));
      return held.shift()!;
    },
    async take(bytes = Infinity): Promise<void> {
      (await this.next()).resolve(bytes);
    },
    async fail(error: Error): Promise<void> {
      (await this.next()).reject(error);
    },
  };
}

Deno.test("LogOutput writes lines in order, those of one moment in one piece", async () => {
  const stream = heldStream();
  const output = new LogOutput({ stream, describeDropped });
  output.write("a");
  output.write("b");
  await stream.take();
  await output.flush(60_000);
  assertEquals(stream.taken, ["a\nb\n"]);
});

Deno.test("LogOutput never splits a pipe's piece inside a line of another thread", async () => {
  const sizes: number[] = [];
  const stream = {
    write(bytes: Uint8Array) {
      sizes.push(bytes.length);
      return Promise.resolve(bytes.length);
    },
  };
  const output = new LogOutput({ stream, describeDropped });
  for (let at = 0; at < 100; at++) output.write("x".repeat(99));
  output.write("y".repeat(9_999));
  await output.flush(60_000);
  assertEquals(sizes, [4_000, 4_000, 2_000, 10_000]);
});

Deno.test("LogOutput holds a bounded number of bytes and says once how many lines it dropped", async () => {
  const stream = heldStream();
  const output = new LogOutput({ stream, describeDropped, maxWaitingBytes: 8 });
  for (const line of ["aa", "bb", "cc", "dd", "ee"]) output.write(line);
  await stream.take();
  await stream.take();
  await output.flush(60_000);
  output.write("ff");
  await stream.take();
  await output.flush(60_000);
  assertEquals(stream.taken.join(""), "aa\nbb\ndropped 3\nff\n");
});

Deno.test("LogOutput drops what cannot be written, and reports it with the next line that can", async () => {
  const stream = heldStream();
  const output = new LogOutput({ stream, describeDropped });
  output.write("lost");
  await stream.fail(new Error("No space left on device"));
  await output.flush(60_000);
  output.write("lost with the report of the first");
  await stream.fail(new Error("No space left on device"));
  await output.flush(60_000);
  output.write("written");
  await stream.take();
  await output.flush(60_000);
  assertEquals(stream.taken, ["dropped 2\nwritten\n"]);
});

Deno.test("LogOutput begins a new line after a write that broke off inside one", async () => {
  const stream = heldStream();
  const output = new LogOutput({ stream, describeDropped });
  output.write("whole");
  output.write("broken");
  await stream.take("whole\nbro".length);
  await stream.fail(new Error("No space left on device"));
  await output.flush(60_000);
  output.write("next");
  await stream.take();
  await output.flush(60_000);
  assertEquals(stream.taken.join(""), "whole\nbro\ndropped 1\nnext\n");
});

Deno.test("LogOutput writes again to a stream that would block", async () => {
  const stream = heldStream();
  const output = new LogOutput({ stream, describeDropped });
  output.write("a");
  await stream.fail(new Deno.errors.WouldBlock());
  await stream.take();
  await output.flush(60_000);
  assertEquals(stream.taken, ["a\n"]);
});

Deno.test("LogOutput.flush() gives up on a stream that takes nothing", async () => {
  const stream = heldStream();
  const output = new LogOutput({ stream, describeDropped });
  output.write("a");
  await output.flush(1);
  await stream.take();
  await output.flush(60_000);
  assertEquals(stream.taken, ["a\n"]);
});

Deno.test("LogOutput holds lines that may wait until one that may not, a full write, or a flush", async () => {
  const taken: string[] = [];
  const stream = {
    write(bytes: Uint8Array) {
      taken.push(new TextDecoder().decode(bytes));
      return Promise.resolve(bytes.length);
    },
  };
  const output = new LogOutput({ stream, describeDropped });
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  output.write("a", { later: true });
  output.write("b", { later: true });
  await settle();
  assertEquals(taken, []);
  output.write("c");
  await settle();
  assertEquals(taken.splice(0), ["a\nb\nc\n"]);
  output.write("d", { later: true });
  output.write("x".repeat(4_096), { later: true });
  await settle();
  assertEquals(taken.splice(0).map(({ length }) => length), [2, 4_097]);
  output.write("e", { later: true });
  await output.flush(60_000);
  assertEquals(taken.splice(0), ["e\n"]);
});

Deno.test("LogOutput writes lines that may wait after a moment, whatever else comes", async () => {
  const written = Promise.withResolvers<string>();
  const output = new LogOutput({
    stream: {
      write(bytes: Uint8Array) {
        written.resolve(new TextDecoder().decode(bytes));
        return Promise.resolve(bytes.length);
      },
    },
    describeDropped,
  });
  output.write("a", { later: true });
  // Its timer keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  assertEquals(await written.promise, "a\n");
  clearInterval(alive);
});
