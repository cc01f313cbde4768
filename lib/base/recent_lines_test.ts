import { assert, assertEquals } from "@std/assert";
import { RecentLines } from "./recent_lines.ts";

Deno.test("RecentLines gives the newest lines, and those after a number, each once", () => {
  const recent = new RecentLines(7);
  const textsOf = (after: number | undefined, limit: number) => {
    const { lines, missed } = recent.read(after, limit);
    return [...lines.map(({ text }) => text), missed];
  };
  assertEquals(textsOf(undefined, 9), [false]);
  for (const line of ["a", "b", "c"]) recent.add(line);
  assertEquals(recent.read(undefined, 2).lines, [{ seq: 7_002, text: "b" }, {
    seq: 7_003,
    text: "c",
  }]);
  assertEquals(textsOf(7_000, 2), ["a", "b", false]);
  assertEquals(textsOf(7_002, 2), ["c", false]);
  assertEquals(textsOf(7_003, 2), [false]);
  // Of a process before this one, and of none that was.
  assertEquals(textsOf(5, 1), ["a", true]);
  assertEquals(textsOf(9_000, 1), [false]);
});

Deno.test("RecentLines keeps a bounded number of bounded lines, and says what is gone", () => {
  const recent = new RecentLines(0);
  recent.add("x".repeat(10_000));
  assertEquals(recent.read(0, 1).lines[0]!.text.length, 4_001);
  for (let n = 2; n <= 10_000; n++) recent.add(`${n}`);
  const { lines, missed } = recent.read(0, 100_000);
  assert(missed && lines.length >= 2_000 && lines.length < 4_000, `${lines.length}`);
  assertEquals(lines.map(({ seq, text }) => seq === Number(text)), lines.map(() => true));
  assertEquals(lines.at(-1)!.seq, 10_000);
});
