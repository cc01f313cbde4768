import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import { queryTexts } from "./query_texts.ts";

const schema = z.object({
  limit: z.int().optional(),
  name: z.string().optional(),
  states: z.array(z.enum(["a", "b"])).optional(),
});
const read = (query: string | Record<string, string>, all = false) =>
  queryTexts(schema, new URLSearchParams(query), all);

Deno.test("queryTexts() takes what the schema names, and nothing else unless told", () => {
  const query = "limit=007&other=1&__proto__=x&name=%ff&states=a,b&states=a";
  assertEquals(read(query), { limit: 7, name: "\ufffd", states: ["a", "b", "a"] });
  assertEquals(read("other=1&limit=x", true), { other: "1", limit: "x" });
  assertEquals(read(""), {});
});

Deno.test("queryTexts() refuses a parameter that is there twice and is no list", () => {
  for (
    const [query, all, param] of [["limit=1&limit=1", false, "limit"], [
      "x=1&x=2",
      true,
      "query",
    ]] as const
  ) {
    const error = assertThrows(() => read(query, all), ServiceError, `${param} must be given once`);
    assertEquals(error.details.param, param);
  }
});

Deno.test("queryTexts() takes decimal digits alone for a number, and is total", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer().map(String), fc.double().map(String), fc.string(), fc.constant("0x1")),
      (text) => {
        const expected = /^\d{1,16}$/.test(text) ? Number(text) : text.toWellFormed();
        assertEquals(read({ limit: text }).limit, expected);
      },
    ),
  );
});
