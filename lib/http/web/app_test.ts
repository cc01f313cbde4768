import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { z } from "zod";
import { SCOPES } from "../../contract/credentials.ts";
import { ServiceError } from "../../base/errors.ts";
import { createTestWebApp, refusal } from "./testing/test_web_app.ts";
import type { WebCall, WebRoute } from "./web_route.ts";

const ok = () => Response.json({ ok: true });

function route(path: string, more: Partial<WebRoute> = {}): WebRoute {
  return { method: "GET", path, summary: "Test", handle: ok, ...more } as WebRoute;
}

const SAMPLE: WebRoute[] = [
  route("/api/webui/plain"),
  route("/api/webui/read", { scope: "read" }),
  route("/api/webui/items/:id", { scope: "read", handle: ({ params }) => Response.json(params) }),
  route("/api/webui/items/:id", { method: "DELETE" }),
  route("/api/webui/off", { scope: "read", off: () => "set parts.enabled to true" }),
  route("/api/webui/open", { access: "public" }),
  route("/page", { access: "page" }),
  route("/health", { access: "probe" }),
];

const BODY: WebRoute = {
  method: "POST",
  path: "/api/webui/body",
  scope: "chat",
  summary: "Test",
  handle: async ({ body }) =>
    Response.json(await body(z.object({ name: z.string("a name") }, "an object"))),
};

Deno.test("createWebApp() asks for a token, then for its scope", async () => {
  const { ask } = createTestWebApp(SAMPLE);
  assertEquals(await refusal(await ask("/api/webui/read")), [401, "invalid_token"]);
  const wrong = await ask("/api/webui/read", { token: "wrong" });
  assertEquals(wrong.headers.get("www-authenticate"), "Bearer");
  assertEquals(await refusal(wrong), [401, "invalid_token"]);
  for (const scope of SCOPES) {
    const may = scope === "read" || scope === "operate";
    assertEquals((await ask("/api/webui/read", { token: scope })).status, may ? 200 : 403, scope);
    // A route that states no scope needs operate.
    const plain = await ask("/api/webui/plain", { token: scope });
    assertEquals(plain.status, scope === "operate" ? 200 : 403, scope);
  }
  assertEquals(await refusal(await ask("/api/webui/plain", { token: "nothing" })), [
    403,
    "insufficient_scope",
  ]);
  // Whoever a proxy vouches for is not narrowed.
  assertEquals((await ask("/api/webui/plain", { token: "person" })).status, 200);
});

Deno.test("createWebApp() counts failed authentication by address; a right token passes", async () => {
  const { ask, clock } = createTestWebApp(SAMPLE, { perMinute: 3 });
  for (const token of ["a", "b", undefined]) {
    assertEquals((await ask("/api/webui/read", { token })).status, 401);
  }
  const blocked = await ask("/api/nowhere", { token: "c" });
  assertMatch(blocked.headers.get("retry-after")!, /^[1-9]\d*$/);
  assertEquals(await refusal(blocked), [429, "too_many_auth_failures"]);
  assertEquals((await ask("/api/webui/read", { token: "read" })).status, 200);
  assertEquals((await ask("/health")).status, 200);
  clock.advance(60_000);
  assertEquals((await ask("/api/webui/read", { token: "c" })).status, 401);
});

Deno.test("createWebApp() counts a token that is found to be none while it is looked up", async () => {
  const { ask } = createTestWebApp(SAMPLE, {
    perMinute: 1,
    callerOf: () => Promise.reject(new ServiceError("invalid_token", "None")),
  });
  assertEquals((await ask("/api/webui/read")).status, 401);
  assertEquals((await ask("/api/webui/read")).status, 429);
  const busy = createTestWebApp(SAMPLE, {
    perMinute: 1,
    callerOf: () => Promise.reject(new ServiceError("overloaded", "Busy")),
  });
  assertEquals((await busy.ask("/api/webui/read")).status, 503);
  assertEquals((await busy.ask("/api/webui/read")).status, 503);
});

