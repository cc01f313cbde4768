import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import {
  ACCOUNT,
  ACCOUNT_ID,
  ANN,
  BEN,
  FakeSignal,
  GROUP,
  groupInfo,
} from "./testing/fake_signal.ts";
import { TestChannel } from "./testing/test_channel.ts";

Deno.test("signal hears a direct message with who wrote it, marks it as read and reacts to it", async () => {
  await using test = await TestChannel.connected();
  const timestamp = test.signal.write(ANN, { message: "hello" });
  const { content, senderId, senderName, chatId, sentAt, messageId } = await test.heard("hello");
  assertEquals([content, senderId, senderName, chatId], ["hello", ANN, "Ann", ANN]);
  assertEquals([sentAt, messageId], [timestamp, `${timestamp}.${ANN}`]);
  await test.until(() => test.signal.reactions.length === 1);
  assertEquals(test.signal.reactions, [
    { emoji: "👀", author: ANN, target: timestamp, chatId: ANN },
  ]);
  assertEquals(test.signal.acknowledged(), [String(timestamp)]);
  assertEquals(
    test.detail,
    `connected as ${ACCOUNT} by signal-cli at 127.0.0.1:${test.signal.port}`,
  );
});

Deno.test("signal leaves receipts and reactions out where they are switched off", async () => {
  await using test = await TestChannel.connected({ ackReaction: "", readReceipts: false });
  test.signal.write(ANN, { message: "hello" });
  await test.heard("hello");
  await test.settled();
  const asked = test.signal.calls.map(({ method }) => method);
  assertEquals(asked.filter((method) => method === "sendReceipt" || method === "sendReaction"), []);
});

Deno.test("signal hears in a group what mentions it, answers it or is a command, and all where it is to", async () => {
  await using test = await TestChannel.connected();
  const { signal } = test;
  const say = (message: string, more = {}) =>
    signal.write(BEN, { message, groupInfo: groupInfo(), ...more });
  const us = { number: ACCOUNT, uuid: ACCOUNT_ID, name: ACCOUNT };
  say("not for it");
  say("\uFFFC, what is this?", { mentions: [{ ...us, start: 0, length: 1 }] });
  const ann = { number: null, uuid: ANN, name: ANN };
  const both = [{ ...ann, start: 0, length: 1 }, { ...us, number: null, start: 5, length: 1 }];
  say("\uFFFC or \uFFFC?", { mentions: both });
  say("yes", { quote: { id: 1, authorUuid: ACCOUNT_ID, authorNumber: ACCOUNT, text: "Shall I?" } });
  say("no", { quote: { id: 1, authorUuid: ANN, authorNumber: null, text: "Shall you?" } });
  say("/status");
  await test.settled();
  const published = test.host.published.filter(({ chatId }) => chatId === GROUP).slice(0, -1);
  const own = published.map(({ parts, content }) => parts?.at(-1)?.text ?? content);
  const named = [`@${ANN}`, `@${ACCOUNT.replace("+", "_")}`];
  assertEquals(own, ["what is this?", `${named.join(" or ")}?`, "yes", "/status"]);
  const [first, , quoting] = published;
  assertEquals([first!.chatId, first!.senderId], [GROUP, BEN]);
  assertEquals(quoting!.parts?.map(({ text, provenance, from }) => [text, provenance, from]), [
    ["Shall I?", "quoted", ACCOUNT],
    ["yes", undefined, undefined],
  ]);
  await using all = await TestChannel.connected({ respond: "all" });
  all.signal.write(BEN, { message: "for all", groupInfo: groupInfo() });
  assertEquals(await all.settled(), ["for all"]);
});

Deno.test("signal hears no receipts, stories, stickers, group updates and nothing of its own", async () => {
  await using test = await TestChannel.connected();
  const { signal } = test;
  signal.write(ANN, { message: "first" });
  signal.write(ANN, { sticker: { packId: "00", stickerId: 1 } });
  signal.write(ANN, { groupInfo: { ...groupInfo(), type: "UPDATE" } });
  signal.write(ACCOUNT_ID, { message: "by itself" });
  await signal.deliver({ text: "on its phone", senderId: ANN, from: "own" });
  assertEquals(await test.settled(), ["first"]);
});

