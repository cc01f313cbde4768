import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { PermanentDeliveryError, RetryLaterError } from "../../lib/channel/delivery_error.ts";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { ANN, BEN, FakeSignal, GROUP, groupInfo } from "./testing/fake_signal.ts";
import { TestChannel } from "./testing/test_channel.ts";

Deno.test("signal sends styled text, and quotes the question in groups alone", async () => {
  await using test = await TestChannel.connected({ respond: "all" });
  const { signal } = test;
  const asked = signal.write(BEN, { message: "When?", groupInfo: groupInfo() });
  const { metadata } = await test.heard("When?");
  await test.send("At **noon**", { chatId: GROUP, metadata });
  const [answer] = signal.posted;
  assertEquals([answer!.text, answer!.textStyles], ["At noon", ["3:4:BOLD"]]);
  assertEquals(answer!.quote, { timestamp: asked, author: BEN, text: "When?" });
  signal.write(ANN, { message: "And here?" });
  const direct = await test.heard("And here?");
  await test.send("Here", { metadata: direct.metadata });
  assertEquals(signal.posted[1]!.quote, undefined);
});

Deno.test("signal sends files with their names, beside the last of the text", async () => {
  await using test = await TestChannel.connected();
  const path = `${test.host.stateDir}/größe, 1;2.txt`;
  await Deno.writeTextFile(path, "sizes");
  await test.send("See this", { media: [path] });
  const [{ text, files }] = test.signal.posted as [typeof test.signal.posted[0]];
  assertEquals(text, "See this");
  assertEquals(files, [{
    name: "größe, 1;2.txt",
    type: "text/plain",
    bytes: new TextEncoder().encode("sizes"),
  }]);
});

Deno.test("signal lets an answer grow by ten edits at most, each of the newest", async () => {
  await using test = await TestChannel.connected();
  const { signal, host } = test;
  for (let at = 0; at < 20; at++) {
    const pushed = test.delta(`word${at} `, { streamEnd: at === 19 });
    await test.until(() => {
      host.clock.tick(3_000);
      return signal.posted.length > 0;
    });
    let isShown = false;
    pushed.then(() => isShown = true);
    await test.until(() => {
      host.clock.tick(3_000);
      return isShown;
    });
  }
  const [answer, ...others] = signal.posted;
  assertEquals(others, []);
  // The last edit has all of it.
  assertEquals([answer!.edits.length, answer!.text.endsWith("word19")], [10, true]);
});

Deno.test("signal shows what the agent does in one quiet message, and takes that away", async () => {
  await using test = await TestChannel.connected();
  const { signal, host } = test;
  await test.send("Reading a file", { event: { type: "progress", toolHint: true } });
  await test.until(() => signal.posted.length === 1);
  assertEquals([signal.posted[0]!.text, signal.posted[0]!.isUrgent], ["Reading a file", false]);
  const ended = test.send("", { event: { type: "turn_end", status: "done" } });
  await test.until(() => {
    host.clock.tick(3_000);
    return signal.posted[0]!.isDeleted;
  });
  await ended;
  assertEquals(signal.sent(), []);
});

Deno.test("signal takes 👍 and 👎 for an answer, once, from whoever may write, also after a restart", async () => {
  const signal = await FakeSignal.open();
  const host = await FakeHost.open({ name: "signal" });
  const first = await TestChannel.connected({ allowFrom: [ANN] }, { signal, host });
  const approval = { id: "apr_1", digest: "ab".repeat(32), expiresAt: Date.now() + 3_600_000 };
  await first.send("May I?", { event: { type: "approval", ...approval } });
  const [question] = signal.posted;
  assertStringIncludes(question!.text, "👍 allows it, 👎 refuses it");
  await first.stop();
  await using test = await TestChannel.connected({ allowFrom: [ANN] }, { signal, host });
  signal.react(ANN, "❤️", question!);
  signal.react(ANN, "👍", question!, { isRemove: true });
  // A reaction to what somebody else wrote at that time is none to ours.
  signal.react(ANN, "👍", question!, { targetAuthorUuid: BEN, targetAuthorNumber: null });
  signal.react(ANN, "👍🏾", question!);
  const { content, senderId, chatId } = await test.heard("/approve apr_1");
  assertEquals([content, senderId, chatId], ["/approve apr_1 abababab", ANN, ANN]);
  await test.send("Approved.", {
    event: { type: "approval_resolved", id: "apr_1", outcome: "approved" },
  });
  assertStringIncludes(signal.posted[0]!.text, "Approved.");
  signal.react(ANN, "👎", question!);
  await test.until(() => signal.posted.length === 2);
  assertStringIncludes(signal.posted[1]!.text, "answered already");
  assertEquals((await test.settled()).length, 1);
  await host.close();
});

Deno.test("signal says why something was not sent, and when it may be sent again", async () => {
  await using test = await TestChannel.connected();
  const { signal } = test;
  const results = [{ type: "RATE_LIMIT_FAILURE", retryAfterSeconds: 90, token: "t0ken" }];
  signal.refuseNext(-5, "Failed to send message due to rate limiting", results);
  const later = await assertRejects(() => test.send("x"), RetryLaterError);
  assertEquals(later.retryAfterMs, 90_000);
  assertStringIncludes(
    later.message,
    "submitRateLimitChallenge of signal-cli, with the challenge t0ken",
  );
  signal.refuseNext(-4, "Failed to send message due to untrusted identities");
  const untrusted = await assertRejects(() => test.send("x"), PermanentDeliveryError);
  assertStringIncludes(untrusted.message, "safety number has changed");
  signal.refuseNext(-1, "Failed to send message", [{ type: "NETWORK_FAILURE" }]);
  const away = await assertRejects(() => test.send("x"), Error, "Signal can't be reached");
  assertEquals(away instanceof PermanentDeliveryError, false);
  const nobody = () => test.send("x", { chatId: "Ann" });
  await assertRejects(nobody, PermanentDeliveryError, '"Ann" is no chat');
  await assertRejects(
    () => test.send("x", { chatId: "group:bm90LW91cnMtMDAwMDAwMDAwMDAwMDAwMDA=" }),
    PermanentDeliveryError,
    "Group not found",
  );
});
