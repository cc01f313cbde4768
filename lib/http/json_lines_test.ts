import { assert, assertEquals } from "@std/assert";
import type { ErrorEnvelope } from "../listen/errors.ts";
import { jsonLines } from "./json_lines.ts";

const envelope: ErrorEnvelope = {
  error: { message: "It broke", type: "server_error", param: null, code: "internal_error" },
};

function setUp(lines: AsyncIterator<unknown>) {
  const ends: string[] = [];
  const failed: unknown[] = [];
  const body = jsonLines({
    lines,
    fail: (error) => (failed.push(error), envelope),
    onEnd: (outcome) => void ends.push(outcome),
  });
  return { body, ends, failed };
}

Deno.test("jsonLines() writes each value on a line, whatever stands in it", async () => {
  const values = [1, "a\nb\u2028", { c: null }, []];
  const { body, ends } = setUp(async function* () {
    yield* values;
  }());
  const text = await new Response(body).text();
  assertEquals(text.split("\n").slice(0, -1).map((line) => JSON.parse(line)), values);
  assertEquals(ends, ["ended"]);
});

Deno.test("jsonLines() of nothing is empty, and ends", async () => {
  const { body, ends } = setUp(async function* () {}());
  assertEquals(await new Response(body).text(), "");
  assertEquals(ends, ["ended"]);
});

Deno.test("jsonLines() says in a last line what broke, and does not fail", async () => {
  const broken = new Error("disk");
  const { body, ends, failed } = setUp(async function* () {
    yield 1;
    throw broken;
  }());
  const lines = (await new Response(body).text()).trimEnd().split("\n");
  assertEquals(lines.map((line) => JSON.parse(line)), [1, { kind: "error", ...envelope }]);
  assertEquals([ends, failed], [["ended"], [broken]]);
});

Deno.test("jsonLines() asks for no more than its reader takes, and tidies up when that leaves", async () => {
  let asked = 0;
  let closed = false;
  const { body, ends } = setUp(async function* () {
    try {
      for (;; asked++) yield "x".repeat(10_000);
    } finally {
      closed = true;
    }
  }());
  const reader = body.getReader();
  await reader.read();
  await reader.read();
  assert(asked < 20, String(asked));
  await reader.cancel();
  assertEquals([closed, ends], [true, ["cancelled"]]);
});

Deno.test("jsonLines() takes a reader that leaves while a line is made", async () => {
  const line = Promise.withResolvers<void>();
  const { body, ends } = setUp(async function* () {
    await line.promise;
    yield 1;
  }());
  const reader = body.getReader();
  const reading = reader.read();
  const left = reader.cancel();
  line.resolve();
  await left;
  assertEquals((await reading).done, true);
  assertEquals(ends, ["cancelled"]);
});
