import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { WAMessage } from "baileys";
import { FakeHost } from "../../lib/channel/testing/mod.ts";
import { configFor } from "../../lib/channel/testing/trial.ts";
import { LoginStore } from "./login_store.ts";
import manifest from "./manifest.ts";
import type { WhatsAppConfig } from "./settings.ts";
import { FakeWhatsApp, GROUP } from "./testing/fake_whatsapp.ts";
import { withChannel } from "./testing/test_channel.ts";
import { openWaSocket } from "./wa_socket.ts";

const ME = "4915100000001";
const text = (text: string, contextInfo = {}) => ({ extendedTextMessage: { text, contextInfo } });

/** The client library leaves timers of its caches behind. */
function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name: `whatsapp: ${name}`, sanitizeOps: false, sanitizeResources: false, fn });
}

test("a message is read, acknowledged by a reaction, and answered where it came from", async () => {
  await withChannel({ allowFrom: ["4917011111111"] }, async (whatsapp, server) => {
    const id = await server.write(server.senders[0], { conversation: "hello there" });
    const { chatId, senderId, senderName, messageId, sentAt } = await whatsapp.heard("hello there");
    assertEquals([chatId, senderId, senderName, messageId], ["4917011111111", chatId, "Ann", id]);
    assert(Math.abs(sentAt! - Date.now()) < 60_000);
    await whatsapp.until(() => server.reactions.get(id) === "👀" && server.read.includes(id));
    // Somebody else is given a code, and nothing of theirs is kept.
    await server.write(server.senders[1], { conversation: "let me in" });
    await whatsapp.until(() => whatsapp.host.strangers.length === 1);
    assertEquals(whatsapp.host.strangers, [
      { senderId: "4917022222222", senderName: "Bob", chatId: "4917022222222" },
    ]);
    assertEquals(whatsapp.host.offered.length, 1);
  });
});

test("in a group it hears what mentions or answers it, and its answer shows the question", async () => {
  await withChannel({ respond: "mention" }, async (whatsapp, server) => {
    const [ann, bob] = server.senders;
    await server.write(ann, text("not for you"), { to: GROUP });
    await server.write(
      ann,
      text(`@9${ME} what is this?`, { mentionedJid: [`9${ME}@lid`] }),
      { to: GROUP },
    );
    const heard = await whatsapp.heard("what is this?");
    assertEquals([heard.chatId, heard.senderId, heard.content], [GROUP, ann, "what is this?"]);
    await whatsapp.send("A test", { chatId: GROUP, metadata: heard.metadata! });
    const [answer] = server.shown;
    const { contextInfo } = answer!.content.extendedTextMessage!;
    assertEquals([answer!.chatId, answer!.texts[0]], [GROUP, "A test"]);
    assertEquals(contextInfo?.stanzaId, heard.messageId);
    assertEquals(contextInfo?.quotedMessage?.conversation, "what is this?");
    // Who answers it speaks to it; what it wrote itself is no quote.
    const context = { participant: `9${ME}@lid`, quotedMessage: { conversation: "A test" } };
    await server.write(bob, text("why?", context), { to: GROUP });
    assertEquals((await whatsapp.heard("why?")).content, "why?");
    assertEquals(whatsapp.host.offered.length, 2);
  });
});

test("whose words are whose: quotes, forwarded words, places and contacts", async () => {
  await withChannel({}, async (whatsapp, server) => {
    const [ann] = server.senders;
    const quoted = {
      participant: "491@s.whatsapp.net",
      quotedMessage: { conversation: "the old" },
    };
    await server.write(ann, text("mine\n> typed", quoted));
    const { parts } = await whatsapp.heard("mine");
    assertEquals(parts?.map(({ text, provenance = "own" }) => [provenance, text]), [
      ["quoted", "the old"],
      ["own", "mine"],
      ["quoted", "> typed"],
    ]);
    await server.write(ann, text("/approve x", { isForwarded: true }));
    assertEquals((await whatsapp.heard("/approve x")).parts?.[0]?.provenance, "forwarded");
    await server.write(ann, { locationMessage: { degreesLatitude: 52.5, degreesLongitude: 13.4 } });
    await whatsapp.heard("(a location: 52.5, 13.4)");
    const vcard = "BEGIN:VCARD\nTEL;type=CELL:+49 1\nEND:VCARD";
    await server.write(ann, { contactMessage: { displayName: "Carl", vcard } });
    await whatsapp.heard("(a contact: Carl +49 1)");
    // What phones tell each other of a chat is no message.
    const key = { id: "x", remoteJid: "x" };
    await server.write(ann, { protocolMessage: { key, type: 3, ephemeralExpiration: 60 } });
    await server.write(ann, { conversation: "last" });
    await whatsapp.heard("last");
    assertEquals(whatsapp.host.offered.length, 5);
  });
});

