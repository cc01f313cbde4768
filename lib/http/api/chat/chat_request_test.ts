import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../../../base/errors.ts";
import { parseChatRequest } from "./chat_request.ts";

const messages = [{ role: "user", content: "hi" }];

function refusal(body: unknown, header: string | null = null): ServiceError {
  return assertThrows(() => parseChatRequest(body, header), ServiceError);
}

Deno.test("parseChatRequest() fills in what is left out or null", () => {
  const expected = {
    parts: [{ type: "text" as const, text: "hi" }],
    fields: {
      history: [],
      model: undefined,
      stream: false,
      includeUsage: false,
      includeProgress: false,
    },
    sessionId: "default",
    model: undefined,
    stream: false,
    includeUsage: false,
    includeProgress: false,
    takesApprovals: false,
    answer: undefined,
  };
  assertEquals(parseChatRequest({ messages }, null), expected);
  const nulls = { messages, session_id: null, model: null, stream: null, stream_options: null };
  assertEquals(parseChatRequest(nulls, null), expected);
});

Deno.test("parseChatRequest() reads every field and ignores those of other servers", () => {
  assertEquals(
    parseChatRequest({
      messages,
      session_id: "s:1",
      model: "fake/one",
      stream: true,
      stream_options: { include_usage: true, include_progress: true, include_obfuscation: false },
      temperature: 0.2,
      tools: [{ type: "function" }],
      n: 3,
      user: "me",
    }, null),
    {
      parts: [{ type: "text", text: "hi" }],
      fields: {
        history: [],
        model: "fake/one",
        stream: true,
        includeUsage: true,
        includeProgress: true,
      },
      sessionId: "s:1",
      model: "fake/one",
      stream: true,
      includeUsage: true,
      includeProgress: true,
      takesApprovals: false,
      answer: undefined,
    },
  );
});

const approvals = { type: "function", function: { name: "service_approval" } };

Deno.test("parseChatRequest() looks for service_approval among tools, whatever stands there", () => {
  const request = parseChatRequest({ messages, tools: [{}, approvals] }, null);
  assertEquals([request.takesApprovals, request.fields.takesApprovals], [true, true]);
  for (const tools of [null, "service_approval", [null, 1, { function: "service_approval" }], {}]) {
    assertEquals(parseChatRequest({ messages, tools }, null).takesApprovals, false);
  }
});

Deno.test("parseChatRequest() reads the answer to an approval, and nothing else from a tool message", () => {
  const answered = (content: unknown, more: object = {}, before: object[] = messages) => ({
    messages: [...before, { role: "assistant", content: "" }, {
      role: "tool",
      tool_call_id: "approval_apr_1",
      content,
      ...more,
    }],
  });
  const { parts, answer } = parseChatRequest(answered('{"decision":"deny","reason":"no"}'), null);
  assertEquals([parts, answer], [[], { id: "apr_1", decision: "deny", reason: "no" }]);
  const inPieces = [{ type: "text", text: '{"decision":' }, { type: "text", text: '"approve"}' }];
  assertEquals(parseChatRequest(answered(inPieces, {}, []), null).answer?.decision, "approve");
  const words: [unknown, string][] = [
    [
      "yes sat_secret",
      'messages[2].content must be JSON such as {"decision":"approve"}, got other',
    ],
    ["[]", "messages[2].content must be an object with decision, got an empty list"],
    ['{"decision":"allow"}', "messages[2].content.decision must be approve or deny, got"],
    ['{"decision":"approve","digest":"ab"}', "messages[2].content.digest must be the 64 hex"],
    [`{"reason":"${"x".repeat(1_001)}","decision":"deny"}`, "messages[2].content.reason must be"],
    ["x".repeat(1_000_000), "of at most 16000 characters, got 1000000"],
  ];
  for (const [content, message] of words) {
    const error = refusal(answered(content));
    assertEquals([error.code, error.message.includes(message)], ["invalid_request", true], message);
    assert(!error.message.includes("sat_secret"));
  }
  for (const more of [{ tool_call_id: "call_1" }, { tool_call_id: undefined }]) {
    assert(refusal(answered("{}", more)).message.includes('got "tool"'));
  }
  const late = answered('{"decision":"approve"}');
  late.messages.push({ role: "user", content: "and?" });
  assertEquals(refusal(late).details.param, "messages[2].role");
});

