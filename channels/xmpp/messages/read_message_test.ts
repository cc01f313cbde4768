import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { NS } from "../client/namespaces.ts";
import { xml, type XmlElement } from "../client/xmpp_library.ts";
import type { Occupant } from "../rooms/room.ts";
import { addressedText } from "./addressed_text.ts";
import { encryptionOf } from "./encryption.ts";
import { archiveIdOf, hasForgedId, messageIdOf } from "./message_ids.ts";
import { type ReadContext, readInvitation, readMessage } from "./read_message.ts";
import { rounds } from "../../../tests/support/rounds.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const ROOM = "room@conference.example.org";

function context(
  { isBelieved = true, occupants = {}, features = [], ...changes }: Partial<ReadContext> & {
    isBelieved?: boolean;
    occupants?: Record<string, Occupant>;
    features?: string[];
  } = {},
): ReadContext {
  const room = {
    jid: ROOM,
    nick: "helper_",
    wantedNick: "helper",
    isIn: true,
    isBelieved,
    has: (feature: string) => features.includes(feature),
    occupant: (nick: string) => occupants[nick],
    occupantWithId: (id: string) =>
      Object.values(occupants).find(({ occupantId }) => occupantId === id),
  };
  return {
    jid: "agent@example.org/service",
    room: (jid) => jid === ROOM ? room : undefined,
    keepsIds: true,
    respond: "all",
    ignored: new Set(),
    heard: () => undefined,
    now: 1_000,
    ...changes,
  };
}

const message = (attrs: Record<string, string>, ...children: XmlElement[]) =>
  xml("message", { to: "agent@example.org", ...attrs }, ...children);
const body = (text: string) => xml("body", {}, text);
const inRoom = (nick: string, ...children: XmlElement[]) =>
  message({ from: `${ROOM}/${nick}`, type: "groupchat" }, body("hi"), ...children);
const shown = (jid: string) => xml("x", { xmlns: NS.mucUser }, xml("item", { jid }));
const archived = { id: "a1", sentAt: 5 };

Deno.test("readMessage() believes what a room says of addresses where that was decided, and nowhere else", () => {
  const occupants = { ann: { jid: "Ann@example.org" }, bob: { occupantId: "o-bob" } };
  const sender = (one: XmlElement, ...[changes, at]: [Parameters<typeof context>[0]?, true?]) =>
    readMessage(one, context({ occupants, ...changes }), at && archived)?.senderId;
  assertEquals(sender(inRoom("ann")), "ann@example.org");
  assertEquals(sender(inRoom("ann"), { isBelieved: false }), `${ROOM}/ann`);
  // Who moderates a room sees addresses that its archive does not have.
  const seen = { occupants: { cy: { jid: "cy@example.org", occupantId: "o-cy" } } };
  const stamp = xml("occupant-id", { xmlns: NS.occupantId, id: "o-cy" });
  const moderated = { ...seen, features: [NS.occupantId] };
  assertEquals(sender(inRoom("renamed", stamp), moderated, true), "cy@example.org");
  assertEquals(sender(inRoom("cy", stamp), seen, true), `${ROOM}/cy`);
  assertEquals(sender(inRoom("eve", shown("ann@example.org"))), `${ROOM}/eve`);
  const features = [NS.occupantId];
  assertEquals(sender(inRoom("bob"), { features }), `${ROOM}/o-bob`);
  assertEquals(sender(inRoom("bob", stamp, stamp), { occupants: {}, features }), undefined);
  // One that the room does not know is nobody.
  assertEquals(sender(inRoom("eve"), { features }), undefined);
  // Of an archive the room's own word counts, where it says such words, and there is one alone.
  const open = { features: ["muc_nonanonymous"] };
  assertEquals(sender(inRoom("ann", shown("bob@example.org/x")), open, true), "bob@example.org");
  assertEquals(sender(inRoom("ann", shown("bob@example.org/x")), {}, true), `${ROOM}/ann`);
  assertEquals(
    sender(inRoom("ann", shown("bob@example.org"), shown("ann@example.org")), open, true),
    `${ROOM}/ann`,
  );
  assertEquals(sender(inRoom("ann", shown("a@b")), { isBelieved: false }, true), `${ROOM}/ann`);
});

Deno.test("readMessage() leaves out what we have said ourselves, under whichever nick", () => {
  const occupants = { helper: { jid: "somebody@example.org" } };
  const isHeard = (nick: string, at?: true, ...more: XmlElement[]) =>
    readMessage(
      inRoom(nick, ...more),
      context({ occupants, features: ["muc_nonanonymous"] }),
      at && archived,
    ) !== undefined;
  assertEquals([isHeard("helper_"), isHeard("helper"), isHeard("ann")], [false, true, true]);
  assertEquals([isHeard("helper_", true), isHeard("helper", true)], [false, false]);
  // One that was taken when the others were in use.
  assertEquals([isHeard("helper___", true), isHeard("helper_x", true)], [false, true]);
  assertEquals(isHeard("old", true, shown("agent@example.org/service")), false);
  assertEquals(
    readMessage(message({ from: "agent@example.org/phone", type: "chat" }, body("x")), context()),
    undefined,
  );
});

