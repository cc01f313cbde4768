import { assertEquals, assertThrows } from "@std/assert";
import { type Schema, schemaProblems } from "./json_schema.ts";

const problems = (schema: Schema, value: unknown, closed = false) =>
  schemaProblems(schema, value, {
    root: { defs: { word: { type: "string", pattern: "^\\w+$" } } },
    closed,
  });

Deno.test("schemaProblems() finds what each keyword forbids, and nothing else", () => {
  const cases: [Schema, unknown[], unknown[]][] = [
    [{ type: "integer" }, [1, -0, 1e20], [1.5, "1", null]],
    [{ type: ["string", "null"] }, ["", null], [1, undefined, []]],
    [{ const: "a" }, ["a"], ["b", 0]],
    [{ enum: ["a", 1] }, ["a", 1], ["1", null]],
    [{ type: "object", required: ["a"], properties: { a: { const: 1 } } }, [{ a: 1 }, {
      a: 1,
      b: 2,
    }], [{}, { a: 2 }, [], null]],
    [{ type: "object", additionalProperties: { type: "string" } }, [{}, { a: "" }], [{ a: 1 }]],
    [{ propertyNames: { maxLength: 1 }, maxProperties: 2 }, [{ a: 1 }, 1], [{ ab: 1 }, {
      a: 1,
      b: 1,
      c: 1,
    }]],
    [{ items: { const: 1 }, minItems: 1, maxItems: 2 }, [[1], [1, 1], "x"], [[], [2], [1, 1, 1]]],
    [{ minimum: 0 }, [0, 1, "x"], [-1]],
    [{ maximum: 2 }, [2, -1, "x"], [3]],
    [{ minLength: 2 }, ["ab", "\u{1F642}b", 1], ["", "\u{1F642}"]],
    [{ anyOf: [{ const: 1 }, { const: 2 }] }, [1, 2], [3]],
    [{ oneOf: [{ type: "integer" }, { minimum: 5 }] }, [1, 5.5], [5, 1.5]],
    [{ allOf: [{ type: "integer" }, { minimum: 5 }] }, [5], [4, 5.5]],
    [{ $ref: "#/defs/word" }, ["a"], ["", "a b", 1]],
    [{ description: "anything" }, [null, 1, {}], []],
  ];
  for (const [schema, right, wrong] of cases) {
    const text = JSON.stringify(schema);
    for (const value of right) assertEquals(problems(schema, value), [], text);
    for (const value of wrong) {
      assertEquals(problems(schema, value).length > 0, true, `${text} ${JSON.stringify(value)}`);
    }
  }
});

Deno.test("schemaProblems() finds properties that a closed schema does not name", () => {
  const schema = { type: "object", properties: { a: { type: "object", properties: {} } } };
  assertEquals(problems(schema, { a: { b: 1 }, c: 1 }), []);
  assertEquals(problems(schema, { a: { b: 1 }, c: 1 }, true), [
    "$.a.b: not in the schema",
    "$.c: not in the schema",
  ]);
  assertEquals(problems({ ...schema, additionalProperties: {} }, { c: 1 }, true), []);
  const both = { allOf: [{ $ref: "#/defs/word" }, { properties: { x: true } }] };
  assertEquals(problems(both, "word", true), []);
});

Deno.test("schemaProblems() throws for what it does not know", () => {
  assertThrows(() => problems({ dependentRequired: {} }, {}), Error, "dependentRequired");
  assertThrows(() => problems({ $ref: "#/defs/other" }, ""), Error, "leads nowhere");
  assertThrows(() => problems({ items: 3 }, [1]), Error, "no schema");
});
