import { assertEquals, assertRejects } from "@std/assert";
import { TestChannel } from "./testing/test_channel.ts";

const SEND = /\/send\/m\.room\.message\//;

Deno.test("MatrixChannel shows an answer while it grows by edits, no more often than it may (C26)", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  await test.delta("One");
  assertEquals(server.sent().map(({ text }) => text), ["One"]);
  const next = test.delta(" two");
  host.clock.tick(2_999);
  await Promise.resolve();
  assertEquals(server.sent().map(({ text }) => text), ["One"]);
  await test.tickUntil(() => server.sent()[0]!.text === "One two", 1);
  await next;
  const end = test.delta(" three", { streamEnd: true });
  await test.tickUntil(() => server.sent()[0]!.text === "One two three");
  await end;
  assertEquals(server.sent().length, 1);
  const { event } = server.shownEvents()[0]!;
  const edits = [...server.rooms.rooms.get(server.chatId)!.timeline]
    .filter(({ content }) => content["m.new_content"] !== undefined);
  const automated = { "org.matrix.msc1767.automated": true };
  assertEquals(edits.at(-1)!.content, {
    ...automated,
    msgtype: "m.text",
    body: "* One two three",
    "m.mentions": {},
    "m.new_content": { ...automated, msgtype: "m.text", body: "One two three", "m.mentions": {} },
    "m.relates_to": { rel_type: "m.replace", event_id: event.event_id },
  });
});

Deno.test("MatrixChannel never mixes two streams of a chat, and the end of a cancelled one comes (C26)", async () => {
  await using test = await TestChannel.connected({ editEveryMs: 100 });
  const { server } = test;
  await test.delta("a1", { streamId: "a" });
  await test.delta("b1", { streamId: "b" });
  const ends = Promise.all([
    test.delta(" a2", { streamId: "a", streamEnd: true }),
    test.delta("", { streamId: "b", streamEnd: true }),
  ]);
  await test.tickUntil(() => server.sent()[0]!.text === "a1 a2", 50);
  await ends;
  assertEquals(server.sent().map(({ text }) => text), ["a1 a2", "b1"]);
});

Deno.test("MatrixChannel repeats nothing of a piece that was cut off or refused (C27)", async () => {
  await using test = await TestChannel.connected({ editEveryMs: 100 });
  const { server } = test;
  // The server has the first text, and nobody was told so.
  server.fail("PUT", SEND, "cut");
  await assertRejects(() => test.delta("One"));
  const again = test.delta("One two");
  await test.tickUntil(() => server.sent()[0]?.text === "One two", 50);
  await again;
  server.limitNext("PUT", SEND, 9_000);
  const limited = test.delta(" three").then(() => "taken", (error) => error);
  let outcome: unknown;
  void limited.then((value) => outcome = value);
  await test.tickUntil(() => outcome !== undefined, 50);
  assertEquals([(outcome as Error).name, (outcome as { retryAfterMs: number }).retryAfterMs], [
    "RetryLaterError",
    9_000,
  ]);
  const end = test.delta(" three four", { streamEnd: true });
  await test.tickUntil(() => server.sent()[0]!.text === "One two three four", 50);
  await end;
  assertEquals(server.sent().length, 1);
});

Deno.test("MatrixChannel sends nothing of a streamed answer again at the end of its turn (C28)", async () => {
  await using test = await TestChannel.connected();
  await test.delta("The answer", { streamEnd: true });
  await test.send("", { event: { type: "turn_end", status: "done" } });
  await test.settled();
  assertEquals(test.server.sent().map(({ text }) => text), ["The answer"]);
});

Deno.test("MatrixChannel goes on in another message where a stream is too long for one, and calls people once", async () => {
  await using test = await TestChannel.connected({ editEveryMs: 100 });
  const { server } = test;
  server.say("helper: tell me a story");
  const { metadata, chatId } = await test.heard("story");
  const story = Array.from({ length: 3_000 }, (_, index) => `word${index}`).join(" ");
  const told = test.delta(story, { chatId, metadata, streamEnd: true });
  let isTold = false;
  void told.then(() => isTold = true);
  await test.tickUntil(() => isTold, 50);
  const shown = server.shownEvents();
  assertEquals(shown.map(({ content }) => content.body).join(" "), story);
  assertEquals(shown.length > 1, true);
  const calls = shown.map(({ content }) => content["m.mentions"]);
  assertEquals(calls[0], { user_ids: ["@alice:example.org"] });
  assertEquals(calls.slice(1).every((one) => JSON.stringify(one) === "{}"), true);
});

Deno.test("MatrixChannel shows progress as one notice, which says in the end how much was done", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  const progress = (text: string) =>
    test.send(text, { event: { type: "progress", toolHint: true } });
  await progress("reading `a.txt`");
  const second = progress("reading `b.txt`");
  await test.tickUntil(() => /b\.txt/.test(server.sent()[0]!.text), 100);
  await second;
  assertEquals(server.shownEvents()[0]!.content.msgtype, "m.notice");
  await test.stop();
  await using again = await TestChannel.connected({ language: "de" }, { server, host });
  // What a process that was killed has left is closed by the next, whether its turn goes on or not.
  await again.tickUntil(() => server.sent()[0]!.text === "✓ Schritte: 2", 100);
  await again.send("", { event: { type: "turn_end", status: "done" } });
  assertEquals(server.sent().length, 1);
  await again.send("Next", { event: { type: "progress", toolHint: false } });
  assertEquals(server.sent().length, 2);
});

Deno.test("MatrixChannel closes a notice also where the server limits just then, and holds up nothing by it", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  const texts = () => server.sent().map(({ text }) => text);
  await test.send("reading", { event: { type: "progress", toolHint: true } });
  server.limitNext("PUT", /\/send\/m\.room\.message\//, 5_000);
  await test.send("", { event: { type: "turn_end", status: "cancelled" } });
  await test.send("the answer");
  assertEquals(texts(), ["reading", "the answer"]);
  await test.tickUntil(() => texts()[0] !== "reading");
  assertEquals(texts(), ["✓ Steps: 1", "the answer"]);
});