Deno.test("createWebApp() tells a stranger below /api/ nothing of its routes", async () => {
  const { ask } = createTestWebApp(SAMPLE);
  const paths = ["/api/nowhere", "/api/webui/read", "/api/webui/items", "/api/", "/api/webui/%00"];
  for (const path of paths) {
    for (const method of ["GET", "HEAD", "POST", "PATCH", "OPTIONS"]) {
      const response = await ask(path, { method, headers: { "content-type": "application/json" } });
      assertEquals(response.status, 401, `${method} ${path}`);
      assertEquals(response.headers.get("allow"), null);
    }
  }
  assertEquals(await refusal(await ask("/api/nowhere", { token: "nothing" })), [404, "not_found"]);
  assertEquals(await refusal(await ask("/nowhere")), [404, "not_found"]);
});

Deno.test("createWebApp() answers 405 with what there is, and takes no write by GET", async () => {
  const { ask } = createTestWebApp([...SAMPLE, BODY]);
  const headers = { "content-type": "application/json" };
  for (const method of ["POST", "PUT", "PATCH"]) {
    const response = await ask("/api/webui/items/1", { method, token: "operate", headers });
    assertEquals(response.headers.get("allow"), "GET, DELETE, HEAD, OPTIONS");
    assertEquals(await refusal(response), [405, "method_not_allowed"]);
  }
  assertEquals((await ask("/api/webui/body", { token: "operate" })).status, 405);
  const described = await ask("/api/webui/body", { method: "OPTIONS", token: "operate" });
  assertEquals([described.status, described.headers.get("allow")], [204, "POST, OPTIONS"]);
  assertEquals((await ask("/api/webui/open", { method: "DELETE" })).status, 405);
  assertEquals((await ask("/page", { method: "DELETE" })).status, 405);
  assertEquals((await ask("/page", { method: "OPTIONS" })).status, 204);
});

Deno.test("createWebApp() answers HEAD as GET, with the query", async () => {
  let seen = "";
  const { ask } = createTestWebApp([route("/api/webui/q", {
    handle({ query }: WebCall) {
      seen = query.get("a") ?? "";
      return Response.json({ a: 1 });
    },
  })]);
  const response = await ask("/api/webui/q?a=b%20c#d", { method: "HEAD", token: "operate" });
  assertEquals([response.status, seen], [200, "b c"]);
});

Deno.test("createWebApp() answers 503 not_enabled for a part that is off, to those who may ask", async () => {
  const { ask } = createTestWebApp(SAMPLE);
  const off = await ask("/api/webui/off", { token: "read" });
  const { error } = await off.json();
  assertEquals([off.status, error.code], [503, "not_enabled"]);
  assertMatch(error.message, /set parts\.enabled to true/);
  assertEquals((await ask("/api/webui/off", { token: "chat" })).status, 403);
  assertEquals((await ask("/api/webui/off")).status, 401);
});

Deno.test("G23 createWebApp() takes nothing from pages of other origins, links to pages apart", async () => {
  const { ask } = createTestWebApp([...SAMPLE, BODY], {
    allowedOrigins: ["https://app.example"],
  });
  const foreign = { origin: "https://evil.example" };
  const paths = ["/api/webui/read", "/api/webui/open", "/page", "/health", "/api/nowhere"];
  for (const path of paths) {
    for (const token of ["operate", undefined]) {
      const response = await ask(path, { token, headers: foreign });
      assertEquals(response.headers.get("access-control-allow-origin"), null);
      assertEquals(await refusal(response), [403, "forbidden_origin"], path);
    }
  }
  const cross = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
  assertEquals((await ask("/page", { headers: cross })).status, 200);
  assertEquals((await ask("/api/webui/open", { headers: cross })).status, 403);
  assertEquals((await ask("/page", { method: "DELETE", headers: cross })).status, 403);
  const rebound = { host: "evil.example:8765" };
  assertEquals((await ask("/page", { headers: rebound })).status, 403);
  assertEquals((await ask("/health", { headers: rebound })).status, 200);
  for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
    const sent = { method: "POST", token: "operate", raw: '{"name":"x"}' };
    const response = await ask("/api/webui/body", { ...sent, headers: { "content-type": type } });
    assertEquals(await refusal(response), [415, "unsupported_media_type"]);
  }
});

