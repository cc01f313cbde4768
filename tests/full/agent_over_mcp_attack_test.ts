import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, programArgs, type TestHome } from "../support/home.ts";

const KEY = "key-of-the-api-0123456789";
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  },
};
const LIST = { jsonrpc: "2.0", id: 2, method: "tools/list", params: {} };
const ask = (id: unknown, message: string, session_id = "s") => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "ask", arguments: { message, session_id } },
});

// deno-lint-ignore no-explicit-any -- tests look at whatever came
type Answer = any;

/** The command with its streams as they are. */
function spawnServe(home: TestHome, more: string[] = []) {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...programArgs(), "mcp", "serve", ...more],
    cwd: home.dir,
    clearEnv: true,
    env: {
      HOME: home.dir,
      SERVICE_HOME: `${home.dir}/home`,
      PATH: Deno.env.get("PATH") ?? "",
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream())
    .getReader();
  return {
    child,
    writer,
    send: (value: unknown) =>
      writer.write(
        new TextEncoder().encode(`${typeof value === "string" ? value : JSON.stringify(value)}\n`),
      ),
    async next(): Promise<Answer> {
      const { value, done } = await lines.read();
      return done ? undefined : JSON.parse(value);
    },
  };
}

async function homeWith(script: Parameters<typeof startModelServer>[0], api = {}) {
  const model = startModelServer(script);
  const home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    api: { mcp: true, apiKey: KEY, ...api },
  });
  return {
    model,
    home,
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

Deno.test("mcp serve answers what is no message in the protocol's words, and goes on", async () => {
  await using set = await homeWith({ script: { text: "still here" } });
  const { send, next, writer, child } = spawnServe(set.home);
  const cases: [unknown, number, unknown][] = [
    ["hello", -32700, null],
    ['{"jsonrpc":"2.0"', -32700, null],
    ["null", -32600, null],
    ["[]", -32600, null],
    [[INITIALIZE, LIST], -32600, null],
    [{ ...LIST, jsonrpc: "1.0" }, -32600, 2],
    [{ id: 7, method: "tools/list" }, -32600, 7],
    [{ jsonrpc: "2.0", id: { no: 1 }, method: "tools/list" }, -32600, null],
    [{ jsonrpc: "2.0", id: 8, method: 5 }, -32600, 8],
    [{ jsonrpc: "2.0", id: 9, method: "rm/all" }, -32601, 9],
    [{ jsonrpc: "2.0", id: 10, method: "tools/call", params: { name: 5 } }, -32603, 10],
  ];
  for (const [value, code, id] of cases) {
    await send(value);
    const answer = await next();
    assertEquals([answer.jsonrpc, answer.error?.code, answer.id], ["2.0", code, id], `${value}`);
  }
  // A line of 20 MB is passed over; what follows it is read.
  const piece = new Uint8Array(1024 * 1024).fill(120);
  for (let at = 0; at < 20; at++) await writer.write(piece);
  await send("");
  assertStringIncludes((await next()).error.message, "A line is over");
  await send("");
  await send(INITIALIZE);
  assertEquals((await next()).result.serverInfo.name, "service");
  await send({ jsonrpc: "2.0", method: "notifications/initialized" });
  await send(ask(11, "hello"));
  assertEquals((await next()).result.content[0].text, "still here");
  await writer.close();
  assertEquals(await next(), undefined);
  assertEquals((await child.status).code, 0);
});

Deno.test("mcp serve bounds what is under way, and one id means one request", async () => {
  await using set = await homeWith({ script: { hang: "headers" } });
  const { send, next, writer, child } = spawnServe(set.home);
  await send(INITIALIZE);
  await next();
  await send(ask(1, "wait", "s1"));
  await send(ask(1, "wait", "s1"));
  assertMatch((await next()).error.message, /of that id is under way/);
  for (let id = 2; id <= 64; id++) await send(ask(id, "wait", `s${id}`));
  await send(ask(65, "wait", "s65"));
  const { id, error } = await next();
  assertEquals([id, error.code], [65, -32_000]);
  await set.model.request(0);
  await writer.close();
  assertEquals(await next(), undefined);
  assertEquals((await child.status).code, 0);
  await Promise.all(set.model.requests.map(({ closed }) => closed));
});

Deno.test("mcp serve ends, and not well, when the service under it is killed", async () => {
  await using set = await homeWith({ script: { hang: "headers" } });
  const service = await set.home.start();
  const { child, writer, send, next } = spawnServe(set.home);
  await send(INITIALIZE);
  await next();
  await send(ask(2, "is never answered"));
  await set.model.request(0);
  await service.kill();
  assertEquals(await next(), undefined);
  assertEquals((await child.status).code, 1);
  await writer.abort().catch(() => {});
});

Deno.test("mcp serve keeps to its own conversations, unless it is told otherwise", async () => {
  await using set = await homeWith({ script: { text: "ok" } });
  const asked = await set.home.run(["agent", "-m", "private", "--session", "mine"]);
  assertEquals(asked.code, 0, asked.stderr);
  const { send, next, writer, child } = spawnServe(set.home);
  await send(INITIALIZE);
  await next();
  const read = (id: number, name: string, args: unknown) =>
    send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
  await read(2, "list_sessions", {});
  assertEquals((await next()).result.structuredContent, { sessions: [] });
  await read(3, "read_session", { session_id: "cli:mine" });
  assertEquals((await next()).result.isError, true);
  await writer.close();
  await child.status;

  const all = spawnServe(set.home, ["--all-sessions"]);
  await all.send(INITIALIZE);
  await all.next();
  const list = { name: "list_sessions", arguments: {} };
  await all.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: list });
  const { session_id } = (await all.next()).result.structuredContent.sessions[0];
  assertEquals(session_id, "cli:mine");
  const one = { name: "read_session", arguments: { session_id } };
  await all.send({ jsonrpc: "2.0", id: 3, method: "tools/call", params: one });
  assertEquals((await all.next()).result.structuredContent.messages[0].text, "private");
  await all.writer.close();
  await all.child.status;
  const help = await set.home.run(["mcp", "list", "--all-sessions"]);
  assertEquals(help.code, 2);
});

