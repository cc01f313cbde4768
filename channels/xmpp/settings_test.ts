import { assert, assertEquals, assertThrows } from "@std/assert";
import { configFor } from "../../lib/channel/testing/trial.ts";
import manifest from "./manifest.ts";
import { readSettings, type XmppConfig, xmppSettings } from "./settings.ts";

const GOOD = { jid: "Agent@Example.org", password: "secret word", host: "xmpp.example.org" };

const configOf = (more: Record<string, unknown>) =>
  configFor(manifest, { section: { ...GOOD, ...more } }) as unknown as XmppConfig;

Deno.test("xmppSettings() reads addresses, rooms and their passwords", () => {
  const settings = xmppSettings(configOf({
    rooms: ["Room@Conference.example.org/Helper", "other@conference.example.org"],
    roomPasswords: "room@conference.example.org open sesame, x@y z",
    inviteFrom: ["Ann@example.org"],
  }));
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
      ["jid", "example.org"],
      ["jid", "a b@example.org"],
      ["jid", "a@b@c"],
      ["tls", "none"],
      ["resource", "a\nb"],
      ["nick", "a\u0001"],
      ["rooms", ["conference.example.org"]],
      ["inviteFrom", ["ann@example.org/phone"]],
    ] as const
  ) {
    const { problems } = readSettings(configOf({ [field]: value }));
    assertEquals(problems.map((problem) => problem.field), [field], `${field} ${value}`);
    assert(!JSON.stringify(problems).includes("secret word"));
  }
  assertThrows(() => xmppSettings(configOf({ jid: "x" })), Error, "expected an address such as");
  assertEquals(readSettings(configOf({ host: "127.0.0.1", tls: "none" })).problems, []);
});
