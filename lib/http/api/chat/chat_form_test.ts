import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import fc from "fast-check";
import { MAX_FILES } from "../../../documents/read_upload.ts";
import { ServiceError } from "../../../base/errors.ts";
import type { FormEntry } from "../../multipart.ts";
import { parseChatForm } from "./chat_form.ts";

const BYTES = new Uint8Array([1, 2, 3]);

function file(fileName: string, name = "files", bytes = BYTES): FormEntry {
  return { name, fileName, bytes };
}

function field(name: string, text: string): FormEntry {
  return { name, text };
}

function refusal(entries: FormEntry[], header: string | null = null): ServiceError {
  return assertThrows(() => parseChatForm(entries, header), ServiceError);
}

Deno.test("parseChatForm() reads message and files in their order", () => {
  const { parts, ...rest } = parseChatForm(
    [file("a.txt"), field("message", "look\nhere"), file("b.pdf")],
    null,
  );
  assertEquals(parts, [
    { type: "text", text: "look\nhere" },
    { type: "file", file: { param: "files[0]", name: "a.txt", bytes: BYTES, expects: "any" } },
    { type: "file", file: { param: "files[1]", name: "b.pdf", bytes: BYTES, expects: "any" } },
  ]);
  const options = {
    model: undefined,
    stream: false,
    includeUsage: false,
    includeProgress: false,
  };
  assertEquals(rest, {
    fields: options,
    sessionId: "default",
    ...options,
    takesApprovals: false,
  });
});

Deno.test("parseChatForm() reads every field, and ignores other text", () => {
  const form = [
    field("message", "hi"),
    field("session_id", "s-1"),
    field("model", "fake/one"),
    field("stream", "true"),
    field("temperature", "0.2"),
    field("temperature", "0.3"),
  ];
  const { sessionId, model, stream } = parseChatForm(form, null);
  assertEquals([sessionId, model, stream], ["s-1", "fake/one", true]);
  assertEquals(
    parseChatForm([field("message", "hi"), field("stream", "false")], "h").stream,
    false,
  );
  assertEquals(parseChatForm(form, "s-1").sessionId, "s-1");
  assertEquals(parseChatForm([field("message", "hi")], "h-1").sessionId, "h-1");
});

Deno.test("parseChatForm() takes files without a message, and no file for none", () => {
  assertEquals(parseChatForm([file("a")], null).parts.length, 1);
  assertEquals(parseChatForm([file("a"), field("message", " ")], null).parts.length, 1);
  const unchosen = file("", "files", new Uint8Array());
  assertEquals(parseChatForm([field("message", "hi"), unchosen], null).parts.length, 1);
  for (const entries of [[], [field("message", " \n")], [unchosen], [field("text", "hi")]]) {
    const error = refusal(entries);
    assertEquals([error.code, error.details.param], ["no_user_message", "message"]);
  }
});

const MESSAGE = field("message", "hi");

for (
  const [entries, header, param, told] of [
    [[file("a", "message")], null, "message", "got a file"],
    [[MESSAGE, file("a", "file")], null, "file", "got a file"],
    [[MESSAGE, field("files", "text")], null, "files", "got text"],
    [[MESSAGE, MESSAGE], null, "message", "got several"],
    [[MESSAGE, field("stream", "yes")], null, "stream", 'got "yes"'],
    [[MESSAGE, field("stream", "")], null, "stream", 'got ""'],
    [[MESSAGE, field("session_id", "a b")], null, "session_id", 'got "a b"'],
    [[MESSAGE, field("session_id", "")], null, "session_id", 'got ""'],
    [[MESSAGE, field("session_id", "a"), field("session_id", "a")], null, "session_id", "several"],
    [[MESSAGE, field("session_id", "a")], "b", "session_id", "different sessions"],
    [[MESSAGE], "a b", "X-Session-Id", 'got "a b"'],
  ] as [FormEntry[], string | null, string, string][]
) {
  Deno.test(`parseChatForm() names a wrong ${param} (${told})`, () => {
    const error = refusal(entries, header);
    assertEquals([error.code, error.details.param], ["invalid_request", param]);
    assertStringIncludes(error.message, told);
  });
}

Deno.test("parseChatForm() counts files", () => {
  const many = Array.from({ length: MAX_FILES }, (_, at) => file(`${at}`));
  assertEquals(parseChatForm(many, null).parts.length, MAX_FILES);
  const error = refusal([...many, file("last")]);
  assertEquals([error.code, error.details.param], ["too_large", `files[${MAX_FILES}]`]);
});

Deno.test("parseChatForm() gives a request or a ServiceError for any form", () => {
  const name = fc.oneof(
    fc.constantFrom("message", "files", "session_id", "stream", "model", "__proto__", "toString"),
    fc.string(),
  );
  const entry = fc.oneof(
    fc.record({ name, text: fc.oneof(fc.string(), fc.constantFrom("true", "a")) }),
    fc.record({ name, fileName: fc.string(), bytes: fc.uint8Array({ maxLength: 3 }) }),
  );
  fc.assert(fc.property(fc.array(entry), (entries) => {
    try {
      assert(parseChatForm(entries as FormEntry[], null).parts.length > 0);
    } catch (error) {
      assert(error instanceof ServiceError, String(error));
    }
  }));
});
