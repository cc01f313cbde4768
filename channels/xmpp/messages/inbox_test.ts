import { assertEquals, assertRejects } from "@std/assert";
import type { MetStranger } from "../../../lib/channel/channel_host.ts";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import { NS } from "../client/namespaces.ts";
import { StanzaError } from "../client/stanza_error.ts";
import { xml } from "../client/xmpp_library.ts";
import { Inbox, type InboxDeps } from "./inbox.ts";

const AGENT = "agent@example.org";

/** A message with its id in the archive of the account. */
const said = (text: string, id: string, from = "ann@example.org/home") =>
  xml(
    "message",
    { from, to: AGENT, type: "chat", id },
    xml("body", {}, text),
    xml("stanza-id", { xmlns: NS.stanzaIds, by: AGENT, id }),
  );

/** An inbox whose intake does what the test wants, and what that was given. */
function setting(add: (texts: string[]) => Promise<void>, answer: () => Promise<unknown>) {
  const written: { texts: string[]; cursor: unknown }[] = [];
  const met: MetStranger[] = [];
  const inbox = new Inbox({
    session: {
      jid: `${AGENT}/service`,
      bareJid: AGENT,
      isOver: false,
      request: answer,
    },
    intake: {
      cursor: () => JSON.stringify({ id: "0", at: 0 }),
      add: async (entries: { data: { content: string } }[], cursors: Record<string, string>) => {
        const texts = entries.map(({ data }) => data.content);
        await add(texts);
        const { account } = cursors;
        written.push({ texts, cursor: account === undefined ? undefined : JSON.parse(account).id });
      },
    },
    memory: { get: () => undefined, set: () => {} },
    hasArchive: true,
    keepsIds: true,
    room: () => undefined,
    onDirect: () => {},
    respond: "all",
    ignored: new Set(),
    isAllowed: (senderId: string) => senderId === "ann@example.org",
    meet: (stranger: MetStranger) => met.push(stranger),
    clock: fakeClock(),
    log: { info: () => {}, warning: () => {} },
  } as unknown as InboxDeps);
  return { inbox, written, met };
}

const isRead = () =>
  Promise.resolve(xml("iq", {}, xml("fin", { xmlns: NS.archive, complete: "true" })));

Deno.test("Inbox keeps how far it was read behind all that was said until there", async () => {
  const room = Promise.withResolvers<void>();
  const { inbox, written } = setting(
    (texts) => texts.includes("first") ? room.promise : Promise.resolve(),
    isRead,
  );
  await inbox.catchUp();
  written.length = 0;
  const first = inbox.take(said("first", "1"));
  // Of strangers, as many as it takes until it is kept how far it is.
  let last: Promise<void> | undefined;
  for (let at = 2; at < 300; at++) {
    last = inbox.take(said("x", `${at}`, "eve@example.org/e")) ?? last;
  }
  await inbox.close();
  assertEquals(written, []);
  room.resolve();
  await Promise.all([first, last]);
  assertEquals(written[0], { texts: ["first"], cursor: "1" });
  assertEquals(written.length > 1, true);
});

Deno.test("Inbox tells of a stranger who writes to it alone", async () => {
  const { inbox, met } = setting(() => Promise.resolve(), isRead);
  await inbox.take(said("let me in", "1", "eve@example.org/e"));
  await inbox.take(said("hello", "2"));
  await inbox.close();
  assertEquals(met.map(({ senderId, chatId }) => [senderId, chatId]), [
    ["eve@example.org", "eve@example.org"],
  ]);
});

Deno.test("Inbox keeps nothing behind a message that could not be kept", async () => {
  let isFull = false;
  const { inbox, written } = setting((texts) => {
    isFull = texts.includes("first");
    return isFull ? Promise.reject(new Error("disk full")) : Promise.resolve();
  }, isRead);
  await inbox.catchUp();
  written.length = 0;
  const [first, second] = [inbox.take(said("first", "1"))!, inbox.take(said("second", "2"))!];
  await assertRejects(() => first, Error, "disk full");
  await assertRejects(() => second, Error, "disk full");
  assertEquals(written, []);
});

Deno.test("Inbox takes what the server had kept when its archive says nothing of it", async () => {
  const { inbox, written } = setting(
    () => Promise.resolve(),
    () => Promise.reject(new StanzaError("forbidden", "auth", "")),
  );
  const kept = xml(
    "message",
    { from: "ann@example.org/home", to: AGENT, type: "chat", id: "a" },
    xml("body", {}, "meanwhile"),
    xml("delay", { xmlns: NS.delay, stamp: "2026-01-01T00:00:00Z" }),
  );
  const taken = inbox.take(kept);
  await inbox.catchUp();
  await taken;
  assertEquals(written.map(({ texts }) => texts), [["meanwhile"]]);
});
