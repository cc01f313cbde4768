import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../lib/channel/delivery_error.ts";
import { GROUP } from "./testing/fake_whatsapp.ts";
import { type TestChannel, withChannel } from "./testing/test_channel.ts";

const DIGEST = "0123456789abcdef".repeat(4);

/** The client library leaves timers of its caches behind. */
function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name: `whatsapp: ${name}`, sanitizeOps: false, sanitizeResources: false, fn });
}

async function ask(whatsapp: TestChannel, more: { id?: string; denyOnly?: true } = {}) {
  const expiresAt = whatsapp.host.clock.now() + 120_000;
  const event = { type: "approval", id: "ap1", digest: DIGEST, expiresAt, ...more } as const;
  await whatsapp.send("**Approval needed**: exec", { event });
  return whatsapp.server.shown.at(-1)!;
}

test("what the server refuses is told with what to do", async () => {
  await withChannel({}, async (whatsapp, server) => {
    const refused = async (
      code: number,
      kind: typeof Error | typeof PermanentDeliveryError | typeof RetryLaterError,
      words: string,
    ) => {
      server.refuseWith(code);
      assertStringIncludes((await assertRejects(() => whatsapp.send("x"), kind)).message, words);
    };
    await refused(403, PermanentDeliveryError, "the account may not write there");
    await refused(463, PermanentDeliveryError, "begin no new chats");
    await refused(429, RetryLaterError, "status 429");
    await refused(503, Error, "status 503");
    await assertRejects(
      () => whatsapp.send("x", { chatId: "ann" }),
      PermanentDeliveryError,
      "no chat",
    );
    server.isInGroup = false;
    await assertRejects(
      () => whatsapp.send("x", { chatId: GROUP }),
      PermanentDeliveryError,
      "no member",
    );
    // One that nobody confirms may have arrived.
    server.cutBehindNext();
    await assertRejects(() => whatsapp.send("x"), UncertainDeliveryError);
    assertEquals(server.shown, []);
  });
});

test("what a phone could not read is sent once more, in a new session, also in a group", async () => {
  await withChannel({}, async (whatsapp, server) => {
    server.unreadable = 1;
    await whatsapp.send("first");
    await whatsapp.until(() => server.shown.length === 1);
    // One of two people has no key of the group.
    server.unreadable = 1;
    await whatsapp.send("second", { chatId: GROUP });
    await whatsapp.until(() => server.shown.length === 2);
    assertEquals(server.shown.map(({ texts }) => texts), [["first"], ["second"]]);
  });
});

test("an answer grows by edits, and goes on as a new message when it is too old for them", async () => {
  await withChannel({ streaming: true }, async (whatsapp, server) => {
    const { clock } = whatsapp.host;
    await whatsapp.push("one");
    const second = whatsapp.push(" two");
    clock.tick(3_000);
    await second;
    assertEquals(server.shown.map(({ texts }) => texts), [["one", "one two"]]);
    clock.tick(15 * 60_000);
    await whatsapp.push(" three");
    clock.tick(3_000);
    await whatsapp.push(" four", { streamEnd: true });
    assertEquals(server.shown.map(({ texts }) => texts), [
      ["one", "one two"],
      ["one two three four"],
    ]);
  });
});

test("files go out as what they are, a short text with the first", async () => {
  await withChannel({}, async (whatsapp, server) => {
    const { stateDir } = whatsapp.host;
    const write = async (name: string) => {
      await Deno.writeTextFile(`${stateDir}/${name}`, `in ${name}`);
      return `${stateDir}/${name}`;
    };
    const names = ["a.png", "b.mp4", "c.ogg", "d.pdf"];
    await whatsapp.send("Look", { media: await Promise.all(names.map(write)) });
    const [image, video, audio, document] = server.shown.map(({ content }) => content);
    assertEquals([image?.imageMessage?.caption, audio?.audioMessage?.ptt], ["Look", true]);
    assertEquals(document?.documentMessage?.fileName, "d.pdf");
    const sent = [
      ["image", image?.imageMessage],
      ["video", video?.videoMessage],
      ["audio", audio?.audioMessage],
      ["document", document?.documentMessage],
    ] as const;
    for (const [at, [kind, file]] of sent.entries()) {
      assertEquals((await server.open(file!, kind)).toString(), `in ${names[at]}`);
    }
    // The servers have no word of it.
    for (const bytes of server.files.values()) {
      assert(!new TextDecoder().decode(bytes).includes("in "));
    }
    await whatsapp.send("x".repeat(1_500), { media: [await write("e.png")] });
    assertEquals(
      server.sent().slice(4).map(({ files = [], text }) => [files.length, text.length]),
      [
        [0, 1_500],
        [1, 0],
      ],
    );
  });
});

test("messages disappear where the others of the chat do, and what it does is one message", async () => {
  await withChannel({ language: "de" }, async (whatsapp, server) => {
    const contextInfo = { expiration: 86_400 };
    await server.write(server.senders[0], { extendedTextMessage: { text: "hush", contextInfo } });
    const { metadata, chatId } = await whatsapp.heard("hush");
    await whatsapp.until(() => server.isTyping());
    const event = { type: "progress", toolHint: false } as const;
    await whatsapp.send("Reading", { chatId, metadata, event });
    await whatsapp.send("ok", { chatId, metadata });
    await whatsapp.send("", { chatId, metadata, event: { type: "turn_end", status: "done" } });
    await whatsapp.until(() => !server.isTyping());
    const [note, answer] = server.shown;
    assertEquals(note!.texts, ["Reading", "Schritte: 1"]);
    assertEquals(answer!.content.extendedTextMessage!.contextInfo?.expiration, 86_400);
  });
});

test("a reaction answers an approval as whoever reacts, once, in any colour", async () => {
  await withChannel({}, async (whatsapp, server) => {
    const [ann, bob] = server.senders;
    const { id, texts } = await ask(whatsapp);
    assertStringIncludes(texts[0]!, "Or react to this message: 👍 allows it, 👎 refuses it.");
    await server.react(ann, id, "❤️");
    await server.react(ann, id, "👍🏽");
    const { content, senderId, chatId } = await whatsapp.heard("/approve");
    assertEquals([content, senderId, chatId], ["/approve ap1 01234567", ann, server.chatId]);
    // Somebody else, in a chat where it was not asked.
    await server.react(bob, id, "👎");
    await whatsapp.send("It was approved.", {
      event: { type: "approval_resolved", id: "ap1", outcome: "approved" },
    });
    assertEquals(server.shown[0]!.texts[1], "*Approval needed*: exec\n\nIt was approved.");
    await server.react(ann, id, "❌");
    await whatsapp.until(() => server.sent().some(({ text }) => text.includes("answered already")));
    assertEquals(whatsapp.host.offered.length, 1);

    const second = await ask(whatsapp, { id: "ap2", denyOnly: true });
    await server.react(ann, second.id, "✅");
    await server.react(ann, second.id, "👎");
    assertEquals((await whatsapp.heard("/deny")).content, "/deny ap2");
    assertEquals(whatsapp.host.offered.length, 2);
  });
});