Deno.test("createWebApp() lets pages of allowed origins read answers, errors too", async () => {
  const origin = "https://app.example";
  const { ask } = createTestWebApp([...SAMPLE, BODY], { allowedOrigins: [origin] });
  const preflight = await ask("/api/webui/body", {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization, content-type",
    },
  });
  assertEquals(preflight.status, 204);
  assertEquals(preflight.headers.get("access-control-allow-methods"), "POST, OPTIONS");
  for (const token of ["read", "wrong"]) {
    const response = await ask("/api/webui/read", { token, headers: { origin } });
    assertEquals(response.headers.get("access-control-allow-origin"), origin);
  }
});

Deno.test("createWebApp() gives every answer the headers that keep it private", async () => {
  const { ask, access } = createTestWebApp([
    ...SAMPLE,
    route("/api/webui/kept", {
      handle: () => new Response("x", { headers: { "cache-control": "no-cache" } }),
    }),
  ]);
  const asked = [
    await ask("/api/webui/read", { token: "read" }),
    await ask("/page"),
  ];
  const refused = [await ask("/api/webui/read"), await ask("/nowhere")];
  for (const { headers } of [...asked, ...refused]) {
    assertMatch(headers.get("x-request-id")!, /^req_/);
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertEquals(headers.get("referrer-policy"), "no-referrer");
    assertEquals(headers.get("cache-control"), "no-store");
  }
  const kept = await ask("/api/webui/kept", { token: "operate" });
  assertEquals(kept.headers.get("cache-control"), "no-cache");
  assertEquals(access.map(({ status, path }) => [status, path]), [
    [200, "/api/webui/read"],
    [200, "/page"],
    [401, "/api/webui/read"],
    [404, "/nowhere"],
    [200, "/api/webui/kept"],
  ]);
});

Deno.test("G24 createWebApp() repeats no token of a query in its log or its errors", async () => {
  const secret = "swt_very-secret";
  const { ask, access, errors } = createTestWebApp(SAMPLE);
  const text = await (await ask(`/nowhere?token=${secret}`)).text() +
    await (await ask(`/api/webui/read?token=${secret}`, { token: secret })).text();
  assert(!`${text}${JSON.stringify([access, errors])}`.includes(secret));
});

