import { assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { parseJsonc, toValue } from "./jsonc.ts";
import { rewrite, sameJson } from "./rewrite.ts";
import { rounds } from "../../tests/support/rounds.ts";

const FILE = `// my service
{
  "agent": {
    "model": "local/qwen3", // the small one
    "max_steps": 10 /* enough */
  },
  // where it runs
  "api": { "port": 8900 },
  "futureKey": [1, 2]
}
`;

Deno.test("rewrite() leaves a text alone when nothing changes", () => {
  assertEquals(rewrite(FILE, toValue(parseJsonc(FILE))), FILE);
});

Deno.test("rewrite() changes only what is another value, and keeps comments", () => {
  const text = rewrite(FILE, {
    agent: { model: "openai/gpt", maxSteps: 10, turnTimeoutS: 60 },
    api: { port: 8901, host: "::1" },
    futureKey: [1, 2],
    log: { level: "debug" },
  });
  assertEquals(
    text,
    `// my service
{
  "agent": {
    "model": "openai/gpt", // the small one
    "maxSteps": 10, /* enough */
    "turnTimeoutS": 60
  },
  // where it runs
  "api": { "port": 8901, "host": "::1" },
  "futureKey": [1, 2],
  "log": {
    "level": "debug"
  }
}
`,
  );
});

Deno.test("rewrite() takes a member out with its line and leaves strict JSON strict", () => {
  const text = `{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n`;
  assertEquals(rewrite(text, { a: 1, c: 3 }), `{\n  "a": 1,\n  "c": 3\n}\n`);
  assertEquals(rewrite(text, { a: 1 }), `{\n  "a": 1\n}\n`);
  assertEquals(rewrite(text, { a: 1, d: 4 }), `{\n  "a": 1,\n  "d": 4\n}\n`);
  assertEquals(rewrite(`{"a":1, "b":2, "c":3}`, { a: 1, c: 3 }), `{"a":1, "c":3}`);
});

Deno.test("rewrite() keeps the indentation and the line ends of the file", () => {
  assertEquals(
    rewrite(`{\r\n\t"a": {\r\n\t\t"b": 1\r\n\t}\r\n}`, { a: { b: 1, c: { d: 1 } } }),
    `{\r\n\t"a": {\r\n\t\t"b": 1,\r\n\t\t"c": {\r\n\t\t\t"d": 1\r\n\t\t}\r\n\t}\r\n}`,
  );
});

Deno.test("rewrite() fills an empty object", () => {
  assertStringIncludes(rewrite("{}", { a: 1 }), `{\n  "a": 1\n}`);
});

/** Keys that often meet again, in either spelling. */
const key = fc.constantFrom("a", "b", "maxSteps", "max_steps", "x y", "c", "d");
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie("any"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(key, tie("any"), { maxKeys: 5, noNullPrototype: true }),
})).object;

/** Prints JSON with what a person may write between its tokens. */
function written(root: unknown, pick: () => string, trailingComma: () => boolean): string {
  const print = (each: unknown): string => {
    const gap = pick();
    if (typeof each !== "object" || each === null) return gap + JSON.stringify(each) + pick();
    const list = Array.isArray(each);
    const inner = list
      ? each.map(print)
      : Object.entries(each).map(([name, of]) =>
        `${pick()}${JSON.stringify(name)}${pick()}:${print(of)}`
      );
    const comma = inner.length > 0 && trailingComma() ? `,${pick()}` : "";
    return `${gap}${list ? "[" : "{"}${pick()}${inner.join(",")}${comma}${
      list ? "]" : "}"
    }${pick()}`;
  };
  return print(root);
}

Deno.test("rewrite() gives a text with exactly the wanted value, whatever stood between", () => {
  const gap = fc.constantFrom("", "", " ", "\n", "\n  ", " // , } x\n", "/* , ] */", "\r\n\t");
  fc.assert(
    fc.property(value, value, fc.gen(), (from, to, gen) => {
      const text = written(from, () => gen(() => gap), () => gen(fc.boolean));
      assertEquals(toValue(parseJsonc(text)), from);
      assertEquals(sameJson(toValue(parseJsonc(rewrite(text, to))), to), true, rewrite(text, to));
    }),
    { numRuns: rounds(2_000) },
  );
});

Deno.test("rewrite() leaves strict JSON strict", () => {
  fc.assert(
    fc.property(value, value, fc.constantFrom(undefined, 2), (from, to, indent) => {
      const text = rewrite(JSON.stringify(from, null, indent), to);
      assertEquals(JSON.parse(text), JSON.parse(JSON.stringify(to)));
    }),
    { numRuns: rounds(1_000) },
  );
});
