import { assert, assertEquals, assertThrows } from "@std/assert";
import { readSettings, xmppSettings } from "./settings.ts";

const GOOD = { jid: "Agent@Example.org", password: "secret word", host: "xmpp.example.org" };

Deno.test("xmppSettings() reads addresses, rooms and their passwords", () => {
  const settings = xmppSettings({
    ...GOOD,
    rooms: ["Room@Conference.example.org/Helper", "other@conference.example.org"],
    roomPasswords: "room@conference.example.org open sesame, x@y z",
    inviteFrom: ["Ann@example.org"],
  });
  assertEquals(settings.jid, { local: "agent", domain: "example.org", resource: "service" });
  assertEquals(settings.rooms, [
    { jid: "room@conference.example.org", nick: "Helper", password: "open sesame" },
    { jid: "other@conference.example.org", nick: "agent" },
  ]);
  assertEquals([settings.port, settings.tls, settings.inviteFrom], [5222, "starttls", [
    "ann@example.org",
  ]]);
});

Deno.test("readSettings() names each field that is wrong, and no secret", () => {
  for (
    const [field, value] of [
      ["jid", ""],
      ["jid", "example.org"],
      ["jid", "a b@example.org"],
      ["jid", "a@b@c"],
      ["host", ""],
      ["host", "example.org:5222"],
      ["port", 0],
      ["port", "x"],
      ["tls", "none"],
      ["tls", "ssl"],
      ["resource", "a\nb"],
      ["nick", "a\u0000"],
      ["rooms", ["conference.example.org"]],
      ["inviteFrom", ["ann@example.org/phone"]],
      ["uploadUrl", "http://example.org"],
      ["uploadUrl", "x"],
      ["respond", "sometimes"],
      ["language", "fr"],
    ] as const
  ) {
    const { problems } = readSettings({ ...GOOD, [field]: value });
    assertEquals(problems.map((problem) => problem.field), [field], `${field} ${value}`);
    assert(!JSON.stringify(problems).includes("secret word"));
  }
  assertThrows(() => xmppSettings({ ...GOOD, jid: "x" }), Error, "expected an address such as");
  assertEquals(readSettings({ ...GOOD, host: "127.0.0.1", tls: "none" }).problems, []);
});
