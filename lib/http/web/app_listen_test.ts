import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { openJournal } from "../../journal/open.ts";
import { begin, ending } from "../../journal/testing/steps.ts";
import type { AccessEntry } from "../access_log.ts";
import { listen } from "../../listen/listen.ts";
import { rawRequest } from "../testing/test_api.ts";
import { someParts } from "../../operations/testing/gateway_parts.ts";
import { SESSIONS } from "../../operations/sessions.ts";
import { arrivalOf } from "./arrival.ts";
import { gatewayRoutes } from "./operation_routes.ts";
import { createTestWebApp } from "./testing/test_web_app.ts";
import type { WebRoute } from "./web_route.ts";

const OPEN: WebRoute = {
  method: "GET",
  path: "/health",
  access: "probe",
  summary: "Test",
  handle: ({ arrival }) =>
    Response.json({ from: arrival.peerAddress, a: arrival.headerValues("x-a") }),
};

/** The app on a port, over a journal with one long session. */
async function start() {
  const journal = openJournal({ path: ":memory:" });
  for (let index = 0; index < 100; index++) {
    const input = [{ type: "text" as const, text: "x".repeat(100_000) }];
    await begin(journal, `t${index}`, { sessionKey: "websocket:a", channel: "websocket", input });
    await journal.end(`t${index}`, ending());
  }
  const logged = Promise.withResolvers<AccessEntry>();
  const { app, clock } = createTestWebApp([
    OPEN,
    ...gatewayRoutes(SESSIONS, {
      ...someParts({ journal, isRunning: () => false }),
      scrubber: { value: (value) => value },
    }),
  ], { accessLog: logged.resolve });
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    setting: "channels.websocket",
    handler: (request, _peer, incoming) => app.fetch(request, arrivalOf(incoming)),
  });
  return {
    journal,
    clock,
    logged: logged.promise,
    port: listener.port,
    url: `http://127.0.0.1:${listener.port}`,
    async [Symbol.asyncDispose]() {
      await listener.close(0);
      await journal.close();
    },
  };
}

const READER = { authorization: "Bearer read" };

Deno.test("an export ends for whoever leaves in the middle, and is logged as left", async () => {
  await using server = await start();
  const client = new AbortController();
  const response = await fetch(`${server.url}/api/webui/sessions/websocket:a/export`, {
    headers: READER,
    signal: client.signal,
  });
  const reader = response.body!.getReader();
  assert((await reader.read()).value!.length > 0);
  client.abort();
  await reader.read().catch(() => {});
  const { status, stream } = await server.logged;
  assertEquals([status, stream], [200, "cancelled"]);
  assertEquals(server.journal.counts().waitingFollowers, 0);
});

Deno.test("an export over a connection is whole", async () => {
  await using server = await start();
  const path = `${server.url}/api/webui/sessions/websocket:a/export`;
  const text = await (await fetch(path, { headers: READER })).text();
  assertEquals(text.trimEnd().split("\n").length, 1 + 100 + 100 + 200);
  assert(text.length > 20_000_000);
});

Deno.test("HEAD over a connection has the length of the answer and no body", async () => {
  await using server = await start();
  const answer = await rawRequest(
    server.port,
    "HEAD /api/webui/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer read\r\n" +
      "Connection: close\r\n\r\n",
  );
  assertMatch(answer, /^HTTP\/1\.1 200/);
  assertMatch(answer, /content-length: [1-9]/i);
  assertEquals(answer.split("\r\n\r\n")[1], "");
});

Deno.test("what is no usual request is answered in the envelope, and reaches no route", async () => {
  await using server = await start();
  const lines = (...lines: string[]) => `${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`;
  const cases: [request: string, status: number, code: string][] = [
    [lines("GET /api/webui/sessions HTTP/1.1", "Host: evil.example"), 403, "forbidden_host"],
    [lines("GET /api/webui/sessions HTTP/1.1", "Host: 127.0.0.1"), 401, "invalid_token"],
    [lines("TRACE /health HTTP/1.1", "Host: 127.0.0.1"), 405, "method_not_allowed"],
    [lines("PROPFIND /health HTTP/1.1", "Host: 127.0.0.1"), 405, "method_not_allowed"],
    [
      lines("GET /api/webui/sessions/%ff/messages HTTP/1.1", "Host: a.localhost"),
      401,
      "invalid_token",
    ],
    [
      lines(
        "POST /health HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: text/plain",
        "Content-Length: 1",
        "",
        "x",
      ),
      415,
      "unsupported_media_type",
    ],
  ];
  for (const [request, status, code] of cases) {
    const answer = await rawRequest(server.port, request);
    assertStringIncludes(answer, `HTTP/1.1 ${status} `, request);
    assertStringIncludes(answer, `"code":"${code}"`, request);
  }
});

Deno.test("a route is told of the connection and of each header, as they came", async () => {
  await using server = await start();
  const answer = await rawRequest(
    server.port,
    "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: 1\r\nX-Forwarded-For: 10.0.0.1\r\nX-A: 2\r\n" +
      "Connection: close\r\n\r\n",
  );
  assertStringIncludes(answer, '{"from":"127.0.0.1","a":["1","2"]}');
});
