import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { fromMrkdwn } from "./from_mrkdwn.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const names = { selfId: "U0BOT000001", selfName: "helper" };

for (
  const [text, said] of [
    ["<@U0BOT000001> hello", "hello"],
    ["<@U0BOT000001|helper>: hello", "hello"],
    ["  <@U0BOT000001>, hello", "hello"],
    ["<@U0BOT000001|helper> /stop", "/stop"],
    ["<@U0OTHER0001|helper-two> hi", "@helper-two hi"],
    ["<@U0OTHER0001|helper/new>", "@helper_new"],
    ["@helper's book", "@helper's book"],
    ["ask <@U0BOT000001> and <@U0ALICE0001>", "ask @helper and @U0ALICE0001"],
    ["<@U0ALICE0001|alice> hi", "@alice hi"],
    ["<#C0GENERAL01|general> <#C0GENERAL01>", "#general #C0GENERAL01"],
    ["<!here> <!subteam^S1|@group> <!date^1^{date}|today>", "@here @group today"],
    ["<https://e.org/?a=1&amp;b=2>", "https://e.org/?a=1&b=2"],
    ["<https://e.org/|e.org/> <https://e.org/|this>", "https://e.org/ this (https://e.org/)"],
    ["<mailto:a@b.c|a@b.c>", "a@b.c"],
    ["1 &lt; 2 &amp;&amp; 3 &gt; 2", "1 < 2 && 3 > 2"],
    ["&amp;lt;", "&lt;"],
    ["<b> < >", "<b> < >"],
    ["", ""],
    ["<@U0BOT000001>", ""],
  ] as const
) {
  Deno.test(`fromMrkdwn() reads ${JSON.stringify(text)}`, () => {
    assertEquals(fromMrkdwn(text, names), said);
  });
}

Deno.test("fromMrkdwn() gives back whatever was escaped, and never throws", () => {
  fc.assert(
    fc.property(anyString({ maxLength: 60 }), (text) => {
      const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
      assertEquals(fromMrkdwn(escaped, names), text.trim());
      assert(typeof fromMrkdwn(text, names) === "string");
    }),
  );
});
