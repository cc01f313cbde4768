import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../../../base/errors.ts";
import type { RequestPart } from "../tail.ts";
import { parseResponsesRequest } from "./responses_request.ts";
import { rounds } from "../../../../tests/support/rounds.ts";

const PNG = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const PNG_URL = `data:image/png;base64,${PNG.toBase64()}`;

function parse(body: unknown, header: string | null = null) {
  return parseResponsesRequest(body, header);
}

function parts(input: unknown): RequestPart[] {
  return parse({ input }).parts;
}

function textOf(input: unknown): string {
  const [part] = parts(input);
  assert(part?.type === "text");
  return part.text;
}

function refusal(body: unknown, header: string | null = null): { code: string; param?: string } {
  const { code, message, details } = assertThrows(() => parse(body, header), ServiceError);
  if (details.param !== undefined) {
    assert(message.includes(details.param), `${message} does not name ${details.param}`);
  }
  return { code, param: details.param };
}

function invalid(param: string | undefined) {
  return { code: "invalid_request", param };
}

Deno.test("parseResponsesRequest() takes the input in all its forms", () => {
  const text = { type: "input_text", text: "hi" };
  assertEquals(textOf("hi"), "hi");
  assertEquals(textOf([text]), "hi");
  assertEquals(textOf([{ role: "user", content: "hi" }]), "hi");
  assertEquals(textOf([{ type: "message", role: "user", content: [text] }]), "hi");
  assertEquals(textOf([{ type: null, role: "user", content: [text], status: null }]), "hi");
});

Deno.test("parseResponsesRequest() keeps what follows the last item of the assistant", () => {
  const before = [
    { role: "user", content: "old" },
    { role: "tool", content: 7 },
  ];
  const turn = [
    { role: "system", content: "Briefly." },
    {
      role: "user",
      content: [{ type: "input_text", text: "a" }, { type: "input_text", text: "b" }],
    },
    { role: "developer", content: "In English." },
  ];
  const answers = [
    { role: "assistant", content: [{ type: "output_text", text: "x" }] },
    {
      type: "message",
      role: "assistant",
      id: "msg_1",
      content: [{ type: "refusal", refusal: "" }],
    },
    { type: "item_reference", id: "msg_1" },
    { id: "msg_1" },
  ];
  for (const answer of answers) {
    assertEquals(textOf([...before, answer, ...turn]), "Briefly.\n\na\nb\n\nIn English.");
  }
});

Deno.test("parseResponsesRequest() takes images and files as data URLs", () => {
  const [image, nested, file, text] = parts([
    { type: "input_image", image_url: PNG_URL, detail: "auto" },
    { type: "input_image", image_url: { url: PNG_URL } },
    { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,aGk=" },
    { type: "input_text", text: "look" },
  ]);
  assert(image?.type === "file" && nested?.type === "file" && file?.type === "file");
  assertEquals(image.file, {
    param: "input[0].image_url",
    name: "",
    expects: "image",
    bytes: PNG,
  });
  assertEquals(nested.file.param, "input[1].image_url.url");
  assertEquals(file.file.name, "a.txt");
  assertEquals(file.file.expects, "any");
  assertEquals(text, { type: "text", text: "look" });
});

Deno.test("parseResponsesRequest() has the defaults of docs/http-api.md", () => {
  const { parts: _, fields: __, ...options } = parse({ input: "hi", store: null, metadata: null });
  assertEquals(options, {
    previousResponseId: undefined,
    model: undefined,
    stream: false,
    store: true,
    background: false,
    metadata: {},
    sessionId: undefined,
  });
});

Deno.test("parseResponsesRequest() names the field that is wrong", () => {
  const long = "x".repeat(513);
  const pairs = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, "v"]));
  const cases: [body: unknown, param: string | undefined][] = [
    [[], undefined],
    [null, undefined],
    [{}, "input"],
    [{ input: 7 }, "input"],
    [{ input: [] }, "input"],
    [{ input: ["hi"] }, "input[0]"],
    [{ input: [null] }, "input[0]"],
    [
      { input: [{ role: "user", content: "hi" }, { type: "input_text", text: "hi" }] },
      "input[1].type",
    ],
    [
      { input: [{ type: "input_text", text: "hi" }, { role: "user", content: "hi" }] },
      "input[1].type",
    ],
    [{ input: [{ type: 7 }] }, "input[0].type"],
    [{ input: [{ type: "message", content: "hi" }] }, "input[0].role"],
    [{ input: [{ content: "hi" }] }, "input[0].role"],
    [{ input: [{ type: "item_reference" }] }, "input[0].id"],
    [{ input: [{ role: "tool", content: "hi" }] }, "input[0].role"],
    [{ input: [{ role: "user" }] }, "input[0].content"],
    [{ input: [{ role: "user", content: [] }] }, "input[0].content"],
    [
      { input: [{ role: "user", content: [{ type: "text", text: "hi" }] }] },
      "input[0].content[0].type",
    ],
    [{ input: [{ role: "user", content: [{ type: "input_text" }] }] }, "input[0].content[0].text"],
    [{ input: [{ type: "input_image", file_id: "file_1" }] }, "input[0].image_url"],
    [{ input: [{ type: "input_image", image_url: { url: 1 } }] }, "input[0].image_url.url"],
    [{ input: [{ type: "input_file", file_id: "file_1" }] }, "input[0].file_data"],
    [{ input: [{ type: "input_file", file_data: "https://x/y" }] }, "input[0].file_data"],
    [
      { input: [{ type: "input_image", image_url: "data:image/png;base64,*" }] },
      "input[0].image_url",
    ],
    [{ input: "hi", session_id: "a b" }, "session_id"],
    [{ input: "hi", previous_response_id: "chatcmpl-1" }, "previous_response_id"],
    [{ input: "hi", previous_response_id: 1 }, "previous_response_id"],
    [{ input: "hi", stream: "yes" }, "stream"],
    [{ input: "hi", store: 1 }, "store"],
    [{ input: "hi", background: "true" }, "background"],
    [{ input: "hi", background: true, store: false }, "background"],
    [{ input: "hi", metadata: [] }, "metadata"],
    [{ input: "hi", metadata: pairs }, "metadata"],
    [{ input: "hi", metadata: { [long.slice(0, 65)]: "v" } }, "metadata"],
    [{ input: "hi", metadata: { topic: long } }, "metadata.topic"],
    [{ input: "hi", metadata: { topic: 7 } }, "metadata.topic"],
    [{ input: "hi", conversation: "conv_1" }, "conversation"],
    [{ input: "hi", prompt: { id: "pmpt_1" } }, "prompt"],
  ];
  for (const [body, param] of cases) {
    assertEquals(refusal(body), invalid(param), JSON.stringify(body).slice(0, 120));
  }
  assertEquals(refusal({ input: "hi" }, "a b"), invalid("X-Session-Id"));
  assertEquals(refusal({ input: "hi", session_id: "a" }, "b"), invalid("session_id"));
});

