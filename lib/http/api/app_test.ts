import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { createTestApi, jsonOf, rawRequest, startTestApi } from "../testing/test_api.ts";

const KEY = "test-key";
const AUTH = { authorization: `Bearer ${KEY}` };
const REQUEST = { messages: [{ role: "user", content: "hi" }] };

/** Both ways to listen: loopback, and beyond it with a key. */
const BINDINGS = [
  { name: "loopback", config: { apiKey: KEY } },
  { name: "all addresses", config: { host: "0.0.0.0", apiKey: KEY } },
];

async function refusalOf(response: Response) {
  const { error } = await jsonOf(response);
  return { status: response.status, type: error.type, code: error.code, param: error.param };
}

for (const { name, config } of BINDINGS) {
  Deno.test(`GET /health on ${name} answers without a key, under any Host`, async () => {
    await using api = await startTestApi({ config });
    const response = await fetch(`${api.url}/health`);
    assertEquals(response.status, 200);
    assertEquals(await response.json(), { status: "ok" });
    const answer = await rawRequest(
      api.listener.port,
      "GET /health HTTP/1.1\r\nHost: proxy.example\r\nConnection: close\r\n\r\n",
    );
    assertStringIncludes(answer, "200 OK");
  });

  Deno.test(`GET /ready on ${name} answers 200 or 503 with the checks`, async () => {
    let ok = true;
    await using api = await startTestApi({
      config,
      checks: () =>
        Promise.resolve({ journal: { ok: true, detail: "" }, model: { ok, detail: "x" } }),
    });
    const ask = () => fetch(`${api.url}/ready`, { headers: AUTH });
    const ready = await ask();
    assertEquals(ready.status, 200);
    assertEquals((await jsonOf(ready)).status, "ready");
    ok = false;
    const unready = await ask();
    assertEquals(unready.status, 503);
    assertEquals(await jsonOf(unready), {
      status: "unavailable",
      version: "1.2.3",
      checks: { journal: { ok: true, detail: "" }, model: { ok: false, detail: "x" } },
    });
  });

  Deno.test(`GET /v1/models on ${name} shows the one model, also by its id with a slash`, async () => {
    await using api = await startTestApi({ config });
    const model = {
      id: "fake/one",
      object: "model",
      created: 1_700_000_000,
      owned_by: "service",
    };
    const get = (path: string) => fetch(`${api.url}${path}`, { headers: AUTH });
    assertEquals(await jsonOf(await get("/v1/models")), { object: "list", data: [model] });
    assertEquals(await jsonOf(await get("/v1/models/fake/one")), model);
    assertEquals(await jsonOf(await get("/v1/models/fake%2Fone")), model);
    const other = await get("/v1/models/fake%2Ftwo");
    assertEquals(await refusalOf(other), {
      status: 404,
      type: "not_found_error",
      code: "model_not_found",
      param: "model",
    });
  });

  Deno.test(`the key on ${name} is asked for before routing`, async () => {
    await using api = await startTestApi({ config });
    const paths = ["/v1/models", "/ready", "/nowhere", "/v1/chat/completions"];
    const keys = [undefined, "wrong", "schl\u00fcssel", `${KEY}x`];
    for (const path of paths) {
      for (const key of keys) {
        const headers = new Headers();
        if (key !== undefined) headers.set("authorization", `Bearer ${key}`);
        const response = await fetch(`${api.url}${path}`, { headers });
        assertEquals(response.headers.get("www-authenticate"), "Bearer");
        assertEquals(await refusalOf(response), {
          status: 401,
          type: "authentication_error",
          code: "invalid_api_key",
          param: null,
        });
      }
    }
    const lower = await fetch(`${api.url}/v1/models`, {
      headers: { authorization: `bearer ${KEY}` },
    });
    assertEquals(lower.status, 200);
    await lower.body?.cancel();
  });

  Deno.test(`failed keys on ${name} are counted by address; the right key passes`, async () => {
    await using api = await startTestApi({ config: { ...config, authFailuresPerMinute: 3 } });
    const get = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${api.url}/v1/models`, { headers });
      await response.body?.cancel();
      return response;
    };
    for (let i = 0; i < 3; i++) assertEquals((await get("wrong")).status, 401);
    const limited = await get("wrong");
    assertEquals(limited.status, 429);
    assertMatch(limited.headers.get("retry-after")!, /^[1-9]\d*$/);
    assertEquals((await get(KEY)).status, 200);
    assertEquals((await get("wrong")).status, 429);
  });

  Deno.test(`404 and 405 on ${name} are in the envelope`, async () => {
    await using api = await startTestApi({ config });
    const nowhere = await fetch(`${api.url}/v1/nowhere`, { headers: AUTH });
    assertEquals(await refusalOf(nowhere), {
      status: 404,
      type: "not_found_error",
      code: "not_found",
      param: null,
    });
    for (
      const [method, path, allow] of [
        ["GET", "/v1/chat/completions", "POST, OPTIONS"],
        ["HEAD", "/v1/chat/completions", "POST, OPTIONS"],
        ["DELETE", "/v1/models", "GET, HEAD, OPTIONS"],
        ["PUT", "/health", "GET, HEAD, OPTIONS"],
        ["PROPFIND", "/v1/models/fake/one", "GET, HEAD, OPTIONS"],
      ] as const
    ) {
      const response = await fetch(`${api.url}${path}`, { method, headers: AUTH });
      assertEquals(response.status, 405);
      assertEquals(response.headers.get("allow"), allow);
      const body = await response.text();
      assertEquals(body.includes('"code":"method_not_allowed"'), method !== "HEAD");
    }
  });

  Deno.test(`HEAD and OPTIONS on ${name} say what GET would and what there is`, async () => {
    await using api = await startTestApi({ config });
    const head = await fetch(`${api.url}/v1/models`, { method: "HEAD", headers: AUTH });
    assertEquals(head.status, 200);
    assertEquals(head.headers.get("content-type"), "application/json");
    assertEquals(await head.text(), "");
    const get = await fetch(`${api.url}/v1/models`, { headers: AUTH });
    const length = (await get.bytes()).length;
    if (name === "loopback") assertEquals(Number(head.headers.get("content-length")), length);
    const options = await fetch(`${api.url}/v1/models`, { method: "OPTIONS", headers: AUTH });
    assertEquals(options.status, 204);
    assertEquals(options.headers.get("allow"), "GET, HEAD, OPTIONS");
    assertEquals(options.headers.get("access-control-allow-origin"), null);
    const nowhere = await fetch(`${api.url}/nowhere`, { method: "OPTIONS", headers: AUTH });
    assertEquals((await refusalOf(nowhere)).status, 404);
  });

  Deno.test(`G23 the guard on ${name} comes before key and routing`, async () => {
    await using api = await startTestApi({ config });
    const foreign = await fetch(`${api.url}/v1/models`, {
      headers: { origin: "http://evil.example" },
    });
    assertEquals(await refusalOf(foreign), {
      status: 403,
      type: "authentication_error",
      code: "forbidden_origin",
      param: null,
    });
    assertEquals(foreign.headers.get("access-control-allow-origin"), null);
    const rebound = await rawRequest(
      api.listener.port,
      `GET /v1/models HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer ${KEY}\r\n` +
        "Connection: close\r\n\r\n",
    );
    assertStringIncludes(rebound, "403 ");
    assertStringIncludes(rebound, '"code":"forbidden_host"');
    const form = await api.chat(REQUEST, { headers: { "content-type": "text/plain" } });
    assertEquals((await refusalOf(form)).code, "unsupported_media_type");
    assertEquals(api.turns.accepted.length, 0);
  });

  Deno.test(`a request that is no HTTP for us on ${name} still gets an answer`, async () => {
    await using api = await startTestApi({ config });
    for (
      const head of [
        "GET / HTTP/1.0",
        "GET /v1/models HTTP/1.1\r\nHost: a b<>",
        "OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1",
        "TRACE /v1/models HTTP/1.1\r\nHost: 127.0.0.1",
        "GET http://evil.example/v1/models HTTP/1.1\r\nHost: 127.0.0.1",
        "GET /v1/models/%zz%00 HTTP/1.1\r\nHost: 127.0.0.1",
        "GET //v1//models HTTP/1.1\r\nHost: 127.0.0.1",
      ]
    ) {
      const answer = await rawRequest(
        api.listener.port,
        `${head}\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\n\r\n`,
      );
      assertMatch(answer, /^HTTP\/1\.[01] (200|204|4\d\d) /, head);
    }
  });
}

const ROUTES: [method: string, path: string][] = [
  ["GET", "/v1/models"],
  ["GET", "/v1/models/fake/one"],
  ["GET", "/ready"],
  ["GET", "/nowhere"],
  ["HEAD", "/v1/models"],
  ["OPTIONS", "/v1/chat/completions"],
  ["POST", "/v1/chat/completions"],
  ["POST", "/v1/responses"],
  ["GET", "/v1/responses/resp_turn1"],
  ["POST", "/v1/responses/resp_turn1/cancel"],
  ["DELETE", "/v1/responses/resp_turn1"],
];

/** Heads that a page of another origin makes a browser send. */
const FOREIGN: [what: string, host: string, head: string][] = [
  ["another origin", "127.0.0.1", "Origin: http://evil.example\r\n"],
  ["another port", "127.0.0.1", "Origin: http://127.0.0.1:3000\r\n"],
  ["a sandboxed frame", "127.0.0.1", "Origin: null\r\n"],
  ["a page without an Origin", "127.0.0.1", "Sec-Fetch-Site: cross-site\r\n"],
  ["a rebound name", "evil.example", ""],
  ["a rebound name that says it is its own", "evil.example", "Origin: http://evil.example\r\n"],
];

for (const [what, host, head] of FOREIGN) {
  Deno.test(`G23 ${what} cannot read, post or guess a key, whatever the route`, async () => {
    for (const apiKey of ["", KEY]) {
      await using api = await startTestApi({
        config: { apiKey, allowedOrigins: ["https://app.example"], authFailuresPerMinute: 5 },
      });
      for (const [method, path] of ROUTES) {
        // The key makes no difference, so that nothing can be learned about it.
        for (const key of [KEY, "guess"]) {
          const body = JSON.stringify(REQUEST);
          const answer = await rawRequest(
            api.listener.port,
            `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${head}Connection: close\r\n` +
              `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
              `Content-Length: ${body.length}\r\n\r\n${body}`,
          );
          assertMatch(answer, /^HTTP\/1\.1 403 /, `${method} ${path}`);
          assert(!/access-control-/i.test(answer), answer);
          if (method !== "HEAD") assertStringIncludes(answer, '"code":"forbidden_');
        }
      }
      assertEquals(api.turns.accepted.length, 0);
    }
  });
}