test("it tells what a message says since it was edited, and that it was deleted, by whoever did so", async () => {
  await withChannel({ respond: "mention" }, async (whatsapp, server) => {
    const [ann, bob] = server.senders;
    const mention = { mentionedJid: [`9${ME}@lid`] };
    const to = { to: GROUP } as const;
    const id = await server.write(ann, text(`@9${ME} buy milk`, mention), to);
    await whatsapp.heard("buy milk");
    const key = { id, remoteJid: GROUP, fromMe: true };
    const protocolMessage = { key, type: 14, editedMessage: text("buy oat milk") };
    // Phones wrap an edit once more.
    const edit = await server.write(ann, { editedMessage: { message: { protocolMessage } } }, to);
    await whatsapp.heard("buy oat milk");
    await server.write(bob, { protocolMessage: { key, type: 0 } }, to);
    await whatsapp.until(() => whatsapp.host.published.length === 3);
    await server.write(ann, { protocolMessage: { key, type: 0 } }, to);
    await whatsapp.until(() => whatsapp.host.published.length === 4);
    const { published } = whatsapp.host;
    // The service lets that of the author count alone.
    assertEquals(
      published.map(({ senderId, content, replaces }) => [senderId, content, replaces]),
      [[ann, "buy milk", undefined], [ann, "buy oat milk", id], [bob, "", id], [ann, "", id]],
    );
    assertEquals([published[1]!.messageId, published[1]!.metadata?.id], [edit, id]);
    assertEquals(new Set(published.map(({ messageId }) => messageId)).size, 4);
  });
});

test("files are fetched and decrypted; a voice message is heard; what is gone is named", async () => {
  await withChannel({}, async (whatsapp, server) => {
    const [ann] = server.senders;
    const contents: Record<string, string> = {};
    const publish = whatsapp.host.publish.bind(whatsapp.host);
    whatsapp.host.publish = (message) => {
      for (const path of message.media ?? []) {
        contents[path.split("/").pop()!] = Deno.readTextFileSync(path);
      }
      return publish(message);
    };
    const bytes = new TextEncoder().encode("what is in it");
    const document = await server.upload(bytes, "document", "text/plain");
    const documentMessage = { ...document, fileName: "note.txt", caption: "look" };
    await server.write(ann, { documentWithCaptionMessage: { message: { documentMessage } } });
    await whatsapp.heard("look");
    assertEquals(contents, { "note.txt": "what is in it" });

    whatsapp.host.onTranscribe = () => Promise.resolve("spoken words");
    const audio = await server.upload(bytes, "audio", "audio/ogg; codecs=opus");
    await server.write(ann, { audioMessage: { ...audio, ptt: true } });
    const { parts, content } = await whatsapp.heard("spoken words");
    assertEquals([parts, content], [undefined, "Voice message: spoken words"]);

    const image = await server.upload(bytes, "image", "image/jpeg");
    server.files.get(image.directPath)![0]! ^= 1;
    await server.write(ann, { imageMessage: { ...image, caption: "broken" } });
    assertStringIncludes((await whatsapp.heard("broken")).content, "picture.jpeg was not read");
    const elsewhere = { ...image, directPath: "https://example.org/x", caption: "elsewhere" };
    await server.write(ann, { imageMessage: elsewhere });
    assertStringIncludes((await whatsapp.heard("elsewhere")).content, "its address is wrong");
    server.files.delete(image.directPath);
    await server.write(ann, { imageMessage: { ...image, caption: "gone" } });
    assertStringIncludes((await whatsapp.heard("gone")).content, "it is no longer on the server");
  });
});

test("a message is kept before its keys are used and the server hears of it; else it comes again", async () => {
  const server = await FakeWhatsApp.start();
  const host = await FakeHost.open({ name: "whatsapp" });
  await server.prepare(host.stateDir, host.stateKey!);
  const settings = configFor(manifest, { section: server.section }) as unknown as WhatsAppConfig;
  const login = await LoginStore.open(host, settings.login);
  const seen: { text: unknown; acknowledged: readonly string[] }[] = [];
  const connect = (keeps: boolean) => {
    const over = Promise.withResolvers<unknown>();
    const socket = openWaSocket({
      settings,
      login,
      hear({ message }: WAMessage) {
        seen.push({ text: message?.conversation, acknowledged: [...server.acknowledged()] });
        return keeps ? Promise.resolve() : Promise.reject(new Error("The disk is full"));
      },
    });
    socket.ev.on("connection.update", ({ connection, lastDisconnect }) => {
      if (connection === "close") over.resolve(lastDisconnect?.error?.message);
    });
    return { socket, over: over.promise };
  };
  const first = connect(false);
  const id = await server.deliver({ text: "once", senderId: server.senders[0], from: "person" });
  assertEquals(await first.over, "The disk is full");
  const second = connect(true);
  while (server.acknowledged().length === 0) await server.changed();
  // The very bytes of the first time: the key that opens them was not used up.
  assertEquals(seen, Array(2).fill({ text: "once", acknowledged: [] }));
  assertEquals(server.acknowledged(), [id]);
  assert(!server.asked.includes("receipt retry"));
  await second.socket.end(undefined);
  await second.over;
  login.close();
  await server.close();
  await host.close();
});
