import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../../lib/base/errors.ts";
import { typed } from "./read_hidden.ts";

const keys = (...chunks: string[]) =>
  typed(() => Promise.resolve(chunks.shift()), { maxChars: 10 });

Deno.test("typed() takes back characters and lines, and leaves out what keys without a character send", async () => {
  assertEquals(await keys("wrong\x15", "rig\u{1f600}\x7fht\r"), "right");
  assertEquals(await keys("a\x1b[D\x1b[3~b\x1bOA\x1b[200~c\x1b[201~\r"), "abc");
  assertEquals(await keys("a b\tc\x00\x01\r\n"), "a b\tc");
});

Deno.test("typed() refuses more than it takes, and several lines, instead of cutting them", async () => {
  assertEquals(await keys("0123456789\r"), "0123456789");
  for (const chunks of [["0123456789x"], ["01234", "567890"]]) {
    const error = await assertRejects(() => keys(...chunks), ServiceError);
    assertEquals([error.code, error.message], ["usage", "More than 10 characters were typed"]);
  }
  const error = await assertRejects(() => keys("-----\nabc\n"), ServiceError);
  assertStringIncludes(error.message, "Several lines were pasted");
  assertEquals(await keys("abc\n\n"), "abc");
});