for (const type of ["text/plain", "application/x-www-form-urlencoded", "image/png", undefined]) {
  Deno.test(`G23 a body of type ${type}, as a page sends it unasked, opens no turn`, async () => {
    await using api = await startTestApi();
    for (const path of ["/v1/chat/completions", "/v1/responses"]) {
      const body = JSON.stringify({ ...REQUEST, input: "hi" });
      const answer = await rawRequest(
        api.listener.port,
        `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n` +
          (type === undefined ? "" : `Content-Type: ${type}\r\n`) +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      );
      assertMatch(answer, /^HTTP\/1\.1 415 /);
      assertStringIncludes(answer, '"code":"unsupported_media_type"');
    }
    assertEquals(api.turns.accepted.length, 0);
  });
}

Deno.test("G23 a page of an allowed origin needs the key like everybody", async () => {
  const origin = "https://app.example";
  await using api = await startTestApi({ config: { apiKey: KEY, allowedOrigins: [origin] } });
  for (const [key, status] of [["guess", 401], [KEY, 200]] as const) {
    const headers = { origin, authorization: `Bearer ${key}` };
    const response = await api.chat(REQUEST, { headers });
    assertEquals(response.status, status);
    assertEquals(response.headers.get("access-control-allow-origin"), origin);
    assertStringIncludes(response.headers.get("access-control-expose-headers")!, "x-should-retry");
    await response.body?.cancel();
  }
});

