import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import {
  type SettingsFixture,
  settingsFixture,
  type SettingsFixtureOptions,
} from "../../operations/channels/testing/settings_fixture.ts";
import { completing, type Operate, type OperationRequest } from "../../operations/operations.ts";
import type { Scope } from "../../contract/credentials.ts";
import { type UpkeepFixture, upkeepFixture } from "../../authority/testing/upkeep_fixture.ts";
import type { ChannelStatus } from "../../channel/channel_status.ts";
import { changedChannelSchema, channelSchema } from "../../operations/channels/channel_schemas.ts";
import { CHANNELS } from "../../operations/channels.ts";
import { someParts } from "../../operations/testing/gateway_parts.ts";
import { operationRoutes } from "./operation_routes.ts";
import { createTestWebApp, refusal, type TestWebApp } from "./testing/test_web_app.ts";

const TOKEN = "s3cret-token-of-chat";
const GOOD = { server: "irc.example", botToken: TOKEN };
const PATH = "/api/settings/channels";

interface Port extends AsyncDisposable {
  channels: SettingsFixture;
  web: TestWebApp;
  /** As an operator; status and JSON. */
  ask(path: string, asked?: Parameters<TestWebApp["ask"]>[1]): Promise<[number, Answer]>;
}

// deno-lint-ignore no-explicit-any -- as it came
type Answer = any;

/** The routes over a real authority; a token is called like its scope. */
async function openPort(
  options: SettingsFixtureOptions = {},
  statuses: () => ChannelStatus[] = () => [],
): Promise<Port> {
  const channels = await settingsFixture(options);
  const home: UpkeepFixture = await upkeepFixture({ channels: channels.operator });
  const ask: Operate = (request, credential) =>
    home.ask(request, [credential.kind === "token" ? credential.token as Scope : "operate"]);
  const never = () => Promise.reject();
  const parts = someParts({ channels: { status: statuses, answerMissed: never, verify: never } });
  const web = createTestWebApp(operationRoutes(CHANNELS, { operate: completing(ask, parts) }));
  return {
    channels,
    web,
    async ask(path, asked = {}) {
      const response = await web.ask(`${PATH}${path}`, { token: "operate", ...asked });
      const text = await response.text();
      assertFalse(text.includes(TOKEN), text);
      return [response.status, JSON.parse(text)];
    },
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]();
      await channels[Symbol.asyncDispose]();
    },
  };
}

Deno.test("channel routes want operate, but for the list, and the authority checks it again", async () => {
  await using port = await openPort();
  const { web } = port;
  assertEquals(web.app.routes.map(({ method, path, scope }) => `${method} ${path} ${scope}`), [
    "GET /api/settings/channels read",
    "POST /api/settings/channels/:name/validate operate",
    "PUT /api/settings/channels/:name operate",
    "POST /api/settings/channels/:name/enable operate",
    "POST /api/settings/channels/:name/disable operate",
    "POST /api/settings/channels/:name/connect/start operate",
    "GET /api/settings/channels/:name/connect/poll operate",
    "POST /api/settings/channels/:name/connect/poll operate",
    "POST /api/settings/channels/:name/connect/cancel operate",
  ]);
  for (const { method, path, scope } of web.app.routes) {
    for (const token of ["read", "chat", "approve", "secrets"]) {
      if (token === scope) continue;
      const body = method === "GET" ? undefined : { values: {} };
      const response = await web.ask(path.replace(":name", "chat"), { method, token, body });
      assertEquals(await refusal(response), [403, "insufficient_scope"], `${path} ${token}`);
    }
  }
  const list = await web.ask(PATH, { token: "read" });
  assertEquals(list.status, 200);
  // The authority itself lets nobody in whose token does not cover it.
  await using home = await upkeepFixture({ channels: port.channels.operator });
  const codes = [];
  for (const op of ["validate", "set", "enable", "disable", "connect.poll"]) {
    codes.push(
      await home.ask(
        { op: `channels.${op}`, name: "chat" } as OperationRequest,
        ["read", "secrets"],
      )
        .catch(({ code }) => code),
    );
  }
  assertEquals(new Set(codes), new Set(["insufficient_scope"]));
});

