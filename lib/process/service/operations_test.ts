import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { fakeDocuments } from "../../http/testing/fake_documents.ts";
import { ended, FakeTurns, says, type Script } from "../../http/testing/fake_turns.ts";
import type { StoredEvent } from "../../contract/events.ts";
import { someParts } from "../../operations/testing/gateway_parts.ts";
import type { Journal } from "../../contract/journal.ts";
import { openJournal } from "../../journal/open.ts";
import { ending } from "../../journal/testing/steps.ts";
import type { AskedPart } from "../../local/protocol.ts";
import { createOperations } from "./operations.ts";

function setUp(script: Script = () => [...says(["ok"]), ended()]) {
  const turns = new FakeTurns(script);
  const operations = createOperations({
    ...someParts({}),
    operate: () => Promise.reject(new Error("nobody asks")),
    checkFolder: () => Promise.reject(new Error("none is asked for")),
    turns,
    documents: fakeDocuments,
    // The operation under test has no business with it.
    journal: {} as Journal,
  });
  const run = async (input: unknown, signal = new AbortController().signal) => {
    const params = { sessionKey: "cli:a", input: input as AskedPart[] };
    const types: string[] = [];
    for await (const { event } of operations.turn(params, signal)) types.push(event.type);
    return types;
  };
  const refusal = (input: unknown, signal?: AbortSignal) =>
    assertRejects(() => run(input, signal), ServiceError);
  return { turns, operations, run, refusal };
}

function file(name: string, content: string): AskedPart {
  return { type: "file", name, data: btoa(content) };
}

Deno.test("turn finds out what each file is", async () => {
  const { turns, run } = setUp();
  const types = await run([
    { type: "text", text: "look" },
    file("photo.txt", "\x89PNG\r\n\x1a\n"),
    file("notes.md", "# Notes"),
    file("report", "%PDF-1.7"),
  ]);
  assertEquals(types.at(-1), "turn_end");
  assertEquals(
    turns.accepted[0]!.request.input.map((part) => {
      const { type } = part;
      if (type === "text") return [type, part.text];
      return type === "image"
        ? [type, part.mediaType]
        : [type, part.name, part.mediaType, part.text];
    }),
    [
      ["text", "look"],
      ["image", "image/png"],
      ["document", "notes.md", "text/plain", "# Notes"],
      ["document", "report", "application/pdf", "words of a PDF"],
    ],
  );
});

Deno.test("turn refuses a file that cannot be read, and opens no turn", async () => {
  const { turns, refusal } = setUp();
  for (
    const [part, code] of [
      [file("x.pdf", "%PDF-broken"), "unreadable_document"],
      [file("x", "\x00\x01"), "unsupported_media_type"],
      [file("x", ""), "invalid_request"],
      [{ type: "file", name: "x", data: "?" }, "invalid_request"],
      [file("x", "a".repeat(10 * 1024 * 1024 + 1)), "too_large"],
    ] as const
  ) {
    const error = await refusal([{ type: "text", text: "hi" }, part]);
    assertEquals([error.code, error.details.param], [code, "file"]);
  }
  const shape = await refusal([{ type: "image", mediaType: "image/png", data: "" }]);
  assertEquals(shape.code, "invalid_request");
  assertEquals(turns.accepted.length, 0);
});

Deno.test("turn is cancelled while its files are read", async () => {
  const { turns, refusal } = setUp();
  const error = await refusal([file("x.pdf", "%PDF-1.7")], AbortSignal.abort());
  assertEquals(error.code, "turn_cancelled");
  assertEquals(turns.accepted.length, 0);
});

Deno.test("follow tells a turn that runs from its start, with its message, and goes on behind what was seen", async () => {
  const journal = openJournal({ path: ":memory:" });
  const operations = createOperations({
    ...someParts({}),
    operate: () => Promise.reject(new Error("nobody asks")),
    checkFolder: () => Promise.reject(new Error("none is asked for")),
    turns: new FakeTurns(() => []),
    documents: fakeDocuments,
    journal,
  });
  const key = "cli:a";
  const { turn } = await journal.accept({
    id: "one",
    sessionKey: key,
    channel: "cli",
    actor: "cli:local",
    input: [{ type: "text", text: "hello" }],
    durable: false,
  });
  await journal.start("one");
  await journal.append("one", [{ type: "turn_start", model: "fake" }]);
  const stop = new AbortController();
  const items = operations.follow({ key }, stop.signal)[Symbol.asyncIterator]();
  const next = async () => (await items.next()).value;
  const first = await next();
  assertEquals(first, {
    seq: turn.afterSeq,
    epoch: journal.epoch(key),
    turnId: "one",
    running: "one",
  });
  const start = await next();
  assertEquals(start.said, { text: "hello", files: [], actor: "cli:local" });
  await journal.append("one", [{ type: "notice", text: "now" }]);
  const { stored: { seq, event } } = await next();
  assertEquals(event, { type: "notice", text: "now" });
  const seen = { seq: seq - 1, epoch: journal.epoch(key) };
  const again = operations.follow({ key, seen }, stop.signal)[Symbol.asyncIterator]();
  await again.next();
  const missed = (await again.next()).value as { stored: StoredEvent };
  assertEquals(missed.stored.event, { type: "notice", text: "now" });
  // The service was killed, and all of another turn came before this reader.
  await journal.end("one", ending());
  await journal.accept({
    id: "two",
    sessionKey: key,
    channel: "cli",
    actor: "cli:local",
    input: [{ type: "text", text: "meanwhile" }],
    durable: false,
  });
  await journal.start("two");
  await journal.append("two", [{ type: "turn_start", model: "fake" }]);
  await journal.end("two", ending());
  const lost = { seq: 99, epoch: "before", turnId: "one" };
  const late = operations.follow({ key, seen: lost }, stop.signal)[Symbol.asyncIterator]();
  await late.next();
  const told = (await late.next()).value as { stored: StoredEvent; said: unknown };
  assertEquals([told.stored.turnId, told.stored.event.type], ["two", "turn_start"]);
  stop.abort();
  await journal.close();
});

Deno.test("say tells at once what became of a message", async () => {
  const { operations, turns } = setUp(() => [...says(["ok"]), ended()]);
  const params = { sessionKey: "cli:a", input: [{ type: "text" as const, text: "hi" }] };
  const told = await Array.fromAsync(operations.say(params, new AbortController().signal));
  assertEquals(told, [{ turnId: "turn1" }]);
  assertEquals(turns.accepted.length, 1);
});

Deno.test("operate takes nothing that counts by the gateway's own word, and nothing huge", async () => {
  const { operations } = setUp();
  const { signal } = new AbortController();
  const large = { op: "settings.change", changes: "x".repeat(3 * 1024 * 1024) };
  const tooLarge = await assertRejects(
    () => operations.operate({ request: large }, signal) as Promise<unknown>,
    ServiceError,
  );
  assertEquals([tooLarge.code, tooLarge.details.param], ["invalid_request", "request"]);
  for (
    const request of [
      { op: "commissions.revoke", automationId: "daily" },
      { op: "commissions.finish", id: "com_1", outcome: "done" },
    ]
  ) {
    const error = await assertRejects(
      () => operations.operate({ request }, signal) as Promise<unknown>,
      ServiceError,
    );
    assertEquals([error.code, error.details.param], ["invalid_request", "request.op"]);
  }
});