Deno.test("G24 a token in a URL is in no log and no answer, whatever is wrong with the request", async () => {
  await using api = await startTestApi({
    config: { apiKey: KEY },
    checks: () => {
      throw new TypeError("broke");
    },
  });
  const token = "t0ken-s3cret";
  const authorization = `Authorization: Bearer ${KEY}\r\n`;
  for (
    const [line, headers] of [
      ["GET /v1/models?token=", authorization],
      ["GET /v1/models?token=", ""],
      ["GET /ready?token=", authorization],
      ["GET /nowhere?token=", authorization],
      ["DELETE /v1/models?token=", authorization],
      ["GET /v1/responses/resp_x?stream=maybe&token=", authorization],
      ["GET /v1/responses/resp_x?token=", authorization],
      ["POST /v1/chat/completions?token=", authorization],
      ["GET http://127.0.0.1/v1/models?token=", authorization],
      ["GET http://other.example/v1/models?token=", authorization],
      ["GET //?token=", authorization],
      ["GET /v1/models#", authorization],
    ] as const
  ) {
    for (const host of ["127.0.0.1", "evil.example", "a b<>"]) {
      const answer = await rawRequest(
        api.listener.port,
        `${line}${token} HTTP/1.1\r\nHost: ${host}\r\n${headers}Connection: close\r\n\r\n`,
      );
      assertMatch(answer, /^HTTP\/1\.1 [2-5]\d\d /, line);
      assert(!answer.includes(token), answer);
    }
  }
  const answer = await fetch(`${api.url}/health?token=${token}`);
  assertEquals(answer.headers.get("referrer-policy"), "no-referrer");
  await answer.body?.cancel();
  assert(api.access.length > 0 && api.errors.length > 0);
  assert(!JSON.stringify([api.access, api.errors, api.infos]).includes(token));
});

