import { assertEquals } from "@std/assert";
import { IgnoredFields } from "./ignored_fields.ts";

function setUp() {
  const names: unknown[] = [];
  const log = {
    info: (_: string, fields?: Record<string, unknown>) => void names.push(fields?.field),
  };
  return { names, ignored: new IgnoredFields(log, ["input", "model"]) };
}

Deno.test("IgnoredFields.report() says each set and unused field once", () => {
  const { names, ignored } = setUp();
  ignored.report({ input: "hi", model: "m", tools: [], temperature: 1, top_p: null });
  ignored.report({ tools: [1], top_p: 0.5, toString: 1 });
  assertEquals(names, ["tools", "temperature", "top_p", "toString"]);
});

Deno.test("IgnoredFields.report() keeps what is no name out of the log", () => {
  const { names, ignored } = setUp();
  ignored.report({ "": 1, "a b": 1, "sk-secret": 1, "\n": 1, [`x${"y".repeat(64)}`]: 1, ok: 1 });
  assertEquals(names, ["ok"]);
});

Deno.test("IgnoredFields.report() remembers a bounded number of names, and the documented ones", () => {
  const { names, ignored } = setUp();
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`field_${at}`, 1]));
  ignored.report(many);
  assertEquals(names.length, 256);
  ignored.report({ ...many, instructions: "x", tools: [], tool_choice: "auto", temperature: 1 });
  ignored.report({ instructions: "x" });
  assertEquals(names.slice(256), ["instructions", "tools", "tool_choice"]);
});
