import { assertEquals, assertStringIncludes } from "@std/assert";
import { checkSection } from "../../lib/channel/testing/check_section.ts";
import manifest from "./manifest.ts";
import { FakeSlack } from "./testing/fake_slack.ts";
import { validate } from "./validation.ts";

const subject = { descriptor: manifest, validate };

async function find(
  change: (slack: FakeSlack) => Record<string, unknown> | void,
): Promise<{ level: string; field?: string; message: string }[]> {
  const slack = await FakeSlack.open();
  try {
    const values = { mode: "socket", ackReaction: "eyes", ...slack.section, ...change(slack) };
    const findings = await checkSection(subject, values);
    // Nothing was written, and nothing connected.
    assertEquals(
      slack.calls.map(({ method }) => method).filter((method) =>
        !["auth.test", "apps.connections.open"].includes(method)
      ),
      [],
    );
    assertEquals(slack.connections, 0);
    return findings;
  } finally {
    await slack.close();
  }
}

Deno.test("validate() finds nothing where both tokens are right", async () => {
  assertEquals(await find(() => {}), []);
});

for (
  const [what, field, words, change] of [
    ["a token of a person", "botToken", "xoxb-", () => ({ botToken: "xoxp-1" })],
    ["a bot token for the app's", "appToken", "xapp-", () => ({ appToken: "xoxb-1" })],
    ["a token in two lines", "botToken", "as it was shown", () => ({ botToken: "xoxb-1\n2" })],
    ["a wrong bot token", "botToken", "invalid_auth", () => ({ botToken: "xoxb-wrong" })],
    ["a wrong app token", "appToken", "appToken: the token is wrong", () => ({
      appToken: "xapp-wrong",
    })],
    ["no app token", "appToken", "App-Level Tokens", () => ({ appToken: "" })],
    ["no signing secret", "signingSecret", "App Credentials", () => ({
      mode: "http",
      signingSecret: "",
    })],
    ["a revoked token", "botToken", "revoked", (slack: FakeSlack) => slack.revoke()],
    ["missing scopes", "botToken", "files:read, reactions:write", (slack: FakeSlack) => {
      slack.workspace.scopes.delete("files:read");
      slack.workspace.scopes.delete("reactions:write");
    }],
    ["a missing scope of the app token", "appToken", "connections:write", (slack: FakeSlack) => {
      slack.logins["apps.connections.open"] = "missing_scope";
    }],
    ["an emoji that is none", "ackReaction", "eyes", () => ({ ackReaction: "a b" })],
    ["an address that is none", "apiUrl", "expected a URL", () => ({ apiUrl: "slack" })],
  ] as const
) {
  Deno.test(`validate() names ${what} and what to do`, async () => {
    const [finding] = await find(change);
    assertEquals([finding?.level, finding?.field], ["error", field]);
    assertStringIncludes(finding!.message, words);
  });
}

Deno.test("validate() only warns of what it cannot reach", async () => {
  const slack = await FakeSlack.open();
  await slack.goDown();
  const findings = await checkSection(subject, { mode: "socket", ...slack.section });
  assertEquals(findings.map(({ level }) => level), ["warning", "warning"]);
});

Deno.test("validate() refuses services of this machine where they are off", async () => {
  const slack = await FakeSlack.open();
  const section = { mode: "socket", ...slack.section };
  const findings = await checkSection(subject, section, { allowLocal: false });
  assertEquals(findings.map(({ field }) => field), ["apiUrl"]);
  assertEquals(slack.calls, []);
  await slack.close();
});