Deno.test("no key is asked for on loopback when none is set", async () => {
  await using api = await startTestApi();
  const response = await fetch(`${api.url}/v1/models`, {
    headers: { authorization: "Bearer whatever" },
  });
  assertEquals(response.status, 200);
  await response.body?.cancel();
});

Deno.test("createApi() refuses a host beyond loopback without a key", () => {
  for (const host of ["0.0.0.0", "::", "192.168.1.2"]) {
    const error = assertThrows(() => createTestApi({ config: { host } }), ServiceError, host);
    assertEquals(error.code, "config_invalid");
    assertEquals(error.details.param, "api.apiKey");
  }
  createTestApi({ config: { host: "::1" } });
});

Deno.test("pages of allowed origins get CORS headers, on refusals too, and a preflight", async () => {
  const origin = "https://app.example";
  await using api = await startTestApi({ config: { apiKey: KEY, allowedOrigins: [origin] } });
  const refused = await fetch(`${api.url}/v1/models`, { headers: { origin } });
  assertEquals(refused.status, 401);
  assertEquals(refused.headers.get("access-control-allow-origin"), origin);
  assertEquals(refused.headers.get("vary"), "origin");
  await refused.body?.cancel();
  const preflight = await fetch(`${api.url}/v1/chat/completions`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,x-stainless-os",
      "access-control-request-private-network": "true",
    },
  });
  assertEquals(preflight.status, 204);
  const header = (name: string) => preflight.headers.get(`access-control-${name}`);
  assertEquals(header("allow-origin"), origin);
  assertEquals(header("allow-methods"), "POST, OPTIONS");
  assertEquals(header("allow-headers"), "authorization,content-type,x-stainless-os");
  assertEquals(header("allow-private-network"), "true");
  assertEquals(header("allow-credentials"), null);
  const foreign = await fetch(`${api.url}/v1/models`, {
    method: "OPTIONS",
    headers: { origin: "https://evil.example", "access-control-request-method": "GET" },
  });
  assertEquals(foreign.status, 403);
  assertEquals(foreign.headers.get("access-control-allow-origin"), null);
  await foreign.body?.cancel();
});

Deno.test("every answer has a request id of its own, whatever the client sends", async () => {
  await using api = await startTestApi();
  const ids = new Set<string>();
  for (let i = 0; i < 3; i++) {
    const response = await fetch(`${api.url}/health`, { headers: { "x-request-id": "mine" } });
    await response.body?.cancel();
    ids.add(response.headers.get("x-request-id")!);
    assertEquals(response.headers.get("x-content-type-options"), "nosniff");
  }
  assertEquals(ids.size, 3);
  for (const id of ids) assertMatch(id, /^req_[0-9a-f-]{36}$/);
});

Deno.test("G24 the access log has path, status and reason, and no query, key or body", async () => {
  await using api = await startTestApi({ config: { apiKey: KEY } });
  const logged = api.nextAccess();
  const response = await fetch(`${api.url}/v1/models?api_key=s3cret#x`, {
    headers: { authorization: "Bearer t0ken" },
  });
  await response.body?.cancel();
  const entry = await logged;
  assertEquals({ ...entry, durationMs: 0 }, {
    requestId: response.headers.get("x-request-id")!,
    peer: "127.0.0.1",
    method: "GET",
    path: "/v1/models",
    status: 401,
    durationMs: 0,
    reason: "invalid_api_key",
    stream: undefined,
  });
  await (await api.chat({ messages: "b0dy" }, { headers: AUTH })).body?.cancel();
  assertEquals(api.access.at(-1)?.reason, "invalid_request messages");
  const all = JSON.stringify([api.access, api.errors]);
  for (const secret of ["s3cret", "t0ken", "b0dy", KEY]) assert(!all.includes(secret), secret);
});

Deno.test("an unexpected error is 500 without its text, and the log has it", async () => {
  await using api = await startTestApi({
    checks: () => {
      throw new TypeError("/home/me/secret broke");
    },
  });
  const response = await fetch(`${api.url}/ready`);
  assertEquals(response.status, 500);
  const id = response.headers.get("x-request-id")!;
  const { error } = await jsonOf(response);
  assertEquals(error.code, "internal_error");
  assertStringIncludes(error.message, id);
  assert(!error.message.includes("secret"));
  assertEquals(api.errors, [{
    message: "A request failed",
    fields: { id, code: "internal", cause: "/home/me/secret broke" },
  }]);
});

Deno.test("G23 a HTTP/2 request without a Host header is judged by its authority", async () => {
  const { api } = createTestApi();
  const status = async (url: string) => {
    const response = await api.fetch(new Request(url), "127.0.0.1");
    await response.body?.cancel();
    return response.status;
  };
  assertEquals(await status("http://127.0.0.1:8900/v1/models"), 200);
  assertEquals(await status("http://evil.example/v1/models"), 403);
});
