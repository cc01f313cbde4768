import { assertEquals } from "@std/assert";
import { z } from "zod";
import { fieldOfTexts } from "./field_of_texts.ts";
import { seconds, toWire, whole } from "./fields.ts";

Deno.test("toWire() takes the fields of the schema alone, in snake_case, with times in seconds", () => {
  const schema = z.object({
    id: z.string(),
    is_set: z.boolean(),
    created_at: seconds,
    last_used_at: seconds.optional().describe("Absent: never"),
    not_before: seconds.describe("When it may begin").optional(),
    took_ms: z.number(),
    note: z.string().nullable(),
    more: z.array(z.string()),
  });
  const row = {
    id: "a",
    isSet: false,
    createdAt: 1_999,
    notBefore: 2_000,
    tookMs: 1_999,
    note: null,
    more: ["b"] as readonly string[],
    hash: "kept",
  };
  assertEquals(toWire(schema, row), {
    id: "a",
    is_set: false,
    created_at: 1,
    not_before: 2,
    took_ms: 1_999,
    note: null,
    more: ["b"],
  });
});

Deno.test("fieldOfTexts() reads numbers and lists of names, and leaves all else as it is", () => {
  const names = z.array(z.enum(["a", "b"])).optional();
  assertEquals(
    [
      fieldOfTexts(whole(0).optional(), ["7"]),
      fieldOfTexts(whole(0), ["-7"]),
      fieldOfTexts(whole(0), ["1e3"]),
      fieldOfTexts(z.string(), ["7"]),
      fieldOfTexts(names, ["a, b", "c"]),
      fieldOfTexts(z.array(z.string()), ["a,b", "c"]),
    ],
    [7, "-7", "1e3", "7", ["a", "b", "c"], ["a,b", "c"]],
  );
});