for (
  const [body, message] of [
    [[], "The body must be an object with messages, got an empty list"],
    ["x", 'The body must be an object with messages, got "x"'],
    [null, "The body must be an object with messages, got null"],
    [{}, "messages must be a list of messages, got nothing"],
    [{ messages: "hi" }, 'messages must be a list of messages, got "hi"'],
    [{ messages: [] }, "messages must be a list of at least one message, got an empty list"],
    [{ messages: [1] }, "messages[0] must be an object with role and content, got 1"],
    [
      { messages: [{ content: "x" }] },
      "messages[0].role must be a role, such as user, got nothing",
    ],
    [{ messages, stream: "yes" }, 'stream must be true or false, got "yes"'],
    [
      { messages, stream_options: 1 },
      "stream_options must be an object with include_usage or include_progress, got 1",
    ],
    [
      { messages, stream_options: { include_usage: 1 } },
      "stream_options.include_usage must be true or false, got 1",
    ],
    [
      { messages, model: 5 },
      "model must be the id that GET /v1/models shows, or no model, got 5",
    ],
    [
      { messages, session_id: 5 },
      "session_id must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, got 5",
    ],
  ] as [unknown, string][]
) {
  Deno.test(`parseChatRequest() says of ${JSON.stringify(body)} what is wrong`, () => {
    const error = refusal(body);
    assertEquals(error.code, "invalid_request");
    assertEquals(error.message, message);
    const [param] = message.split(" must be");
    assertEquals(error.details.param, param === "The body" ? undefined : param);
  });
}

const PNG = "data:image/png;base64,iVBORw0KGgo=";
const text = (value: string) => ({ type: "text", text: value });

Deno.test("parseChatRequest() reads texts, images and files of the tail in their order", () => {
  const bytes = Uint8Array.fromBase64("iVBORw0KGgo=");
  const history = [{ role: "user", content: 7 }, { role: "assistant", content: null }];
  const { parts, fields } = parseChatRequest({
    messages: [
      ...history,
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          text("One"),
          text("Two"),
          { type: "image_url", image_url: { url: PNG, detail: "low" } },
          { type: "file", file: { filename: "a.pdf", file_data: PNG, file_id: null } },
          { type: "file", file: { file_data: PNG } },
        ],
      },
    ],
  }, null);
  const at = "messages[3].content";
  assertEquals(parts, [
    { type: "text", text: "Be brief.\n\nOne\nTwo" },
    {
      type: "file",
      file: { param: `${at}[2].image_url.url`, name: "", expects: "image", bytes },
    },
    {
      type: "file",
      file: { param: `${at}[3].file.file_data`, name: "a.pdf", expects: "any", bytes },
    },
    { type: "file", file: { param: `${at}[4].file.file_data`, name: "", expects: "any", bytes } },
  ]);
  assertEquals(fields.history, history);
});