Deno.test("signal tells what a message says since it was edited, once and again, and that it was removed", async () => {
  await using test = await TestChannel.connected();
  const { signal, host } = test;
  const first = signal.write(ANN, { message: "buy milk" });
  const second = signal.rewrite(ANN, first, "buy oat milk");
  const third = signal.rewrite(ANN, second, "buy soy milk");
  signal.write(ANN, { remoteDelete: { timestamp: third } });
  assertEquals(await test.settled(), ["buy milk", "buy oat milk", "buy soy milk", ""]);
  const told = host.published.filter(({ content }) => /^(buy|$)/.test(content));
  const id = told[0]!.messageId;
  assertEquals(told.map(({ replaces }) => replaces), [undefined, id, id, id]);
  assertEquals(new Set(told.map(({ messageId }) => messageId)).size, 4);
});

Deno.test("signal names in the log whose safety number has changed", async () => {
  await using test = await TestChannel.connected();
  test.signal.writeUntrusted(BEN);
  assertEquals(await test.settled(), []);
  const { message, fields } = test.host.lines.find(({ level }) => level === "warning")!;
  assertStringIncludes(message, "safety number has changed");
  assertEquals(fields, { sender: BEN });
});

Deno.test("signal tells of strangers in direct messages alone, and hears nothing that they write", async () => {
  await using test = await TestChannel.connected({ allowFrom: [ANN] });
  test.signal.write(BEN, { message: "let me in" });
  test.signal.write("33333333-aaaa-4aaa-8aaa-333333333333", {
    message: "/status",
    groupInfo: groupInfo(),
  });
  assertEquals(await test.settled(), []);
  assertEquals(test.host.strangers, [{ senderId: BEN, senderName: "Ben", chatId: BEN }]);
});

Deno.test("signal fetches files, and hears a voice message as its sender's own words", async () => {
  await using test = await TestChannel.connected();
  const { signal, host } = test;
  host.onTranscribe = () => Promise.resolve("call me back");
  signal.attachments.set("plan", new TextEncoder().encode("the plan"));
  signal.attachments.set("voice", new Uint8Array([1, 2, 3]));
  const plan = { id: "plan", filename: "plan.txt", contentType: "text/plain", size: 8 };
  signal.write(ANN, { message: "see this", attachments: [plan] });
  const { media } = await test.heard("see this");
  assertEquals(media?.length, 1);
  assertStringIncludes(media![0]!, "plan.txt");
  const voice = { id: "voice", filename: null, contentType: "audio/aac", size: 3 };
  signal.write(ANN, { attachments: [voice] });
  const { parts } = await test.heard("call me back");
  assertEquals(parts, undefined);
  // What signal-cli has no more is told.
  signal.write(ANN, { message: "gone", attachments: [{ ...plan, id: "lost" }] });
  assertStringIncludes((await test.heard("gone")).content, "plan.txt was not read");
});

Deno.test("signal takes what came while it was down, and goes on where a connection is cut", async () => {
  const signal = await FakeSignal.open();
  const host = await FakeHost.open({ name: "signal" });
  {
    await using first = await TestChannel.connected({}, { signal, host });
    signal.write(ANN, { message: "one" });
    await first.heard("one");
    await first.stop();
    signal.write(ANN, { message: "two" });
    const second = await TestChannel.connected({}, { signal, host });
    await second.heard("two");
    signal.cut();
    await second.says(/^not connected: signal-cli has closed the connection; again in [12] s/);
    signal.write(ANN, { message: "three" });
    await second.until(() => {
      host.clock.tick(1_000);
      return host.published.some(({ content }) => content === "three");
    });
    await second.stop();
  }
  await host.close();
});

Deno.test("signal loses nothing that comes while nothing can be stored", async () => {
  await using test = await TestChannel.connected();
  const { signal, host } = test;
  host.intake.fault = new Error("disk is full");
  for (let at = 0; at < 50; at++) signal.write(ANN, { message: `m${at}` });
  await test.says(/not connected: disk is full/);
  signal.write(ANN, { message: "m50" });
  host.intake.fault = undefined;
  await test.until(() => {
    host.clock.tick(1_000);
    return host.published.length > 50;
  });
  assertEquals(await test.settled(), Array.from({ length: 51 }, (_, at) => `m${at}`));
});

Deno.test("signal is refused when signal-cli loses the account, also where nothing is sent", async () => {
  await using test = await TestChannel.connected();
  test.signal.revoke();
  await test.until(() => {
    test.host.clock.tick(15_000);
    return test.ended !== undefined;
  });
  assert(test.ended instanceof Error);
  assertEquals(test.ended.name, "LoginRefusedError");
  assertStringIncludes(test.ended.message, "service channels login signal");
});
