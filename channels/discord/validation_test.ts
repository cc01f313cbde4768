import { assertEquals, assertMatch } from "@std/assert";
import { checkSection } from "../../lib/channel/testing/check_section.ts";
import manifest from "./manifest.ts";
import { FakeDiscord } from "./testing/fake_discord.ts";
import { validate } from "./validation.ts";

async function findingsOf(
  values: Record<string, unknown>,
  prepare: (fake: FakeDiscord) => void | Promise<void> = () => {},
  allowLocal = true,
) {
  const fake = await FakeDiscord.open();
  await prepare(fake);
  const all = { ...fake.section, slashCommand: "ask", allowFrom: ["*"], ...values };
  const findings = await checkSection({ descriptor: manifest, validate }, all, { allowLocal });
  const writes = fake.api.calls.filter(({ method }) => method !== "GET");
  await fake.close();
  assertEquals(writes.length, 0);
  return findings;
}

Deno.test("validate() finds nothing in settings that are right", async () => {
  assertEquals(await findingsOf({}), []);
});

Deno.test("validate() names a token that Discord does not know, and not its value", async () => {
  const [finding, ...others] = await findingsOf({ token: "wrong-token-1" });
  assertEquals(others, []);
  assertEquals([finding!.level, finding!.field], ["error", "token"]);
  assertEquals(finding!.message.includes("wrong-token-1"), false);
});

Deno.test("validate() names the intent that is off, and where to switch it on", async () => {
  const [finding] = await findingsOf({}, (fake) => void (fake.api.appFlags = 0));
  assertEquals([finding!.level, finding!.field], ["error", "token"]);
  assertMatch(finding!.message, /Message Content.*Privileged Gateway Intents/);
});

Deno.test("validate() warns, with a link to invite it, of a bot that is on no server", async () => {
  const [finding] = await findingsOf({}, (fake) => {
    fake.api.intercept = ({ path }) =>
      path === "/users/@me/guilds" ? { status: 200, body: [] } : undefined;
  });
  assertEquals(finding!.level, "warning");
  assertMatch(
    finding!.message,
    /oauth2\/authorize\?client_id=\d+&scope=bot%20applications\.commands/,
  );
});

Deno.test("validate() warns of a Discord that cannot be reached, or does not answer as one", async () => {
  const [away] = await findingsOf({}, (fake) => fake.goDown());
  assertEquals([away!.level, away!.field], ["warning", "apiUrl"]);
  const [odd] = await findingsOf({}, (fake) => {
    fake.api.intercept = () => ({ status: 502, body: "<html>" });
  });
  assertEquals([odd!.level, odd!.field], ["warning", "apiUrl"]);
});

for (
  const [field, value] of [
    ["token", "two words"],
    ["apiUrl", "discord.com"],
    ["apiUrl", "ftp://discord.com"],
    ["ackReaction", "an eye"],
    ["slashCommand", "Ask Me"],
    ["slashServers", ["my server"]],
  ] as const
) {
  Deno.test(`validate() refuses ${JSON.stringify(value)} for ${field} without asking Discord`, async () => {
    const [finding] = await findingsOf({ [field]: value });
    assertEquals([finding!.level, finding!.field], ["error", field]);
    assertMatch(finding!.message, /expected/);
  });
}

Deno.test("validate() warns of a name in allowFrom, where ids belong", async () => {
  const [finding] = await findingsOf({ allowFrom: ["alice"] });
  assertEquals([finding!.level, finding!.field], ["warning", "allowFrom"]);
});

Deno.test("validate() refuses this machine where the section may not name it", async () => {
  const [finding] = await findingsOf({}, () => {}, false);
  assertEquals([finding!.level, finding!.field], ["error", "apiUrl"]);
});
