import { assert, assertEquals, assertThrows } from "@std/assert";
import manifest from "../manifest.ts";
import { say, XMPP_LANGUAGES } from "../words.ts";
import { readSettings, xmppSettings } from "./settings.ts";
import de from "../locales/de.json" with { type: "json" };
import es from "../locales/es.json" with { type: "json" };
import zh from "../locales/zh.json" with { type: "json" };

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

Deno.test("every language has every label and every word", () => {
  const fields = Object.keys(manifest.setup.fields);
  for (const locale of [de, es, zh]) {
    assertEquals(Object.keys(locale.fields), fields);
    assertEquals(Object.keys(locale.words), Object.keys(de.words));
    assertEquals(locale.steps.length, de.steps.length);
  }
  for (const language of XMPP_LANGUAGES) {
    for (const word of Object.keys(de.words) as (keyof typeof de.words)[]) {
      const values = { name: "N", size: "S", url: "U", count: "C", text: "T", reason: "R" };
      const sentence = say(language, word, values);
      assert(sentence !== "" && !/[{}]/.test(sentence), sentence);
      const english = say("en", word, values).match(/\b[NSUCTR]\b/g)?.toSorted() ?? [];
      for (const value of english) assert(sentence.includes(value), `${language}: ${sentence}`);
    }
  }
});