Deno.test("createWebApp() takes parts of a path as they were meant", async () => {
  const { ask } = createTestWebApp(SAMPLE);
  const ids: [sent: string, meant: string][] = [
    ["websocket:a", "websocket:a"],
    ["websocket%3Aa", "websocket:a"],
    ["a%2Fb", "a/b"],
    ["a%252Fb", "a%2Fb"],
    ["%E2%82%AC", "€"],
    ["%00", "\0"],
    ["__proto__", "__proto__"],
  ];
  for (const [sent, meant] of ids) {
    const response = await ask(`/api/webui/items/${sent}`, { token: "read" });
    assertEquals(await response.json(), { id: meant }, sent);
  }
  // What is no UTF-8 is nothing's name, and no fault of the service.
  for (const sent of ["%ff", "%", "%E2%82", "%zz"]) {
    const response = await ask(`/api/webui/items/${sent}`, { token: "read" });
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  for (const path of ["/api/webui/items/a/b", "/api/webui/items/", "/api/webui/items/../x"]) {
    assertEquals((await ask(path, { token: "read" })).status, 404, path);
  }
});

Deno.test("createWebApp() does not let a spelling of a path past its scope", async () => {
  const { ask } = createTestWebApp(SAMPLE);
  for (
    const path of [
      "/api/webui/%72ead",
      "/%61pi/webui/read",
      "//api/webui/read",
      "/api/./webui/read",
      "/health/../api/webui/read",
      "/api/webui/read/",
      "/page/../api/webui/plain",
      "/API/webui/read",
    ]
  ) {
    const stranger = await ask(path);
    assert([401, 404].includes(stranger.status), `${path} ${stranger.status}`);
    const narrow = await ask(path, { token: "nothing" });
    assert([403, 404].includes(narrow.status), `${path} ${narrow.status}`);
  }
});

Deno.test("createWebApp() checks bodies: type, size, JSON, fields", async () => {
  const { ask } = createTestWebApp([BODY, { ...BODY, path: "/api/webui/small", maxBodyBytes: 20 }]);
  const post = (asked: object, path = "/api/webui/body") =>
    ask(path, { method: "POST", token: "chat", ...asked });
  const headers = { "content-type": "application/json" };
  assertEquals(await (await post({ body: { name: "ann", more: 1 } })).json(), { name: "ann" });
  for (
    const [body, message] of [
      [{}, "name must be a name, got nothing"],
      [{ name: 5 }, "name must be a name, got 5"],
      [[], "The body must be an object, got an empty list"],
      [null, "The body must be an object, got null"],
    ] as const
  ) {
    const response = await post({ body });
    const { error } = await response.json();
    assertEquals([response.status, error.code, error.message], [400, "invalid_request", message]);
  }
  for (
    const raw of ["", "{", "[".repeat(10_000), "\0", new Uint8Array([0x22, 0xff, 0x22])]
  ) assertEquals(await refusal(await post({ raw, headers })), [400, "invalid_request"]);
  const polluted = await post({ raw: '{"name":"x","__proto__":{"polluted":1}}', headers });
  assertEquals(await polluted.json(), { name: "x" });
  assertEquals(({} as Record<string, unknown>).polluted, undefined);
  const huge = await post({ body: { name: "x".repeat(65_536) } });
  const { error } = await huge.json();
  assertEquals([huge.status, error.message], [413, "The body is over the limit of 64 KiB"]);
  assertEquals((await post({ body: { name: "x".repeat(20) } }, "/api/webui/small")).status, 413);
  const form = new FormData();
  form.set("name", "x");
  assertEquals(await refusal(await post({ raw: form })), [415, "unsupported_media_type"]);
  assertEquals(await refusal(await post({})), [415, "unsupported_media_type"]);
});

Deno.test("createWebApp() keeps what broke inside, and says under which id", async () => {
  const { ask, errors } = createTestWebApp([route("/api/webui/broken", {
    handle: () => {
      throw new Error("the path /home/ann");
    },
  })]);
  const response = await ask("/api/webui/broken", { token: "operate" });
  const id = response.headers.get("x-request-id")!;
  const { error } = await response.json();
  assertEquals([response.status, error.code], [500, "internal_error"]);
  assert(error.message.includes(id) && !error.message.includes("/home"));
  assertEquals(errors[0]?.fields?.cause, "the path /home/ann");
});

Deno.test("createWebApp() logs 499 when the client leaves before it is answered", async () => {
  const abort = new AbortController();
  const { ask, access } = createTestWebApp([route("/api/webui/slow", {
    handle({ request }: WebCall) {
      const gone = Promise.withResolvers<Response>();
      request.signal.addEventListener("abort", () => gone.reject(new Error("gone")));
      abort.abort();
      return gone.promise;
    },
  })]);
  await ask("/api/webui/slow", { token: "operate", signal: abort.signal });
  assertEquals(access.map(({ status, reason }) => [status, reason]), [[499, "client_gone"]]);
});

Deno.test("createWebApp() refuses two routes of one method and path", () => {
  const twice = [route("/api/webui/items/:id"), route("/api/webui/items/:other")];
  assertThrows(() => createTestWebApp(twice), TypeError, "is there twice");
});