Deno.test("readMessage() takes the time of who may say it", () => {
  const at = (from: string) => {
    const delay = xml("delay", { xmlns: NS.delay, from, stamp: "2020-01-01T00:00:00Z" });
    const one = message({ from: "ann@example.org/x", type: "chat" }, body("x"), delay);
    return readMessage(one, context())?.sentAt;
  };
  assertEquals(at("example.org"), Date.UTC(2020, 0, 1));
  assertEquals(at("ann@example.org/x"), 1_000);
});

Deno.test("readMessage() leaves the quote out that other programs are shown", () => {
  const fallback = xml(
    "fallback",
    { xmlns: NS.fallback, for: NS.reply },
    xml("body", { start: "0", end: "7" }),
  );
  const one = message({ from: "ann@example.org/x" }, body("> 👍 no\nyes"), fallback);
  assertEquals(readMessage(one, context())?.content, "yes");
});

Deno.test("addressedText() hears its nick, and not what begins like it", () => {
  for (
    const [text, expected] of [
      ["helper: a", "a"],
      ["@Helper, a b", "a b"],
      ["HELPER a", "a"],
      ["helper", ""],
      ["helpers: a", undefined],
      ["ask @helper", "ask @helper"],
      ["mail a@helper.org", undefined],
      ["ask @helpers", undefined],
      ["ask helper", undefined],
    ] as const
  ) assertEquals(addressedText(text, "helper"), expected, text);
});

Deno.test("archiveIdOf() takes the id of the archive, and none where there are two", () => {
  const id = (by: string, id: string) => xml("stanza-id", { xmlns: NS.stanzaIds, by, id });
  const own = "agent@example.org";
  const ann = { from: "ann@example.org/x" };
  assertEquals(archiveIdOf(message(ann, id(own, "a")), own), "a");
  assertEquals(archiveIdOf(message(ann, id("eve@example.org", "a")), own), undefined);
  const two = message(ann, id("Agent@example.org", "x"), id(own, "a"));
  assertEquals([archiveIdOf(two, own), hasForgedId(two, own)], [undefined, true]);
  assertEquals(messageIdOf(message({ ...ann, id: "1" }, body("a")), "a"), "archive:a");
  const counted = (text: string) =>
    messageIdOf(message({ ...ann, id: "1" }, body(text)), undefined);
  assertEquals([counted("a") === counted("a"), counted("a") === counted("b")], [true, false]);
});

Deno.test("encryptionOf() tells messages from keys", () => {
  const omemo = (...children: XmlElement[]) =>
    message({}, xml("encrypted", { xmlns: "urn:xmpp:omemo:2" }, ...children));
  assertEquals(encryptionOf(omemo(xml("payload"))), "text");
  assertEquals(encryptionOf(omemo(xml("header"))), "key");
  assertEquals(encryptionOf(message({}, xml("openpgp", { xmlns: "urn:xmpp:openpgp:0" }))), "text");
  assertEquals(encryptionOf(message({}, body("?OTR:AAMD="))), "text");
  assertEquals(encryptionOf(message({}, body("is ?OTR good?"))), undefined);
});

Deno.test("readInvitation() takes the word of a service of our own domain, and of who sends it", () => {
  const by = (from: string, ...children: XmlElement[]) =>
    readInvitation(message({ from }, ...children), "agent@example.org/x")?.by;
  const mediated = xml("x", { xmlns: NS.mucUser }, xml("invite", { from: "Ann@example.org/y" }));
  const direct = xml("x", { xmlns: NS.invite, jid: ROOM });
  assertEquals(by(ROOM, mediated), "ann@example.org");
  assertEquals(by("room@conference.evil.example", mediated), undefined);
  assertEquals(by("eve@example.org", mediated), undefined);
  assertEquals(by("eve@example.org", mediated, direct), "eve@example.org");
  assertEquals(by("ann@example.org/z", direct), "ann@example.org");
});

Deno.test("readMessage() throws for no message, however odd", () => {
  const text = fc.oneof(
    anyString({ maxLength: 12 }),
    fc.constantFrom(ROOM, "a@b/c"),
  );
  const names = ["body", "delay", "x", "stanza-id", "replace", "encrypted", "fallback", "reply"];
  const child = fc.record({
    name: fc.constantFrom(...names),
    xmlns: fc.constantFrom(...Object.values(NS)),
    attrs: fc.dictionary(fc.constantFrom("by", "id", "from", "stamp", "jid", "start", "for"), text),
    text,
  });
  fc.assert(
    fc.property(text, text, fc.array(child, { maxLength: 6 }), (from, type, children) => {
      const one = message(
        { from, type },
        ...children.map(({ name, xmlns, attrs, text }) => xml(name, { xmlns, ...attrs }, text)),
      );
      for (const at of [undefined, archived]) readMessage(one, context(), at);
      readInvitation(one, "agent@example.org/x");
    }),
    { numRuns: rounds(1_000) },
  );
});
