import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { TestChannel } from "./testing/test_channel.ts";

const DIGEST = "0123456789abcdef".repeat(4);

function ask(test: TestChannel, id: string, more = {}): Promise<void> {
  const expiresAt = test.host.clock.now() + 120_000;
  return test.send(`**Approval needed**: \`${id}\``, {
    event: { type: "approval", id, digest: DIGEST, expiresAt },
    ...more,
  });
}

/** The event of the message that asks. */
function asked(test: TestChannel, id: string): string {
  return test.server.shownEvents().find(({ content }) => String(content.body).includes(id))!
    .event.event_id;
}

Deno.test("MatrixChannel shows an approval with reactions to click, each the command of whoever clicks first", async () => {
  await using test = await TestChannel.connected({
    allowFrom: ["@alice:example.org", "@bob:remote.example"],
  });
  const { server } = test;
  await ask(test, "apr_1");
  const eventId = asked(test, "apr_1");
  assertEquals(server.reactions(), [{ eventId, key: "✅" }, { eventId, key: "❌" }]);
  assertMatch(server.sent()[0]!.text, /✅ allows it, ❌ refuses it/);
  server.react(eventId, "🎉");
  server.react(eventId, "✅", "@mallory:example.org");
  const click = server.react(eventId, "✅\uFE0F");
  await server.redeliver(click);
  server.react(eventId, "❌");
  const other = server.react(eventId, "❌", "@bob:remote.example");
  await test.settled();
  const clicks = test.host.published.map(({ content, senderId, chatId, messageId }) => ({
    content,
    senderId,
    chatId,
    messageId,
  }));
  const [first, ...rest] = clicks;
  const alice = {
    content: "/approve apr_1 01234567",
    senderId: "@alice:example.org",
    chatId: server.chatId,
    messageId: `click:${click.event_id}`,
  };
  assertEquals(first, alice);
  // The same click again has the same id, so that it is one.
  assertEquals(rest.filter(({ messageId }) => messageId !== alice.messageId), [{
    content: "/deny apr_1",
    senderId: "@bob:remote.example",
    chatId: server.chatId,
    messageId: `click:${other.event_id}`,
  }]);
});

Deno.test("MatrixChannel knows after a restart which message asks, and says in it how it came out", async () => {
  await using test = await TestChannel.connected();
  const { server, host } = test;
  await ask(test, "apr_2");
  const eventId = asked(test, "apr_2");
  await test.stop();
  server.react(eventId, "✅");
  await using again = await TestChannel.connected({}, { server, host });
  assertEquals((await again.heard("/approve apr_2")).content, "/approve apr_2 01234567");
  await again.send("Approved by alice.", {
    event: { type: "approval_resolved", id: "apr_2", outcome: "approved" },
  });
  const [shown] = server.sent();
  assertEquals(shown!.text, "**Approval needed**: `apr_2`\n\nApproved by alice.");
  assertEquals(server.sent().length, 1);
});

Deno.test("MatrixChannel gives who clicks too late a plain word, once, and no command", async () => {
  await using test = await TestChannel.connected({ language: "de" });
  const { server, host } = test;
  await ask(test, "apr_3");
  await ask(test, "apr_4");
  const [over, late] = [asked(test, "apr_3"), asked(test, "apr_4")];
  await test.send("", { event: { type: "approval_resolved", id: "apr_3", outcome: "denied" } });
  assertMatch(server.sent()[0]!.text, /Abgelehnt\.$/);
  server.react(over, "✅");
  server.react(over, "❌");
  await test.settled();
  // Longer than an answer of the server may take.
  host.clock.tick(120_000);
  await test.says(/not connected/);
  await test.tickUntil(() => /^connected/.test(test.detail));
  server.react(late, "✅", "@bob:remote.example");
  await test.settled();
  await test.until(() => server.sent().length === 4);
  assertEquals(server.sent().slice(2).map(({ text }) => text), [
    "Das wurde schon beantwortet.",
    "Es ist zu spät: Auf diese Antwort wartet niemand mehr.",
  ]);
  assertEquals(test.texts, []);
});

Deno.test("MatrixChannel asks once when the message is sent again, and says how an unknown one came out", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  server.fail("PUT", /\/send\/m\.room\.message\//, "cut");
  await assertRejects(() => ask(test, "apr_5", { id: "same" }));
  await ask(test, "apr_5", { id: "same" });
  await ask(test, "apr_5", { id: "same" });
  assertEquals(server.sent().length, 1);
  assertEquals(server.reactions().length, 2);
  await test.send("Nobody answered.", {
    event: { type: "approval_resolved", id: "apr_of_before", outcome: "expired" },
  });
  assertEquals(server.sent().at(-1)!.text, "Nobody answered.");
});

Deno.test("MatrixChannel asks in a thread where the question is there, and hears the click there", async () => {
  await using test = await TestChannel.connected();
  const { server } = test;
  const chatId = `${server.chatId}/$root`;
  await ask(test, "apr_6", { chatId });
  server.react(asked(test, "apr_6"), "❌");
  assertEquals((await test.heard("/deny apr_6")).chatId, chatId);
  assertEquals(server.sent()[0]!.chatId, chatId);
});
