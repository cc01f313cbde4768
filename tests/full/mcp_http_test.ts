import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fakeClock } from "../../lib/agent/testing/fake_clock.ts";
import { createExecutor } from "../../lib/executor/executor.ts";
import { type HttpMcpServer, httpMcpServer } from "../../lib/mcp_servers/testing/http_server.ts";
import { npmServer } from "../../lib/mcp_servers/testing/server_configs.ts";
import { gateFixture, type GateFixtureOptions } from "../../lib/authority/testing/gate_fixture.ts";
import { freePort } from "../support/free_port.ts";

/** Looks until something is so. */
async function until(look: () => boolean | Promise<boolean>): Promise<void> {
  while (!await look()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A gate whose one server is reached over HTTP. */
async function withHttp(
  server: Pick<HttpMcpServer, "url" | "port">,
  more: Record<string, unknown> = {},
  options: GateFixtureOptions = {},
) {
  const clock = fakeClock();
  const gate = await gateFixture({
    privateHosts: [`127.0.0.1:${server.port}`],
    mcpClock: clock,
    mcpServers: { web: { url: server.url, allow: ["*"], ...more } },
    ...options,
  });
  const tools = await gate.mcp.tools();
  const echo = (args: unknown) => gate.act("mcp__web__echo", args);
  const status = () => gate.mcp.status()[0]!;
  return {
    gate,
    clock,
    tools,
    echo,
    status,
    [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
  };
}

Deno.test("a real server over streamable HTTP is listed and called", async () => {
  const port = freePort();
  const { command } = npmServer("everything", ["streamableHttp"]) as { command: string[] };
  const process = new Deno.Command(command[0]!, {
    args: command.slice(1),
    env: { PORT: String(port) },
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    await until(() =>
      Deno.connect({ hostname: "127.0.0.1", port }).then((one) => (one.close(), true), () => false)
    );
    await using web = await withHttp({ url: `http://127.0.0.1:${port}/mcp`, port });
    assertEquals(web.status().state, "connected", web.status().detail);
    assert(web.status().resources.length > 0 && web.status().prompts.length > 0);
    assertEquals((await web.echo({ message: "over HTTP" })).output, "Echo: over HTTP");
    const heard: string[] = [];
    const long = await web.gate.act("mcp__web__trigger-long-running-operation", {
      duration: 1,
      steps: 2,
    }, { onProgress: (text) => heard.push(text) });
    assertEquals(long.status, "ok");
    assertMatch(heard[0]!, /^[12]\/2/);
    // It ends while nothing is asked of it; the next call finds that out.
    process.kill("SIGKILL");
    await process.status;
    const gone = await web.echo({ message: "x" });
    assertEquals(gone.status, "failed");
    await until(() => web.status().state === "failed");
    assertMatch(web.status().detail, /next try in 1 s/);
  } finally {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await process.status;
  }
});

Deno.test("a server's headers go to its host, with the host's name, and nowhere else", async () => {
  await using server = httpMcpServer();
  await using other = httpMcpServer();
  const headers = { authorization: "Bearer a-key-for-this-server", "x-team": "one" };
  await using web = await withHttp(
    { url: `http://localhost:${server.port}/mcp`, port: server.port },
    { headers },
    { privateHosts: [`localhost:${server.port}`] },
  );
  assertEquals(web.status().state, "connected", web.status().detail);
  for (const { headers } of server.seen) {
    assertEquals(headers.get("authorization"), "Bearer a-key-for-this-server");
    assertEquals(headers.get("x-team"), "one");
    assertEquals(headers.get("host"), `localhost:${server.port}`);
  }
  server.bend = (_request, rpc) =>
    rpc === "tools/call" ? Response.redirect(`${other.url}`, 307) : undefined;
  const redirected = await web.echo({});
  assertEquals(redirected.status, "failed");
  assertStringIncludes(redirected.output, `redirect to http://127.0.0.1:${other.port}`);
  assertEquals(other.seen, []);
});

for (const status of [301, 302, 307, 308]) {
  Deno.test(`a server that answers its greeting with a redirect (${status}) is not followed`, async () => {
    await using server = httpMcpServer();
    await using other = httpMcpServer();
    server.bend = () => new Response(null, { status, headers: { location: other.url } });
    await using web = await withHttp(server);
    assertEquals(web.status().state, "failed");
    assertStringIncludes(web.status().detail, "redirects are not followed");
    assertEquals(other.seen, []);
  });
}

Deno.test("a session that the server has ended is begun anew, and the call is made once in it", async () => {
  await using server = httpMcpServer();
  await using web = await withHttp(server);
  const [first] = server.sessions;
  assertEquals((await web.echo({ n: 1 })).output, `${first}: {"n":1}`);
  server.sessions.clear();
  const { output } = await web.echo({ n: 2 });
  const [second] = server.sessions;
  assert(second !== first);
  assertEquals(output, `${second}: {"n":2}`);
  assertEquals([web.status().state, web.status().restarts], ["connected", 0]);
});

Deno.test("a session is taken leave of when the service stops", async () => {
  await using server = httpMcpServer();
  {
    await using web = await withHttp(server);
    assertEquals(web.status().state, "connected");
    assertEquals(server.sessions.size, 1);
  }
  assertEquals(server.sessions.size, 0);
});

Deno.test("a host that is not public is refused unless it is listed, and that is on record", async () => {
  await using server = httpMcpServer();
  await using web = await withHttp(server, {}, { privateHosts: [] });
  assertEquals(web.tools, []);
  assertStringIncludes(web.status().detail, "gates.privateHosts");
  assertEquals(server.seen, []);
  const [record] = (await web.gate.records()).filter(({ kind }) => kind === "mcp.refused");
  assertEquals(record!.data.addresses, ["127.0.0.1"]);
});

Deno.test("a name that leads elsewhere when the server is connected anew is judged anew", async () => {
  await using server = httpMcpServer();
  const executor = createExecutor({
    cacheDir: await Deno.makeTempDir(),
    log: { debug() {}, info() {}, warning() {}, error() {} },
  });
  let addresses = ["127.0.0.1"];
  const run = executor.run.bind(executor);
  executor.run = (job, options) =>
    job.task.tool === "resolve_host"
      ? Promise.resolve({ type: "addresses", addresses })
      : run(job, options);
  await using web = await withHttp(
    { url: `http://tools.example:${server.port}/mcp`, port: server.port },
    { timeoutS: 1 },
    { executor, privateHosts: [`127.0.0.1:${server.port}`] },
  );
  assertEquals(web.status().state, "connected", web.status().detail);
  assertEquals(server.seen[0]!.headers.get("host"), `tools.example:${server.port}`);
  // A living connection stays with the address that was judged.
  addresses = ["10.0.0.7"];
  assertEquals((await web.echo({})).status, "ok");
  for (const private_ of ["10.0.0.7", "169.254.169.254", "::1", "::ffff:10.0.0.1", "0.0.0.0"]) {
    addresses = ["93.184.215.14", private_];
    const tested = await web.gate.mcp.test("web");
    assertEquals(tested.state, "failed");
    assertStringIncludes(tested.detail, `leads to ${private_}`);
  }
});

Deno.test("what a server answers wrong is a fault in words, and its key is asked for by name", async () => {
  await using server = httpMcpServer();
  const cases: [Response | (() => Response), RegExp][] = [
    [() => new Response("no", { status: 401 }), /answers HTTP 401: the key in headers/],
    [() => new Response("no", { status: 500 }), /500|no/],
    [() => new Response("<html>", { headers: { "content-type": "text/html" } }), /content type/],
    [() => new Response("{", { headers: { "content-type": "application/json" } }), /JSON|Expected/],
  ];
  for (const [answer, said] of cases) {
    server.bend = () => typeof answer === "function" ? answer() : answer;
    await using web = await withHttp(server);
    assertEquals(web.status().state, "failed");
    assertMatch(web.status().detail, said);
  }
});

Deno.test("a server that knows no session, however new, is asked once more and then told of in words", async () => {
  await using server = httpMcpServer();
  await using web = await withHttp(server);
  let calls = 0;
  server.bend = (_request, rpc) => {
    if (rpc !== "tools/call") return;
    calls++;
    return new Response("gone", { status: 404 });
  };
  const { status, output } = await web.echo({});
  assertEquals([status, calls], ["failed", 2]);
  assertEquals(output, "web/echo did not finish: it answers HTTP 404: gone");
});

Deno.test("an answer and a stream without an end are cut off", async () => {
  await using server = httpMcpServer();
  await using web = await withHttp(server);
  for (const type of ["application/json", "text/event-stream"]) {
    server.bend = (_request, rpc) => {
      if (rpc !== "tools/call") return;
      const chunk = new TextEncoder().encode(`data: ${"x".repeat(65_536)}`);
      const endless = new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
      return new Response(endless, { headers: { "content-type": type } });
    };
    const before = Deno.memoryUsage().rss;
    const { status, output } = await web.gate.act("mcp__web__echo", {});
    assertEquals(status, "failed", output);
    assert(Deno.memoryUsage().rss - before < 200 * 1024 * 1024);
  }
});