async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = "POST",
): Promise<{ status: number; text: string; body: Answer; headers: Headers }> {
  const response = await fetch(`${url}/mcp`, {
    method,
    headers: {
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: method === "GET" || method === "DELETE"
      ? undefined
      : typeof body === "string" || body instanceof ReadableStream
      ? body
      : JSON.stringify(body),
  });
  const text = await response.text();
  let parsed: Answer;
  try {
    parsed = JSON.parse(text);
  } catch {
    // An event stream.
  }
  return { status: response.status, text, body: parsed, headers: response.headers };
}

Deno.test("POST /mcp is guarded like every route, and refuses what is no message", async () => {
  await using set = await homeWith({ script: { text: "here" } });
  await using service = await set.home.start();
  const url = service.apiUrl;
  const cases: [string, unknown, Record<string, string>, number, string][] = [
    ["no key", LIST, { authorization: "" }, 401, "invalid_api_key"],
    ["a wrong key", LIST, { authorization: "Bearer nope" }, 401, "invalid_api_key"],
    ["another origin", LIST, { origin: "https://evil.example" }, 403, "forbidden_origin"],
    ["text", "hello", { "content-type": "text/plain" }, 415, "unsupported_media_type"],
    [
      "a form",
      "x",
      { "content-type": "multipart/form-data; boundary=x" },
      415,
      "unsupported_media_type",
    ],
    ["no JSON", "{", {}, 400, "invalid_request"],
    ["a batch", [INITIALIZE, LIST], {}, 400, "invalid_request"],
    ["another version", { ...LIST, jsonrpc: "1.0" }, {}, 400, "invalid_request"],
    ["no message", { jsonrpc: "2.0", id: 1 }, {}, 400, "invalid_request"],
    ["a version of MCP", LIST, { "mcp-protocol-version": "1999-01-01" }, 400, "invalid_request"],
    ["9 MiB", JSON.stringify(ask(1, "x".repeat(9 * 1024 * 1024))), {}, 413, "too_large"],
  ];
  for (const [what, body, headers, status, code] of cases) {
    const answer = await post(url, body, headers);
    assertEquals(answer.status, status, `${what}: ${answer.text}`);
    assertEquals(answer.body.error.code, code, what);
  }
  for (const method of ["GET", "DELETE", "PUT"]) {
    const answer = await post(url, "x", {}, method);
    assertEquals([answer.status, answer.headers.get("allow")], [405, "POST, OPTIONS"], method);
  }
  // Nothing of the transport is kept, so nothing but the request itself is needed.
  const listed = await post(url, LIST);
  assertEquals([listed.status, listed.body.id, listed.body.result.tools.length], [200, 2, 3]);
  const notice = await post(url, { jsonrpc: "2.0", method: "notifications/initialized" });
  assertEquals([notice.status, notice.text], [202, ""]);
  const unknown = await post(url, { jsonrpc: "2.0", id: 3, method: "rm/all" });
  assertEquals([unknown.status, unknown.body.error.code], [200, -32601]);
  // A client that reads no stream gets its answer whole.
  const whole = await post(url, ask(4, "hello"), { accept: "application/json" });
  assertEquals(whole.body.result.content[0].text, "here");
  const streamed = await post(url, ask("x", "hello"));
  assertEquals(streamed.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assertMatch(streamed.text, /^event: message\ndata: \{.*"id":"x".*\}\n\n$/);
  assertEquals(await service.stop(), 0);
});

Deno.test("POST /mcp shows the API's conversations alone", async () => {
  await using set = await homeWith({ script: { text: "ok" } });
  const asked = await set.home.run(["agent", "-m", "private", "--session", "mine"]);
  assertEquals(asked.code, 0, asked.stderr);
  await using service = await set.home.start();
  await post(service.apiUrl, ask(1, "hello", "theirs"));
  const call = (name: string, args: unknown) =>
    post(service.apiUrl, {
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name, arguments: args },
    }, {
      accept: "application/json",
    });
  const { sessions } = (await call("list_sessions", {})).body.result.structuredContent;
  assertEquals(sessions.map((one: Answer) => one.session_id), ["theirs"]);
  for (const session_id of ["cli:mine", "mine", "api:theirs"]) {
    assertEquals(
      (await call("read_session", { session_id })).body.result.isError,
      true,
      session_id,
    );
  }
});

Deno.test("POST /mcp is off by default and says so, and needs a key", async () => {
  await using set = await homeWith({ script: { text: "ok" } }, { mcp: false });
  await using service = await set.home.start();
  for (const method of ["POST", "GET"]) {
    const { status, body } = await post(service.apiUrl, LIST, {}, method);
    assertEquals(status, 404);
    assertStringIncludes(body.error.message, "api.mcp is false");
  }
  await service.stop();
  await set.home.configure({ api: { mcp: true } });
  const { code, stderr } = await set.home.run(["serve", "--port", "0"]);
  assertEquals(code, 3);
  assertStringIncludes(stderr, "POST /mcp needs a key, so api.apiKey has to be set");
});
