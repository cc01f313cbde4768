import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { schemaProblems } from "../../lib/http/api/openapi/testing/json_schema.ts";
import { makeHome } from "../support/home.ts";
import { bootstrap, httpOf } from "../support/wire_socket.ts";

// deno-lint-ignore no-explicit-any -- JSON of any shape
type Json = any;

const PATH = "/api/settings/channels";
const SECRET = `whsec_${crypto.getRandomValues(new Uint8Array(32)).toBase64()}`;

/** The channel routes of a gateway, each answer held against the service's own document. */
async function openRoutes(wsUrl: string) {
  const { api_token } = await bootstrap(wsUrl);
  const headers = { authorization: `Bearer ${api_token}` };
  const root = httpOf(wsUrl);
  const document: Json = await (await fetch(new URL("/openapi.json", root), { headers })).json();
  return async (method: string, path: string, body?: unknown): Promise<[number, Json]> => {
    const response = await fetch(new URL(`${PATH}${path}`, root), {
      method,
      headers: { ...headers, ...body !== undefined && { "content-type": "application/json" } },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assertFalse(text.includes(SECRET), text);
    const json = JSON.parse(text);
    const route = `${PATH}${path.replace(/^\/[^/?]+/, "/{name}").replace(/\?.*/, "")}`;
    const described = document.paths[route][method.toLowerCase()].responses[response.status];
    assert(described !== undefined, `${method} ${path} answers ${response.status}: ${text}`);
    const { schema } = described.content["application/json"];
    assertEquals(schemaProblems(schema, json, { root: document, closed: true }), [], text);
    return [response.status, json];
  };
}

/** Takes what a webhook is told. */
function receiver() {
  const texts: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    // The channel's own check asks whether somebody is there.
    if (request.method === "POST") texts.push((await request.json()).text);
    return new Response("ok");
  });
  return { texts, server, url: `http://127.0.0.1:${server.addr.port}/` };
}

Deno.test("a channel is set up over the port, tried from the command line, and switched off again", async () => {
  const { texts, server, url } = receiver();
  await using home = await makeHome({ channels: { webhook: { port: 0 } } });
  await using gateway = await home.start(["gateway", "--json"]);
  const call = await openRoutes(gateway.wsUrl);
  const state = async () => {
    const [, { channels }] = await call("GET", "");
    const { instances: [{ status, enabled }] } = channels.find((one: Json) =>
      one.name === "webhook"
    );
    return { enabled, state: status.state };
  };
  assertEquals(await state(), { enabled: false, state: "off" });
  const [refused, { error }] = await call("POST", "/webhook/enable");
  assertEquals([refused, error.param], [400, "secret"]);
  const values = { secret: SECRET, url, allowFrom: "alice, bob" };
  const [set, { channel }] = await call("PUT", "/webhook", { values });
  assertEquals([set, channel.config_values.allowFrom], [200, ["alice", "bob"]]);
  assertEquals((await call("POST", "/webhook/validate", { values: {} }))[1].findings, []);
  assertEquals((await call("POST", "/webhook/enable", {}))[0], 200);
  // A stored secret goes nowhere else, and a channel without a connector is not connected.
  const moved = { values: { url: "http://127.0.0.1:1/" } };
  assertEquals((await call("PUT", "/webhook", moved))[0], 403);
  assertEquals((await call("POST", "/webhook/connect/start"))[0], 404);

  const sent = await home.run(["channels", "send", "webhook", "room-1", "does this arrive?"]);
  assertEquals([sent.code, texts], [0, ["does this arrive?"]], sent.stderr);
  assertEquals(await state(), { enabled: true, state: "running" });
  const status = await home.run(["channels", "status", "webhook", "--json"]);
  const told = JSON.parse(status.stdout);
  const all = (await home.run(["channels", "status"])).stdout;
  for (const line of [/^webhook +running/m, /^websocket +running .*ws:/m, /^xmpp +off/m]) {
    assertMatch(all, line);
  }
  assertEquals([told.state, told.deliveries.sent], ["running", 1]);

  // In a worker of this process, beside the one that runs.
  const loggedIn = await home.run(["channels", "login", "webhook", "--force", "--json"]);
  // It has no login, and nothing is said to have been done.
  assertEquals(JSON.parse(loggedIn.stdout), { channel: "webhook", needsLogin: false });

  const disabled = await home.run(["plugins", "disable", "webhook"]);
  assertEquals(disabled.code, 0, disabled.stderr);
  // The running service takes the file up by itself.
  while ((await state()).state !== "off") await new Promise((resolve) => setTimeout(resolve, 50));
  const off = await home.run(["channels", "send", "webhook", "room-1", "again"]);
  assertEquals([off.code, texts.length], [1, 1]);
  assertStringIncludes(off.stderr, "switched off: service plugins enable webhook");
  const login = await home.run(["channels", "login", "webhok"]);
  assertEquals(login.code, 1);
  assertStringIncludes(login.stderr, "(did you mean webhook?); there are ");

  const audit = await Deno.readTextFile(`${home.dir}/home/audit/audit.jsonl`);
  assertStringIncludes(audit, "channels.webhook.secret");
  assertFalse((audit + gateway.log()).includes(SECRET));
  await gateway.stop();
  const none = await home.run(["channels", "status"]);
  assertEquals(none.code, 1);
  for (const line of [/^webhook +off/m, /^websocket +not running/m, /^xmpp +off/m]) {
    assertMatch(none.stdout, line);
  }
  assertStringIncludes(none.stderr, "No service runs in");
  await server.shutdown();
});

Deno.test("plugins list, enable and disable work while nothing runs, and while a service without channels does", async () => {
  await using home = await makeHome({ channels: { webhook: { secret: SECRET } } });
  const listed = await home.run(["plugins", "list", "--json"]);
  const lines = listed.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert(lines.some(({ name, enabled }) => name === "webhook" && !enabled), listed.stdout);
  await using _serve = await home.start(["serve", "--json"]);
  const enabled = await home.run(["plugins", "enable", "webhook", "--json"]);
  const { written, restart } = JSON.parse(enabled.stdout);
  assertEquals([enabled.code, written, restart], [0, true, false], enabled.stderr);
  const status = await home.run(["channels", "status"]);
  assertEquals(status.code, 1);
  assertStringIncludes(status.stderr, "has no channels");
  const info = await home.run(["plugins", "info", "webhook"]);
  assertStringIncludes(info.stdout, "Webhook (webhook): on");
  assertFalse((listed.stdout + info.stdout).includes(SECRET));
});
