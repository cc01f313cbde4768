import { assertEquals } from "@std/assert";
import { Tries } from "./tries.ts";

Deno.test("Tries.isLast() ends behind so many failures in a row, for each name by itself", () => {
  const tries = new Tries(3);
  assertEquals([tries.isLast("a"), tries.isLast("a"), tries.isLast("b")], [false, false, false]);
  tries.forget("b");
  assertEquals([tries.isLast("b"), tries.isLast("b")], [false, false]);
  assertEquals([tries.isLast("a"), tries.isLast("a")], [true, false]);
});

Deno.test("Tries.isLast() keeps a bounded number of names", () => {
  const tries = new Tries(2);
  tries.isLast("first");
  for (let index = 0; index < 1_000; index += 1) tries.isLast(`other ${index}`);
  assertEquals([tries.isLast("first"), tries.isLast("other 999")], [false, true]);
});
