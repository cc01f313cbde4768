import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../../errors.ts";
import type { AnyMessage } from "./chat_request.ts";
import { MAX_FILES, turnInput } from "./tail.ts";

const PNG = "data:image/png;base64,iVBORw0KGgo=";
const PNG_PART = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;

const image = (url: string) => ({ type: "image_url", image_url: { url } });
const text = (value: string) => ({ type: "text", text: value });
const user = (content: unknown): AnyMessage => ({ role: "user", content });

function refusal(messages: AnyMessage[]): ServiceError {
  return assertThrows(() => turnInput(messages), ServiceError);
}

Deno.test("turnInput() is what follows the last assistant message, joined by blank lines", () => {
  assertEquals(
    turnInput([
      { role: "system", content: "old frame" },
      user("old question"),
      { role: "assistant", content: null, tool_calls: [] },
      { role: "tool", content: 7 },
      { role: "assistant", content: "old answer" },
      { role: "system", content: "Be brief." },
      user("One"),
      { role: "developer", content: [text("Two"), text("Three")] },
    ]),
    [{ type: "text", text: "Be brief.\n\nOne\n\nTwo\nThree" }],
  );
});

Deno.test("turnInput() keeps images in their places", () => {
  assertEquals(
    turnInput([
      user([text("before"), image(PNG), text("after")]),
      user([text("more"), text("lines")]),
      user([image(PNG)]),
    ]),
    [
      { type: "text", text: "before" },
      PNG_PART,
      { type: "text", text: "after\n\nmore\nlines" },
      PNG_PART,
    ],
  );
});

Deno.test("turnInput() takes an image without words and drops blank text beside it", () => {
  assertEquals(turnInput([user([image(PNG)])]), [PNG_PART]);
  assertEquals(turnInput([user([text(" "), image(PNG)])]), [PNG_PART]);
});

for (
  const [name, messages] of [
    ["a system message alone", [{ role: "system", content: "x" }]],
    ["nothing after the assistant", [user("x"), { role: "assistant", content: "y" }]],
    ["a system message after the assistant", [
      user("x"),
      { role: "assistant", content: "y" },
      { role: "system", content: "z" },
    ]],
    ["blank text", [user(" \n\t")]],
    ["blank parts", [user([text(""), text(" ")])]],
  ] as [string, AnyMessage[]][]
) {
  Deno.test(`turnInput() refuses ${name} with no_user_message`, () => {
    const error = refusal(messages);
    assertEquals(error.code, "no_user_message");
    assertEquals(error.details.param, "messages");
  });
}

for (
  const [content, message] of [
    [
      5,
      "messages[1].content must be a string, or a list of content parts, got 5",
    ],
    [
      null,
      "messages[1].content must be a string, or a list of content parts, got null",
    ],
    [
      [],
      "messages[1].content must be a string, or a list of at least one content part, got an empty list",
    ],
    [
      [text("a"), { type: "input_audio" }],
      'messages[1].content[1].type must be a part of type text or image_url, got "input_audio"',
    ],
    [
      ["a"],
      'messages[1].content[0] must be a part of type text or image_url, got "a"',
    ],
    [
      [{ type: "text", text: 1 }],
      "messages[1].content[0].text must be a string, got 1",
    ],
    [
      [{ type: "image_url", image_url: "http://x/" }],
      "messages[1].content[0].image_url must be an object with url, a data URL with base64 data, " +
      'got "http://x/"',
    ],
    [
      [{ type: "image_url", image_url: {} }],
      "messages[1].content[0].image_url.url must be a data URL with base64 data, got nothing",
    ],
  ] as [unknown, string][]
) {
  Deno.test(`turnInput() refuses the content ${JSON.stringify(content)} by name`, () => {
    const error = refusal([user("fine"), user(content)]);
    assertEquals(error.code, "invalid_request");
    assertEquals(error.message, message);
    assertEquals(error.details.param, message.slice(0, message.indexOf(" ")));
  });
}

Deno.test("turnInput() refuses another role in the tail by its place", () => {
  const error = refusal([
    { role: "assistant", content: "x" },
    user("y"),
    { role: "tool", content: "z" },
  ]);
  assertEquals(error.code, "invalid_request");
  assertEquals(error.details.param, "messages[2].role");
});

Deno.test("turnInput() counts files over all messages of the tail", () => {
  const many = Array.from({ length: MAX_FILES / 2 }, () => image(PNG));
  assertEquals(turnInput([user(many), user(many)]).length, MAX_FILES);
  const error = refusal([user(many), user([...many, image(PNG)])]);
  assertEquals(error.code, "too_large");
  assertEquals(error.details.param, "messages[1].content[10].image_url.url");
});

Deno.test("turnInput() refuses more than 64 MiB of files together", () => {
  const bytes = new Uint8Array(10 * 1024 * 1024);
  bytes.set([0xff, 0xd8, 0xff]);
  const large = image(`data:image/jpeg;base64,${bytes.toBase64()}`);
  assertEquals(turnInput([user(Array(6).fill(large))]).length, 6);
  const error = refusal([user(Array(7).fill(large))]);
  assertEquals(error.code, "too_large");
  assertEquals(error.details.param, "messages[0].content[6].image_url.url");
});

// --- properties ---

const words = fc.string({ minLength: 1, maxLength: 8 });
const content = fc.oneof(words, fc.array(words.map(text), { minLength: 1, maxLength: 3 }));
const inTail = fc.record({ role: fc.constantFrom("user", "system", "developer"), content });
const anywhere = fc.record({
  role: fc.constantFrom("user", "system", "developer", "assistant", "tool", "function", "x"),
  content: fc.oneof(content, fc.constant(null), fc.integer(), fc.jsonValue()),
});

function textOf(value: unknown): string {
  return typeof value === "string"
    ? value
    : (value as { text: string }[]).map((part) => part.text).join("\n");
}

Deno.test("turnInput() depends on nothing up to the last assistant message", () => {
  fc.assert(fc.property(fc.array(anywhere), fc.array(inTail), (history, tail) => {
    const outcome = (messages: AnyMessage[]) => {
      try {
        return turnInput(messages);
      } catch (error) {
        return (error as ServiceError).code;
      }
    };
    assertEquals(
      outcome([...history, { role: "assistant", content: null }, ...tail]),
      outcome(tail),
    );
  }));
});

Deno.test("turnInput() joins any tail in order, or refuses it for want of a user's message", () => {
  fc.assert(fc.property(fc.array(inTail, { maxLength: 6 }), (tail) => {
    const joined = tail.map((message) => textOf(message.content)).join("\n\n");
    const isTurn = tail.some(({ role }) => role === "user") && joined.trim() !== "";
    if (isTurn) assertEquals(turnInput(tail), [{ type: "text", text: joined }]);
    else assertEquals(refusal(tail).code, "no_user_message");
  }));
});

Deno.test("turnInput() gives input or a ServiceError for any list, and changes nothing in it", () => {
  const message = fc.record({ role: fc.string(), content: fc.jsonValue() });
  fc.assert(fc.property(fc.array(fc.oneof(anywhere, inTail, message)), (messages) => {
    const before = JSON.stringify(messages);
    try {
      const input = turnInput(messages);
      assert(input.length > 0);
    } catch (error) {
      assert(error instanceof ServiceError, String(error));
    }
    assertEquals(JSON.stringify(messages), before);
  }));
});
