import { assertEquals, assertStringIncludes } from "@std/assert";
import { checkSection } from "../../lib/channel/testing/check_section.ts";
import manifest from "./manifest.ts";
import { FakeMattermost } from "./testing/fake_mattermost.ts";
import { validate } from "./validation.ts";

const subject = { descriptor: manifest, validate };

async function findings(
  changes: Record<string, unknown> = {},
  allowLocal = true,
  prepare: (server: FakeMattermost) => void = () => {},
): Promise<string[]> {
  const server = await FakeMattermost.open();
  prepare(server);
  const found = await checkSection(subject, { ...server.section, ...changes }, { allowLocal });
  await server.close();
  return found.map(({ level, field, message }) => `${level} ${field}: ${message}`);
}

Deno.test("validate() finds nothing in settings that work, and writes nothing (C14)", async () => {
  const server = await FakeMattermost.open();
  assertEquals(await checkSection(subject, { ...server.section, team: "my-team" }), []);
  assertEquals(server.api.requests, ["GET /users/me", "GET /users/me/teams"]);
  await server.close();
});

Deno.test("validate() names the field that is wrong", async () => {
  const cases: [Record<string, unknown>, string][] = [
    [{ token: "wrong-token" }, "error token: The server refuses the login: the token is wrong"],
    [{ token: "two words" }, "error token: token is what it is: expected it as it was shown"],
    [{ team: "other" }, 'error team: The bot is in no team "other"; it is in: my-team'],
    [{ team: "My Team" }, "error team: team is"],
    [{ ackReaction: "not an emoji" }, "error ackReaction"],
    [{ url: "chat.example.com" }, 'error url: url is "chat.example.com": expected a URL'],
    [
      { url: "https://user:pass@chat.example.com" },
      'error url: url is "https://***@chat.example.com": expected a URL',
    ],
    [{ caFile: "/gone/ca.pem" }, "error caFile: Cannot use caFile /gone/ca.pem"],
    [{ actionsUrl: "nowhere" }, "error actionsUrl"],
    [{ actionsHost: "http://127.0.0.1" }, "error actionsHost"],
    [{ url: "http://127.0.0.1:1" }, "warning url: url cannot be used now"],
  ];
  for (const [changes, words] of cases) {
    const [first, ...more] = await findings(changes);
    assertStringIncludes(first!, words);
    assertEquals(more, []);
  }
});

Deno.test("validate() warns of a token of a person, and of a server that is busy", async () => {
  const [person] = await findings({}, true, ({ store }) => store.bot.is_bot = false);
  assertStringIncludes(person!, "warning token: token is that of a person");
  const [busy] = await findings({}, true, ({ api }) => {
    api.limited = { count: 1, retryAfterS: 3, header: "Retry-After" };
  });
  assertStringIncludes(busy!, "warning url");
  assertStringIncludes(busy!, "a pause of 3 s");
});

Deno.test("validate() asks no server of this machine where that is not allowed", async () => {
  const [local] = await findings({}, false);
  assertStringIncludes(local!, "error url: url names this machine");
});
