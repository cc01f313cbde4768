import { assert, assertEquals, assertMatch } from "@std/assert";
import { readPages } from "./read_pages.ts";

Deno.test("readPages() ends with pages that go in a circle, and with those that do not end", async () => {
  const circle = await readPages(
    "tools",
    () => Promise.resolve({ tools: [], nextCursor: "a" }),
  );
  assert("skipped" in circle);
  assertMatch(circle.skipped.join(), /goes in a circle/);
  let page = 0;
  const endless = await readPages(
    "tools",
    () => Promise.resolve({ tools: [{ name: `t${page}` }], nextCursor: `${++page}` }),
  );
  assert("skipped" in endless);
  assertEquals([endless.items.length, page], [50, 50]);
  assertMatch(endless.skipped.join(), /more than 50 pages/);
});
