import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../../base/errors.ts";
import { fakeDocuments } from "../testing/fake_documents.ts";
import { FakeTurns, says, type Script, staysSilent } from "../testing/fake_turns.ts";
import { ManualClock } from "../testing/manual_clock.ts";
import { createTurnOpener, type OpenTurn } from "./open_turn.ts";
import { Readers, REPEAT_GRACE_MS } from "./readers.ts";
import { RequestContext } from "./request_context.ts";
import type { RequestPart } from "./tail.ts";

function setUp(
  { script = staysSilent as Script, credential = "key1", turns = new FakeTurns(script) } = {},
) {
  const clock = new ManualClock();
  let reads = 0;
  const opener = createTurnOpener({
    turns,
    documents: {
      extract(document, options) {
        reads++;
        return fakeDocuments.extract(document, options);
      },
    },
    readers: new Readers({ turns, clock }),
    config: { attended: true, timeoutS: 7 },
    actor: "api:key",
    credential,
  });
  const context = () =>
    new RequestContext({
      requestId: "req",
      peer: "127.0.0.1",
      method: "POST",
      path: "/v1/chat/completions",
      elapsed: clock.elapsed,
      accessLog: () => {},
      log: { error: () => {} },
    });
  const open = (
    { headers = {}, signal, ...more }: Partial<OpenTurn> & {
      headers?: Record<string, string>;
      signal?: AbortSignal;
    } = {},
  ) =>
    opener.open({
      route: "/v1/chat/completions",
      sessionId: "a",
      parts: [{ type: "text", text: "hi" }],
      fields: { stream: false },
      request: new Request("http://x/", { headers, signal }),
      context: context(),
      ...more,
    });
  const refusal = (asked: Parameters<typeof open>[0]) =>
    assertRejects(() => open(asked), ServiceError);
  return { clock, turns, open, refusal, context, reads: () => reads };
}

function file(content: string, name = "a.pdf"): RequestPart {
  const bytes = new TextEncoder().encode(content);
  return { type: "file", file: { param: "files[0]", name, bytes, expects: "any" } };
}

const KEYED = { headers: { "idempotency-key": "k-1" } };

Deno.test("open() submits a turn of the session with its files read", async () => {
  const { turns, open, context } = setUp();
  const own = context();
  const opened = await open({
    parts: [{ type: "text", text: "look" }, file("%PDF-1")],
    context: own,
  });
  assertEquals(turns.accepted[0]!.request, {
    sessionKey: "api:a",
    channel: "api",
    actor: "api:key",
    input: [
      { type: "text", text: "look" },
      {
        type: "document",
        name: "a.pdf",
        mediaType: "application/pdf",
        text: "words of a PDF",
        bytes: new TextEncoder().encode("%PDF-1"),
      },
    ],
    durable: false,
    attended: true,
    timeoutMs: 7_000,
    requestKey: undefined,
    response: undefined,
    toldAtEnd: false,
  });
  assertEquals([opened.repeated, own.accepted, opened.signal.aborted], [false, true, false]);
  opened.leave();
  assertEquals([opened.signal.aborted, turns.accepted[0]!.cancelled.aborted], [true, true]);
});

Deno.test("open() has a turn told at its end where its caller hears nothing before, and gave no key", async () => {
  for (
    const [asked, toldAtEnd] of [
      [{ isWhole: true }, true],
      [{ isWhole: false }, false],
      [{ isWhole: true, ...KEYED }, false],
      [{ isWhole: true, background: true }, false],
    ] as const
  ) {
    const { turns, open } = setUp();
    (await open(asked)).leave();
    assertEquals(turns.accepted[0]!.request.toldAtEnd, toldAtEnd, JSON.stringify(asked));
  }
});

Deno.test("open() stores nothing when a file cannot be read", async () => {
  const { turns, refusal, context } = setUp();
  const own = context();
  const parts = [file("%PDF-1"), file("%PDF-broken")];
  assertEquals((await refusal({ parts, context: own })).code, "unreadable_document");
  assertEquals([turns.accepted.length, own.accepted], [0, false]);
});

Deno.test("open() leaves with its client, also with one that is gone already", async () => {
  const { turns, open } = setUp();
  const client = new AbortController();
  const opened = await open({ signal: client.signal });
  client.abort();
  assertEquals([opened.signal.aborted, turns.accepted[0]!.cancelled.aborted], [true, true]);
  const late = await open({ signal: client.signal });
  assertEquals([late.signal.aborted, turns.accepted[1]!.cancelled.aborted], [true, true]);
});

Deno.test("open() keeps a background turn without its reader", async () => {
  const { turns, open, clock } = setUp();
  const opened = await open({ background: true, ...KEYED });
  opened.leave();
  clock.advance(REPEAT_GRACE_MS);
  const [turn] = turns.accepted;
  assertEquals([turn!.request.durable, turn!.over, clock.timers], [true, false, 0]);
  assertEquals(turn!.presence, [true, false]);
  turn!.cancel();
});

Deno.test("open() gives a repeat the same turn, live or finished, and reads no file again", async () => {
  const go = Promise.withResolvers<void>();
  const { turns, open, reads } = setUp({
    async *script(turn) {
      await turn.until(go.promise);
      yield* says(["x"]);
    },
  });
  const asked = { ...KEYED, parts: [file("%PDF-1")] };
  const first = await open(asked);
  const live = await open(asked);
  assertEquals([live.repeated, live.answer.id], [true, first.answer.id]);
  first.leave();
  go.resolve();
  for await (const _ of live.answer.events()) { /* to its end */ }
  live.leave();
  const finished = await open(asked);
  const texts: string[] = [];
  for await (const { event } of finished.answer.events()) {
    if (event.type === "text_delta") texts.push(event.text);
  }
  assertEquals([finished.repeated, texts], [true, ["x"]]);
  assertEquals([turns.accepted.length, reads()], [1, 1]);
  finished.leave();
});

