import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import { readQuery, wholeNumber } from "./query_params.ts";

const schema = z.object({
  limit: wholeNumber(1, 100).optional(),
  name: z.string("a name").optional(),
});

Deno.test("readQuery() takes what the schema names, and nothing else", () => {
  const query = new URLSearchParams("limit=007&other=1&other=2&__proto__=x&name=%ff");
  assertEquals(readQuery(schema, query), { limit: 7, name: "\ufffd" });
  assertEquals(readQuery(schema, new URLSearchParams()), {});
});

Deno.test("readQuery() refuses a parameter that is there twice", () => {
  const error = assertThrows(
    () => readQuery(schema, new URLSearchParams("limit=1&limit=1")),
    ServiceError,
    "limit must be given once",
  );
  assertEquals(error.details.param, "limit");
});

Deno.test("wholeNumber() takes whole numbers of its range in digits alone, and is total", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.integer().map(String), fc.double().map(String), fc.string(), fc.constant("0x1")),
      (text) => {
        const fits = /^\d{1,16}$/.test(text) && Number(text) >= 1 && Number(text) <= 100;
        const read = () => readQuery(schema, new URLSearchParams({ limit: text })).limit;
        if (fits) return assertEquals(read(), Number(text));
        assertThrows(read, ServiceError, "limit must be a whole number from 1 to 100, got ");
      },
    ),
  );
});