for (
  const [content, message] of [
    [5, "messages[1].content must be a string, or a list of content parts, got 5"],
    [null, "messages[1].content must be a string, or a list of content parts, got null"],
    [
      [],
      "messages[1].content must be a string, or a list of at least one content part, got an empty list",
    ],
    [
      [text("a"), { type: "input_audio" }],
      'messages[1].content[1].type must be a part of type text, image_url or file, got "input_audio"',
    ],
    [["a"], 'messages[1].content[0] must be a part of type text, image_url or file, got "a"'],
    [[{ type: "text", text: 1 }], "messages[1].content[0].text must be a string, got 1"],
    [
      [{ type: "image_url", image_url: "http://x/" }],
      "messages[1].content[0].image_url must be an object with url, a data URL with base64 data, " +
      'got "http://x/"',
    ],
    [
      [{ type: "image_url", image_url: {} }],
      "messages[1].content[0].image_url.url must be a data URL with base64 data, got nothing",
    ],
    [
      [{ type: "file", file: { file_id: "file-1" } }],
      "messages[1].content[0].file.file_data must be a data URL with base64 data, got nothing",
    ],
    [
      [{ type: "file", file: { file_data: "https://x.example/a.pdf" } }],
      "messages[1].content[0].file.file_data must be a data URL with base64 data; remote URLs are " +
      "not fetched",
    ],
    [
      [{ type: "file", file: { file_data: PNG, filename: 1 } }],
      "messages[1].content[0].file.filename must be the name of the file, got 1",
    ],
  ] as [unknown, string][]
) {
  Deno.test(`parseChatRequest() refuses the content ${JSON.stringify(content)} by name`, () => {
    const error = refusal({ messages: [...messages, { role: "user", content }] });
    assertEquals(error.code, "invalid_request");
    assertEquals(error.message, message);
    assertEquals(error.details.param, message.slice(0, message.indexOf(" ")));
  });
}

Deno.test("parseChatRequest() is quick with a list of a hundred thousand wrong messages", () => {
  const many = Array(100_000).fill(0);
  assertEquals(refusal({ messages: many }).details.param, "messages[0]");
  const parts = refusal({ messages: [{ role: "user", content: many }] });
  assertEquals(parts.details.param, "messages[0].content[0]");
});

Deno.test("parseChatRequest() shows no more than the beginning of a long value", () => {
  const { message } = refusal({ messages, session_id: "x".repeat(1_000) });
  assert(message.length < 250);
  assert(message.endsWith("(1000 characters)"));
});

for (const id of ["", "a b", "a/b", "ä", "a".repeat(129), "a\n", "a?", "a%20"]) {
  Deno.test(`parseChatRequest() refuses the session ${JSON.stringify(id.slice(0, 10))}`, () => {
    assertEquals(refusal({ messages, session_id: id }).details.param, "session_id");
    assertEquals(refusal({ messages }, id).details.param, "X-Session-Id");
  });
}

Deno.test("parseChatRequest() takes the session from the header, and refuses two of them", () => {
  assertEquals(parseChatRequest({ messages }, "h-1").sessionId, "h-1");
  assertEquals(parseChatRequest({ messages, session_id: "h-1" }, "h-1").sessionId, "h-1");
  const error = refusal({ messages, session_id: "b-1" }, "h-1");
  assertEquals(error.code, "invalid_request");
  assertEquals(error.details.param, "session_id");
});

Deno.test("parseChatRequest() accepts every session id of the rule", () => {
  const id = fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/);
  fc.assert(fc.property(id, (session_id) => {
    assertEquals(parseChatRequest({ messages, session_id }, null).sessionId, session_id);
  }));
});

Deno.test("parseChatRequest() gives a request or a ServiceError for any JSON", () => {
  const field = fc.oneof(fc.jsonValue(), fc.constant(messages));
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({ messages: field, session_id: field, stream: field, stream_options: field }, {
      requiredKeys: [],
    }),
  );
  fc.assert(fc.property(body, (value) => {
    try {
      parseChatRequest(value, null);
    } catch (error) {
      assert(error instanceof ServiceError, String(error));
      assert(["invalid_request", "no_user_message"].includes(error.code), error.code);
    }
  }));
});

Deno.test("parseChatRequest() looks at no content of the history, which may have none", () => {
  const called = { role: "assistant", tool_calls: [{ id: "c1" }] };
  const { parts } = parseChatRequest({ messages: [called, ...messages] }, null);
  assertEquals(parts, [{ type: "text", text: "hi" }]);
  const error = refusal({ messages: [{ role: "user" }] });
  assertEquals([error.code, error.details.param], ["invalid_request", "messages[0].content"]);
});
