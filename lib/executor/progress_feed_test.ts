import { assert, assertEquals, assertMatch } from "@std/assert";
import { ProgressFeed } from "./progress_feed.ts";

const encoder = new TextEncoder();

Deno.test("ProgressFeed gives what came, in order, and the rest at the end", () => {
  const said: string[] = [];
  const feed = new ProgressFeed((text) => said.push(text));
  for (const text of ["a", "bä", "c"]) feed.push(encoder.encode(text));
  feed.end();
  feed.push(encoder.encode("late"));
  feed.end();
  assertEquals(said, ["abäc"]);
});

Deno.test("ProgressFeed says no more than its bound, however much comes", () => {
  let chars = 0;
  const feed = new ProgressFeed((text) => {
    assert(text.length <= 4_000);
    chars += text.length;
  });
  const chunk = encoder.encode(`${"x".repeat(3_999)}\n`.repeat(15));
  for (let round = 0; round < 1_000; round++) feed.push(chunk);
  feed.end();
  assertEquals(chars, 4_000);
});

Deno.test("ProgressFeed gives a sign of life while a command is silent", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const feed = new ProgressFeed(resolve, 5);
  assertMatch(await promise, /still running/);
  feed.end();
});

Deno.test("ProgressFeed says no word in part where it leaves something out", () => {
  const said: string[] = [];
  const feed = new ProgressFeed((text) => said.push(text));
  feed.push(encoder.encode("one two-two three "));
  feed.push(encoder.encode(`${"x ".repeat(1_980)}long-word-${"y".repeat(3_000)}`));
  feed.push(encoder.encode("yyy after\n"));
  feed.end();
  const text = said.join("");
  assert(text.startsWith("one two-two three x x "));
  assert(!text.includes("long-word") && !text.includes("y"), text.slice(-50));
});