Deno.test("GET of channels shows settings and how each instance is, and no secret (C11)", async () => {
  const status = (runtimeName: string): ChannelStatus => ({
    runtimeName,
    channel: "team",
    displayName: "Team",
    state: "running",
    detail: "connected as @bot",
    since: 1_700_000_000_500,
    restarts: 2,
    deliveries: { waiting: 1, retrying: 1, sent: 9, unknown: 0, dead: 0 },
    missed: 4,
  });
  await using port = await openPort({
    config: { channels: { chat: GOOD, team: { ...GOOD, accounts: { work: {} } } } },
    broken: [{ folder: "bad", problem: "it throws" }],
  }, () => [status("team.work"), { ...status("bad"), state: "failed" }]);
  const [code, { channels }] = await port.ask("");
  assertEquals(code, 200);
  assertEquals(channelSchema.array().parse(channels).length, 3);
  const [chat, team, bad] = channels;
  assertEquals(chat.config_values.server, "irc.example");
  assert(chat.configured_fields.includes("botToken"));
  assertEquals(chat.fields.mode, { kind: "enum", choices: ["all", "mention"] });
  assertEquals([chat.connects, chat.multi_instance, chat.status], [true, false, undefined]);
  assertEquals(team.instances.map((one: Answer) => [one.runtime_name, one.status?.state]), [
    ["team", undefined],
    ["team.work", "running"],
  ]);
  assertEquals(team.instances[1].status, {
    state: "running",
    detail: "connected as @bot",
    since: 1_700_000_000,
    restarts: 2,
    deliveries: { waiting: 1, retrying: 1, sent: 9, unknown: 0, dead: 0 },
    missed: 4,
  });
  assertEquals([chat.locale, chat.locales, chat.steps], ["en", ["en"], []]);
  assertEquals((await port.ask("?locale=de"))[1].channels[0].locale, "en");
  assertEquals((await port.ask(`?locale=${"x".repeat(65)}`))[0], 400);
  assertEquals([bad.problem, bad.status.state, bad.fields], ["it throws", "failed", {}]);
});

Deno.test("PUT, enable and disable change a channel, and say how it is then", async () => {
  await using port = await openPort();
  const put = (body: unknown) => port.ask("/chat", { method: "PUT", body });
  const [status, changed] = await put({ values: GOOD });
  assertEquals(status, 200);
  changedChannelSchema.parse(changed);
  assertEquals([changed.channel.configured, changed.findings], [true, []]);
  // With a body, with none, and with an empty one.
  const post = (path: string, asked: object = {}) => port.ask(path, { method: "POST", ...asked });
  assertEquals((await post("/chat/enable"))[1].channel.enabled, true);
  assertEquals((await post("/chat/disable", { body: {} }))[1].channel.enabled, false);
  const json = { "content-type": "application/json" };
  assertEquals((await post("/chat/enable", { headers: json }))[1].channel.enabled, true);
  const wrong = async (answer: Promise<[number, Answer]>) => {
    const [status, { error }] = await answer;
    return [status, error.code, error.param];
  };
  assertEquals(await wrong(post("/chat/enable", { body: { instance_id: "x" } })), [
    404,
    "not_found",
    "instance_id",
  ]);
  assertEquals(await wrong(post("/none/enable")), [404, "not_found", "name"]);
  assertEquals(await wrong(post("/chat/enable", { body: { [TOKEN]: 1 } })), [
    400,
    "invalid_request",
    null,
  ]);
  assertEquals(await wrong(put({ values: { nope: TOKEN } })), [400, "invalid_request", "nope"]);
  assertEquals(await wrong(put({ values: [TOKEN] })), [400, "invalid_request", "values"]);
  assertEquals(await wrong(put({})), [400, "invalid_request", "values"]);
  assertEquals(await wrong(put({ values: { server: "evil.example" } })), [
    403,
    "refused",
    "server",
  ]);
});

Deno.test("validate answers what is missing, with an alternative by its names (C13)", async () => {
  await using port = await openPort();
  const [status, { findings }] = await port.ask("/chat/validate", {
    method: "POST",
    body: { values: { server: "a", port: "99999", botToken: "" } },
  });
  assertEquals(status, 200);
  assertEquals(findings, [
    {
      level: "error",
      field: "port",
      message: 'port is "99999": expected an integer from 1 to 65535',
    },
    { level: "error", field: "botToken", message: "botToken, or tokenFile is not set" },
  ]);
});

Deno.test("connect routes take query and body, and give back no secret (C33)", async () => {
  const seen: unknown[] = [];
  await using port = await openPort({
    handle(action, query) {
      seen.push([action, query]);
      if (query.now === undefined) {
        return { state: "waiting", message: "Scan", show: { qr: "q" }, values: { nick: "x" } };
      }
      return { state: "connected", message: `got ${TOKEN}`, values: GOOD };
    },
  });
  const start = await port.ask("/chat/connect/start?a=1", { method: "POST", body: { b: "2" } });
  assertEquals(start, [200, { state: "waiting", message: "Scan", show: { qr: "q" } }]);
  assertEquals((await port.ask("/chat/connect/start", { method: "POST" }))[0], 409);
  assertEquals((await port.ask("/chat/connect/poll?c=3"))[0], 200);
  const [, done] = await port.ask("/chat/connect/poll", { method: "POST", body: { now: "1" } });
  assertEquals(done, { state: "connected", message: "got [secret of the channel]" });
  assertEquals((await port.ask("/chat/connect/cancel", { method: "POST" }))[1].state, "connected");
  assertEquals(seen, [
    ["start", { a: "1", b: "2" }],
    ["poll", { c: "3" }],
    ["poll", { now: "1" }],
  ]);
  assertStringIncludes(await port.channels.home.read(), TOKEN);
  assertEquals((await port.ask("/team/connect/start", { method: "POST" }))[0], 404);
  assertEquals((await port.ask("/chat/connect/poll?a=1&a=2"))[0], 400);
  assertEquals((await port.ask("/chat/connect/start", { method: "POST", body: { a: 1 } }))[0], 400);
});
