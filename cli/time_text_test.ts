import { assertEquals } from "@std/assert";
import { memoryOutput } from "./testing/memory_output.ts";
import { plural } from "./plural.ts";
import { relativeTime, timeText } from "./time_text.ts";

const NOW = Date.UTC(2030, 0, 31, 12);

Deno.test("relativeTime() counts whole units, and names the day from 30 days on", () => {
  for (
    const [seconds, expected] of [
      [0, "now"],
      [-0.9, "now"],
      [-59, "59 s ago"],
      [-60, "1 min ago"],
      [-3 * 60 - 59, "3 min ago"],
      [2 * 3_600, "in 2 h"],
      [-86_400, "1 day ago"],
      [86_400 * 3, "in 3 days"],
      [-86_400 * 31, "2029-12-31"],
    ] as const
  ) assertEquals(relativeTime(NOW + seconds * 1_000, NOW), expected);
});

Deno.test("timeText() is relative on a terminal and absolute elsewhere", () => {
  const then = NOW - 180_000;
  assertEquals(timeText(memoryOutput({ stdout: true }).out, then, NOW), "3 min ago");
  assertEquals(timeText(memoryOutput().out, then, NOW), "2030-01-31T11:57:00Z");
  assertEquals(timeText(memoryOutput().out, undefined), "-");
});

Deno.test("plural() agrees with its count", () => {
  assertEquals([0, 1, 2].map((count) => plural(count, "turn")), ["0 turns", "1 turn", "2 turns"]);
  assertEquals(plural(2, "entry", "entries"), "2 entries");
});