Deno.test("parseResponsesRequest() says what to use instead", () => {
  const { message } = assertThrows(
    () => parse({ input: "hi", conversation: { id: "c" } }),
    ServiceError,
  );
  assertEquals(
    message,
    "conversation must be left out: session_id or previous_response_id names the conversation, " +
      "got an object",
  );
  const both = assertThrows(
    () => parse({ input: "hi", background: true, store: false }),
    ServiceError,
  );
  assert(both.message.includes("background") && both.message.includes("store"));
});

Deno.test("parseResponsesRequest() takes conversation and prompt that are null", () => {
  assertEquals(parse({ input: "hi", conversation: null, prompt: null }).parts.length, 1);
});

Deno.test("parseResponsesRequest() refuses what only a client with tools would send, anywhere", () => {
  const user = { role: "user", content: "hi" };
  for (
    const type of ["function_call", "function_call_output", "reasoning", "web_search_call", ""]
  ) {
    for (
      const [index, input] of [[{ type }, user], [user, { type }], [user, { type }, {
        role: "assistant",
      }, user]].entries()
    ) {
      assertEquals(refusal({ input }), invalid(`input[${index === 0 ? 0 : 1}].type`));
    }
  }
});

Deno.test("parseResponsesRequest() wants something from the user after the last answer", () => {
  const user = { role: "user", content: "hi" };
  const inputs: unknown[] = [
    " \n",
    [{ type: "input_text", text: "\u200b" }],
    [{ role: "system", content: "Be brief" }],
    [user, { role: "assistant", content: "yes" }],
    [user, { type: "item_reference", id: "msg_1" }],
    [{ role: "user", content: "" }],
  ];
  for (const input of inputs) {
    assertEquals(refusal({ input }), { code: "no_user_message", param: "input" });
  }
  assertEquals(refusal({ input: [{ type: "input_image", image_url: "https://x/y.png" }] }), {
    code: "unsupported_image_url",
    param: "input[0].image_url",
  });
});

Deno.test("parseResponsesRequest() takes any body or says what is wrong with it", () => {
  fc.assert(
    fc.property(anyBody, (body) => {
      try {
        const { parts } = parse(JSON.parse(JSON.stringify(body)));
        assert(parts.length > 0);
      } catch (error) {
        assert(error instanceof ServiceError, String(error));
        assert(error.details.param === undefined || error.message.includes(error.details.param));
      }
    }),
    { numRuns: rounds(500) },
  );
});

const anyField = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom("resp_1", PNG_URL, "user"),
);

const anyPart = fc.record({
  type: fc.constantFrom("input_text", "input_image", "input_file", "output_text", "text"),
  text: anyField,
  image_url: anyField,
  file_data: anyField,
}, { requiredKeys: ["type"] });

const anyItem = fc.record({
  type: fc.oneof(anyField, fc.constantFrom("message", "item_reference", "reasoning", null)),
  role: fc.oneof(anyField, fc.constantFrom("user", "assistant", "system", "__proto__")),
  content: fc.oneof(anyField, fc.array(anyPart, { maxLength: 3 })),
  id: anyField,
}, { requiredKeys: [] });

const anyBody = fc.oneof(
  fc.jsonValue(),
  fc.record({
    input: fc.oneof(
      anyField,
      fc.array(fc.oneof(anyItem, anyPart, anyField), { maxLength: 4 }),
      fc.array(fc.record({ role: fc.constant("user"), content: fc.string() }), { maxLength: 3 }),
    ),
    metadata: fc.oneof(anyField, fc.dictionary(fc.string(), fc.string())),
    stream: anyField,
    previous_response_id: anyField,
    conversation: fc.option(anyField),
  }, { requiredKeys: ["input"] }),
);
