import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { type RawListing, readListing } from "./read_listing.ts";

const SERVER = { server: "s", identity: "id", scrub: (text: string) => text };

function read(raw: Partial<RawListing>, more: Partial<typeof SERVER> = {}) {
  return readListing({ tools: [], resources: [], prompts: [], ...raw }, { ...SERVER, ...more });
}

function tool(more: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: "t", inputSchema: { type: "object" }, ...more };
}

Deno.test("readListing() takes a tool with everything that a model is told of it", () => {
  const { tools, problems } = read({
    tools: [tool({
      description: "Does it",
      annotations: { readOnlyHint: true },
      inputSchema: { $schema: "x", type: "object", properties: { a: { type: "string" } } },
    })],
  });
  assertEquals(problems, []);
  const [{ definition, ...rest }] = tools as [typeof tools[0]];
  assert(/^[0-9a-f]{64}$/.test(definition));
  assertEquals(rest, {
    name: "mcp__s__t",
    server: "s",
    tool: "t",
    description: "Does it",
    parameters: { type: "object", properties: { a: { type: "string" } } },
    readOnly: true,
  });
});

Deno.test("readListing() gives another definition for another server, description, schema or hint", () => {
  const of = (one: Record<string, unknown>, identity = "id") =>
    read({ tools: [one] }, { identity }).tools[0]!.definition;
  const definitions = [
    of(tool()),
    of(tool(), "another"),
    of(tool({ description: "x" })),
    of(tool({ description: "x\u200b" })),
    of(tool({ inputSchema: { type: "object", properties: {} } })),
    of(tool({ annotations: { readOnlyHint: true } })),
  ];
  assertEquals(new Set(definitions).size, definitions.length);
  const swapped = tool({ inputSchema: { properties: {}, type: "object" } });
  assertEquals(of(swapped), of(tool({ inputSchema: { type: "object", properties: {} } })));
});

Deno.test("readListing() leaves out what breaks a rule, names it, and keeps the rest", () => {
  let deep: Record<string, unknown> = {};
  for (let at = 0; at < 40; at++) deep = { properties: { a: deep } };
  const cases: [unknown, string][] = [
    ["text", "a tool is no object"],
    [{ inputSchema: {} }, "a tool has no name"],
    [tool({ name: "x".repeat(129) }), "more than 128 characters"],
    [tool({ name: "a\u202eb" }), "hidden characters"],
    [tool({ name: "a/b" }), '"/"'],
    [tool({ description: 7 }), "description is no text"],
    [tool({ inputSchema: undefined }), "its inputSchema is no object"],
    [tool({ inputSchema: { type: "array" } }), 'not of the type "object"'],
    [tool({ inputSchema: { type: "object", ...deep } }), "deeper than 32 levels"],
    [tool({ inputSchema: { type: "object", x: "ä".repeat(40_000) } }), "may have 65536"],
    [tool({ inputSchema: { type: "object", properties: { a: 7 } } }), 'a property "a"'],
    [tool({ inputSchema: { type: "object", required: [7] } }), "required"],
    // One of these makes a provider refuse every call of the turn.
    [tool({ inputSchema: { type: "object", properties: { "a b": {} } } }), 'a property "a b"'],
    [
      tool({ inputSchema: { type: "object", properties: { a: { $ref: "http://x.example/" } } } }),
      'refers to "http://x.example/"',
    ],
    [tool({ annotations: deep }), "its annotations are deeper than 32 levels"],
  ];
  for (const [broken, said] of cases) {
    const { tools, problems } = read({ tools: [broken, tool({ name: "good" })] });
    assertEquals(tools.map(({ tool }) => tool), ["good"]);
    assertStringIncludes(problems.join(), said);
  }
});

Deno.test("readListing() shows hidden characters of descriptions, those of arguments too, and cuts them", () => {
  const { tools } = read({
    tools: [tool({
      description: `a\u{e0041}\u202e\nb${"c".repeat(5_000)}`,
      inputSchema: {
        type: "object",
        properties: {
          description: { type: "string", description: "x\u200by", enum: ["\u200b"] },
        },
      },
    })],
  });
  const [{ description, parameters }] = tools as [typeof tools[0]];
  assert(description.startsWith("a\\u{e0041}\\u{202e}\nbccc"));
  assertEquals(description.length, 4_000);
  const { properties } = parameters as { properties: Record<string, unknown> };
  // Choices have to stay what they are.
  assertEquals(properties.description, {
    type: "string",
    description: "x\\u{200b}y",
    enum: ["\u200b"],
  });
});

Deno.test("readListing() tells of a schema as every provider takes it, and knows the tool by all of it", () => {
  const inputSchema = {
    type: "object",
    properties: {
      b: { properties: { $ref: { type: "string" } } },
      self: { $ref: "#" },
      a: { enum: ["\ud800"] },
    },
    anyOf: [{ required: ["self"] }],
    not: {},
  };
  const { tools, problems } = read({ tools: [tool({ inputSchema })] });
  assertEquals(problems, []);
  assertEquals(tools[0]!.parameters, {
    type: "object",
    properties: {
      b: { properties: { $ref: { type: "string" } } },
      self: { $ref: "#" },
      a: { enum: ["\ufffd"] },
    },
  });
  const { not: _, ...other } = inputSchema;
  assertNotEquals(
    read({ tools: [tool({ inputSchema: other })] }).tools[0]!.definition,
    tools[0]!.definition,
  );
});

Deno.test("readListing() scrubs what it tells of", () => {
  const scrub = (text: string) => text.replaceAll("hunter22", "[secret X]");
  const { tools, resources, problems } = read({
    tools: [
      tool({
        description: "key hunter22",
        inputSchema: { type: "object", properties: { a: { default: "hunter22" } } },
      }),
      tool({ name: "hunter22" }),
      tool({ name: "b", inputSchema: { type: "object", properties: { hunter22: {} } } }),
    ],
    resources: [{ uri: "x://hunter22", name: "n" }],
  }, { scrub });
  assert(!JSON.stringify([tools, resources, problems]).includes("hunter22"));
  assertEquals(tools.length, 1);
  assertEquals(problems, [
    "a tool has a name that holds a secret",
    'tool "b": its inputSchema has an argument whose name holds a secret',
  ]);
});

Deno.test("readListing() keeps its bounds and never throws, whatever a server says", () => {
  const anything = fc.array(
    fc.oneof(fc.anything(), fc.record({ name: fc.string(), inputSchema: fc.object() })),
  );
  fc.assert(fc.property(anything, anything, anything, (tools, resources, prompts) => {
    const plain = JSON.parse(JSON.stringify({ tools, resources, prompts }));
    const listing = read(plain);
    assertEquals(new Set(listing.tools.map(({ name }) => name)).size, listing.tools.length);
    assert(listing.problems.length <= 20);
  }));
  const many = Array.from({ length: 2_000 }, (_, at) => tool({ name: `t${at}` }));
  assertEquals(read({ tools: many }).tools.length, 128);
  assertEquals(read({ resources: many }).resources.length, 1_000);
  assertNotEquals(read({ tools: [tool(), tool()] }).problems, []);
});