Deno.test("open() gives two requests at once with one key the same turn", async () => {
  const { turns, open } = setUp();
  const both = await Promise.all([open(KEYED), open(KEYED)]);
  assertEquals(turns.accepted.length, 1);
  assertEquals(both.map(({ repeated }) => repeated).sort(), [false, true]);
  for (const { leave } of both) leave();
  turns.accepted[0]!.cancel();
});

Deno.test("open() goes on for 30 s without a reader when there is a key", async () => {
  const { turns, open, clock } = setUp();
  (await open(KEYED)).leave();
  clock.advance(REPEAT_GRACE_MS - 1);
  const again = await open(KEYED);
  assertEquals(again.repeated, true);
  clock.advance(REPEAT_GRACE_MS);
  again.leave();
  assertEquals(turns.accepted[0]!.over, false);
  clock.advance(REPEAT_GRACE_MS);
  assertEquals(turns.accepted[0]!.cancelled.aborted, true);
  // Cancelled before a tool ran: the key is free.
  const anew = await open(KEYED);
  assertEquals([anew.repeated, turns.accepted.length], [false, 2]);
  turns.accepted[1]!.cancel();
  anew.leave();
});

Deno.test("open() refuses a key that was used with another request", async () => {
  const { turns, open, refusal } = setUp();
  const asked = {
    ...KEYED,
    parts: [{ type: "text", text: "hi" }, file("%PDF-1")] as RequestPart[],
  };
  const opened = await open(asked);
  const [words, document] = asked.parts as [RequestPart, RequestPart];
  for (
    const other of [
      { parts: [words] },
      { parts: [document, words] },
      { parts: [words, file("%PDF-2")] },
      { parts: [words, file("%PDF-1", "b.pdf")] },
      { parts: [{ type: "text", text: "hi!" }, document] as RequestPart[] },
      { fields: { stream: true } },
      { fields: { stream: false, model: "m" } },
      { route: "/v1/responses" },
    ]
  ) {
    assertEquals((await refusal({ ...asked, ...other })).code, "idempotency_conflict");
  }
  assertEquals(turns.accepted.length, 1);
  // Neither another session nor another credential has anything to do with it.
  const elsewhere = await open({ ...asked, sessionId: "b" });
  const stranger = await setUp({ turns, credential: "key2" }).open(asked);
  assertEquals([elsewhere.repeated, stranger.repeated, turns.accepted.length], [false, false, 3]);
  for (const turn of turns.accepted) turn.cancel();
  for (const { leave } of [opened, elsewhere, stranger]) leave();
});

Deno.test("open() takes requests for the same whatever the order of their fields", async () => {
  const { open } = setUp({ script: () => [] });
  const object = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 });
  let keys = 0;
  await fc.assert(fc.asyncProperty(object, async (fields) => {
    const headers = { "idempotency-key": `k${++keys}` };
    const turned = Object.fromEntries(Object.entries(fields).reverse());
    (await open({ headers, fields })).leave();
    const again = await open({ headers, fields: { ...turned, nothing: undefined } });
    assertEquals(again.repeated, true);
    again.leave();
  }));
});

for (const key of ["a b", "", "ä", "k".repeat(256), "a\tb"]) {
  Deno.test(`open() refuses the Idempotency-Key ${JSON.stringify(key.slice(0, 10))}`, async () => {
    const { turns, refusal } = setUp();
    const request = new Request("http://x/");
    const headers = {
      get: (name: string) => name === "idempotency-key" ? key : null,
      has: () => false,
    };
    // Not through the constructor, which trims what a socket may carry.
    Object.defineProperty(request, "headers", { value: headers });
    const error = await refusal({ request });
    assertEquals([error.code, error.details.param], ["invalid_request", "Idempotency-Key"]);
    assertEquals(turns.accepted.length, 0);
  });
}

Deno.test("W16 open() answers a helper call of a front end beside the conversation", async () => {
  const { turns, open, context } = setUp({ script: () => says(["A title"]) });
  const own = context();
  const headers = { "x-openwebui-task": "title_generation", "idempotency-key": "k" };
  const opened = await open({ headers, parts: [file("text", "a.txt")], context: own });
  const texts: string[] = [];
  for await (const { event } of opened.answer.events()) {
    if (event.type === "text_delta") texts.push(event.text);
  }
  opened.leave();
  assertEquals([texts, opened.turn, opened.repeated, own.accepted], [
    ["A title"],
    undefined,
    false,
    true,
  ]);
  assertEquals([turns.accepted.length, turns.asides.length], [0, 1]);
  const { input, timeoutMs } = turns.asides[0]!.request;
  assertEquals([input[0]!.type, timeoutMs], ["document", 7_000]);
});

Deno.test("W16 a helper call whose client leaves is cancelled", async () => {
  const { turns, open, refusal } = setUp();
  const client = new AbortController();
  const opened = await open({ headers: { "x-openwebui-task": "tags" }, signal: client.signal });
  client.abort();
  assert(opened.signal.aborted && turns.asides[0]!.cancelled.aborted);
  turns.refusal = new ServiceError("queue_full", "Too many");
  const error = await refusal({ headers: { "x-openwebui-task": "tags" } });
  assertEquals(error.code, "queue_full");
  assertNotEquals(turns.asides.length, 2);
});
