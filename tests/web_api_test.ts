import { assert, assertEquals } from "@std/assert";
import { schemaProblems } from "../lib/http/api/openapi/testing/json_schema.ts";
import { makeHome } from "./support/home.ts";
import { bootstrap, httpOf, WireSocket } from "./support/wire_socket.ts";

// deno-lint-ignore no-explicit-any -- JSON of any shape
type Json = any;

/** The routes of a gateway, each answer held against the service's own document. */
async function openRoutes(wsUrl: string) {
  const { api_token } = await bootstrap(wsUrl);
  const ask = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(new URL(path, httpOf(wsUrl)), {
      method,
      headers: {
        authorization: `Bearer ${api_token}`,
        ...body !== undefined && { "content-type": "application/json" },
      },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  };
  const document: Json = JSON.parse((await ask("GET", "/openapi.json")).text);
  const call = async (method: string, route: string, path: string, body?: unknown) => {
    const operation = document.paths[route][method.toLowerCase()];
    const { status, text } = await ask(method, path, body);
    const described = operation.responses[status];
    assert(described !== undefined, `${method} ${path} answers ${status}: ${text.slice(0, 500)}`);
    const schema = described.content?.["application/json"]?.schema;
    const json: Json = schema === undefined ? undefined : JSON.parse(text);
    if (schema !== undefined) {
      const problems = schemaProblems(schema, json, { root: document, closed: true });
      assertEquals(problems, [], `${method} ${path}: ${text.slice(0, 500)}`);
    }
    return { status, json, text };
  };
  return { document, call };
}

Deno.test("every route that lists something answers as the OpenAPI document says", async () => {
  await using home = await makeHome({ automations: { enabled: true } });
  await using gateway = await home.start(["gateway", "--json"]);
  const { document, call } = await openRoutes(gateway.wsUrl);
  const listing = Object.entries<Json>(document.paths).filter(([path, { get }]) =>
    get !== undefined && !path.includes("{") && path !== "/"
  );
  assert(listing.length > 12);
  for (const [path, { get: { parameters = [] } }] of listing) {
    const needed = parameters.filter(({ required }: Json) => required);
    const query = new URLSearchParams(needed.map(({ name }: Json) => [name, "any"]));
    assertEquals((await call("GET", path, `${path}?${query}`)).status, 200, path);
  }
  // The log as it goes on: what was asked for since, but for the reading itself.
  const logs = "/api/webui/logs";
  const { json: { next } } = await call("GET", logs, logs);
  await call("GET", "/health", "/health");
  const news: string[] = [];
  // Lines of requests are written together.
  while (!news.includes("/health")) {
    const { json: { lines } } = await call("GET", logs, `${logs}?after=${next}`);
    news.push(...lines.map(({ text }: Json) => text.split(" ")[2]));
  }
  assert(!news.includes(logs), news.join(" "));
  const verify = "/api/webui/audit/verify";
  const { status, json } = await call("POST", verify, verify, {});
  assertEquals([status, json.ok], [200, true]);
});

Deno.test("a chat of the socket is a session of the routes: read, renamed, forked, exported, deleted", async () => {
  await using home = await makeHome({});
  await using gateway = await home.start(["gateway", "--json"]);
  const { call } = await openRoutes(gateway.wsUrl);
  using socket = await WireSocket.open(gateway.wsUrl);
  const { chatId } = socket;
  socket.send({ type: "message", chat_id: chatId, content: "hello there" });
  await socket.next("turn_end");

  const ALL = "/api/webui/sessions";
  const ONE = `${ALL}/{key}`;
  const at = `${ALL}/websocket:${chatId}`;
  const { json: { sessions } } = await call("GET", ALL, ALL);
  assertEquals(sessions.map(({ chat_id, running }: Json) => [chat_id, running]), [[chatId, false]]);
  const last = socket.frames.findLast((frame) => frame.event === "turn_end") as Json;
  assertEquals(sessions[0].last_seq, last.seq);
  const { json: { messages } } = await call("GET", `${ONE}/messages`, `${at}/messages`);
  assertEquals(messages.map(({ role }: Json) => role), ["user", "assistant"]);
  assertEquals(messages[0].text, "hello there");

  // Whoever has the chat open sees its new name.
  const renamed = await call("PUT", `${ONE}/title`, `${at}/title`, { title: "Greetings" });
  assertEquals([renamed.status, renamed.json.title], [200, "Greetings"]);
  const frame = await socket.next("session_updated");
  assertEquals([frame.scope, frame.title], ["title", "Greetings"]);

  const fork = await call("POST", `${ONE}/fork`, `${at}/fork`, { before_user_index: 1 });
  assertEquals([fork.status, fork.json.title], [200, "Greetings"]);
  const exported = await call("GET", `${ONE}/export`, `${at}/export`);
  const kinds = exported.text.trimEnd().split("\n").map((line) => JSON.parse(line).kind);
  assertEquals(new Set(kinds), new Set(["session", "turn", "message", "event"]));

  assertEquals((await call("DELETE", ONE, at)).status, 200);
  assertEquals((await call("DELETE", ONE, at)).status, 404);
  const left = await call("GET", ALL, ALL);
  assertEquals(left.json.sessions.map(({ key }: Json) => key), [fork.json.key]);
});

Deno.test("messages for chats, missed ones and MCP servers are read and decided on as the document says", async () => {
  await using home = await makeHome({ mcp: { servers: { files: { command: ["/bin/false"] } } } });
  await using gateway = await home.start(["gateway", "--json"]);
  const { call } = await openRoutes(gateway.wsUrl);
  const ALL = "/api/webui/outbox";
  const ONE = `${ALL}/{id}`;
  const message = { channel: "websocket", chat_id: "c1", text: "hello" };
  const sent = await call("POST", ALL, ALL, message);
  assertEquals([sent.status, sent.json.state], [200, "sent"]);
  assertEquals((await call("GET", ONE, `${ALL}/${sent.json.id}`)).json, sent.json);
  const listed = await call("GET", ALL, `${ALL}?state=sent`);
  assertEquals(listed.json.messages, [sent.json]);
  for (const verb of ["resend", "drop"]) {
    const path = `${ALL}/${sent.json.id}/${verb}`;
    assertEquals((await call("POST", `${ONE}/${verb}`, path, {})).status, 400);
    assertEquals((await call("POST", `${ONE}/${verb}`, `${ALL}/99/${verb}`, {})).status, 404);
  }
  const missed = "/api/settings/channels/{name}/missed";
  const at = missed.replace("{name}", "telegram");
  assertEquals((await call("GET", missed, at)).json, { count: 0, messages: [] });
  assertEquals((await call("POST", `${missed}/{id}/answer`, `${at}/1/answer`, {})).status, 404);
  assertEquals((await call("DELETE", missed, at)).json, { cleared: 0 });
  const test = "/api/webui/mcp/servers/{name}/test";
  const tested = await call("POST", test, test.replace("{name}", "files"), {});
  assertEquals([tested.json.state, typeof tested.json.advice], ["failed", "string"]);
  assertEquals((await call("POST", test, test.replace("{name}", "none"), {})).status, 404);
});

Deno.test("every path takes its own methods alone (405 with Allow), what is unknown is 404, and what is off is 503", async () => {
  await using home = await makeHome({ automations: { enabled: false } });
  await using gateway = await home.start(["gateway", "--json"]);
  const { api_token } = await bootstrap(gateway.wsUrl);
  const ask = async (method: string, path: string) => {
    const response = await fetch(new URL(path, httpOf(gateway.wsUrl)), {
      method,
      headers: { authorization: `Bearer ${api_token}`, "content-type": "application/json" },
      body: method === "GET" ? undefined : "{}",
    });
    const text = await response.text();
    const code = response.ok ? undefined : JSON.parse(text).error.code;
    return { status: response.status, code, allow: response.headers.get("allow"), text };
  };
  const document: Json = JSON.parse((await ask("GET", "/openapi.json")).text);
  const methods = ["GET", "POST", "PUT", "DELETE", "PATCH"];
  for (const route of Object.keys(document.paths)) {
    const path = route.replaceAll(/\{\w+\}/g, "x");
    // A name may stand where another route takes any.
    const taken = Object.entries<Json>(document.paths).filter(([other]) =>
      new RegExp(`^${other.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path)
    );
    const own = methods.filter((method) =>
      taken.some(([, operations]) => method.toLowerCase() in operations)
    );
    for (const method of methods) {
      if (own.includes(method)) continue;
      const { status, allow } = await ask(method, path);
      assertEquals(status, 405, `${method} ${path}`);
      for (const each of own) assert(allow?.includes(each), `${method} ${path}: ${allow}`);
    }
    if (!path.startsWith("/api/webui/automations")) continue;
    for (const method of own) {
      const { status, code } = await ask(method, path);
      assertEquals([status, code], [503, "not_enabled"], `${method} ${path}`);
    }
  }
  for (const path of ["/api", "/api/", "/api/webui", "/api/webui/nothing", "/api/v2", "/webui"]) {
    const { status, code } = await ask("GET", path);
    assertEquals([status, code], [404, "not_found"], path);
  }
});
