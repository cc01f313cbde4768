import { assert, assertEquals } from "@std/assert";
import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { checkSection } from "../../lib/channel/testing/check_section.ts";
import manifest from "./manifest.ts";
import { FakeTelegram } from "./testing/fake_telegram.ts";
import { validate } from "./validation.ts";

async function findings(
  telegram: FakeTelegram,
  changes: Record<string, unknown> = {},
  allowLocal = true,
): Promise<SetupFinding[]> {
  const section = { ...telegram.section, ...changes };
  return await checkSection({ descriptor: manifest, validate }, section, { allowLocal });
}

async function withTelegram(run: (telegram: FakeTelegram) => Promise<void>): Promise<void> {
  const telegram = await FakeTelegram.open();
  try {
    await run(telegram);
  } finally {
    await telegram.close();
  }
}

const brief = (found: SetupFinding[]) => found.map(({ level, field }) => `${level} ${field}`);

Deno.test("validate() finds nothing in settings that work, and changes nothing", () =>
  withTelegram(async (telegram) => {
    assertEquals(await findings(telegram), []);
    assertEquals(telegram.api.calls.map(({ method }) => method), ["getMe", "getWebhookInfo"]);
  }));

Deno.test("validate() names a token that Telegram does not know, and not its value", () =>
  withTelegram(async (telegram) => {
    const token = "777001:AAnotherTokenOfATest_0123456789";
    const found = await findings(telegram, { token });
    assertEquals(brief(found), ["error token"]);
    assert(!JSON.stringify(found).includes(token));
    assertEquals(brief(await findings(telegram, { token: "no token" })), ["error token"]);
  }));

Deno.test("validate() warns where Telegram cannot be reached, or is none (C14)", () =>
  withTelegram(async (telegram) => {
    telegram.answerWith(/^getMe$/, "<html>", 404);
    assertEquals(brief(await findings(telegram)), ["warning apiUrl"]);
    await telegram.close();
    const found = await findings(telegram);
    assertEquals(brief(found), ["warning apiUrl"]);
    assert(!JSON.stringify(found).includes(telegram.token));
  }));

Deno.test("validate() says what privacy keeps from a bot that is to answer all", () =>
  withTelegram(async (telegram) => {
    assertEquals(brief(await findings(telegram, { respond: "all" })), ["warning respond"]);
    Object.assign(telegram.api.me, { can_read_all_group_messages: true });
    assertEquals(await findings(telegram, { respond: "all" }), []);
    Object.assign(telegram.api.me, { can_join_groups: false });
    assertEquals(brief(await findings(telegram)), ["warning token"]);
  }));

Deno.test("validate() names a webhook that another program has set, without its path", () =>
  withTelegram(async (telegram) => {
    telegram.setWebhookElsewhere("https://elsewhere.example/secret");
    const found = await findings(telegram);
    assertEquals(brief(found), ["warning mode"]);
    assert(found[0]!.message.includes("elsewhere.example"));
    assert(!found[0]!.message.includes("secret"));
  }));

Deno.test("validate() looks at the settings of a webhook", () =>
  withTelegram(async (telegram) => {
    assertEquals(brief(await findings(telegram, { mode: "webhook" })), [
      "error webhookUrl",
      "error webhookHost",
      "error webhookSecret",
    ]);
    const webhook = {
      mode: "webhook",
      webhookUrl: "https://bot.example.com/telegram",
      webhookHost: "127.0.0.1",
      webhookSecret: "0123456789abcdef",
    };
    assertEquals(await findings(telegram, webhook), []);
    const plain = { ...webhook, webhookUrl: "http://10.0.0.1/telegram" };
    assertEquals(brief(await findings(telegram, plain)), ["warning webhookUrl"]);
  }));

Deno.test("validate() refuses what is no reaction, no address, or on this machine", () =>
  withTelegram(async (telegram) => {
    assertEquals(brief(await findings(telegram, { ackReaction: "🥑" })), ["error ackReaction"]);
    assertEquals(await findings(telegram, { ackReaction: "" }), []);
    for (const apiUrl of ["api.telegram.org", "ftp://x.example", "https://a:b@x.example"]) {
      assertEquals(brief(await findings(telegram, { apiUrl })), ["error apiUrl"]);
    }
    assertEquals(brief(await findings(telegram, {}, false)), ["error apiUrl"]);
  }));
