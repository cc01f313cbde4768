import { assert, assertEquals, assertMatch } from "@std/assert";
import { openAdmissionPort } from "./testing/admission_port.ts";

const code = (body: string) => JSON.parse(body).error.code;

Deno.test("a handshake is decided in the order of the documents, row by row", async () => {
  await using port = await openAdmissionPort({
    path: "/ws",
    token: "the-static-one",
    allowFrom: ["ann"],
  });
  const evil = { Origin: "https://evil.example" };
  const rows: [string, string, Record<string, string | undefined>, number, string?][] = [
    ["another path, however right the rest", "/other?token=the-static-one&client_id=ann", {}, 404],
    ["a path that only begins like it", "/wsx?token=the-static-one&client_id=ann", {}, 404],
    ["path before Host", "/other", { Host: "evil.example" }, 404, "not_found"],
    ["no real upgrade", "/ws?token=the-static-one&client_id=ann", {
      Upgrade: "h2c",
      Connection: "close",
    }, 404],
    ["a foreign Host before the token", "/ws", { Host: "evil.example" }, 403, "forbidden_host"],
    [
      "a foreign Host with a right token",
      "/ws?token=the-static-one&client_id=ann",
      { Host: "evil.example" },
      403,
      "forbidden_host",
    ],
    [
      "a foreign Origin with a right token",
      "/ws?token=the-static-one&client_id=ann",
      evil,
      403,
      "forbidden_origin",
    ],
    ["Origin null", "/ws?token=the-static-one&client_id=ann", { Origin: "null" }, 403],
    ["an empty Origin", "/ws?token=the-static-one&client_id=ann", { Origin: "" }, 403],
    ["no token before allowFrom", "/ws?client_id=eve", {}, 401, "invalid_token"],
    ["a wrong token", "/ws?client_id=ann&token=the-static-on", {}, 401, "invalid_token"],
    ["an empty token", "/ws?client_id=ann&token=", {}, 401, "invalid_token"],
    [
      "two tokens of which one is right",
      "/ws?client_id=ann&token=the-static-one&token=x",
      {},
      401,
      "invalid_token",
    ],
    ["a client that is not listed", "/ws?token=the-static-one&client_id=ann2", {}, 403],
    ["a client without an id", "/ws?token=the-static-one", {}, 403, "forbidden_client"],
    ["a client with an empty id", "/ws?token=the-static-one&client_id=", {}, 403],
    ["another case", "/ws?token=the-static-one&client_id=Ann", {}, 403, "forbidden_client"],
    ["all of it right", "/ws?token=the-static-one&client_id=ann", {}, 101],
    ["slashes at the end of the path", "/ws//?token=the-static-one&client_id=ann", {}, 101],
    ["an address as Host", "/ws?token=the-static-one&client_id=ann", { Host: "192.0.2.7" }, 101],
  ];
  for (const [name, target, headers, status, slug] of rows) {
    const answer = await port.handshake(target, headers);
    assertEquals(answer.status, status, name);
    if (slug !== undefined) assertEquals(code(answer.body), slug, name);
    if (status !== 101 && status !== 404) {
      const { error } = JSON.parse(answer.body);
      assertEquals(Object.keys(error), ["message", "type", "param", "code"], name);
      assert(answer.body.length < 300, name);
      assert(!answer.body.includes("the-static-one"), name);
    }
  }
});

Deno.test("no refusal says which secret failed: every wrong token is answered alike", async () => {
  await using port = await openAdmissionPort({ token: "the-static-one" });
  const used = port.admission.socketTokens.issue(["read"]);
  await port.handshake(`/?token=${used}`);
  const expired = port.admission.socketTokens.issue(["read"]);
  port.clock.advance(300_000);
  const bodies = new Set<string>();
  for (
    const token of [
      "wrong",
      used,
      expired,
      "swt_".padEnd(47, "A"),
      "sat_".padEnd(47, "A"),
      "",
      "x".repeat(10_000),
      "%00",
      "%ff%fe",
    ]
  ) {
    const { status, body } = await port.handshake(`/?token=${token}`);
    assertEquals(status, 401, token.slice(0, 50));
    bodies.add(body);
  }
  const offered = { "Sec-WebSocket-Protocol": "service.v1, service.token.wrong" };
  bodies.add((await port.handshake("/", offered)).body);
  assertEquals(bodies.size, 1);
});

Deno.test("an issued token opens one socket with its scopes, beside a static one too", async () => {
  for (const keys of [{}, { token: "the-static-one" }]) {
    await using port = await openAdmissionPort(keys);
    const token = port.admission.socketTokens.issue(["read", "chat"]);
    const { status, peer } = await port.handshake(`/?token=${token}&client_id=ann`);
    assertEquals(status, 101);
    assertEquals(peer, { actor: "websocket:ann", clientId: "ann", scopes: ["read", "chat"] });
    assertEquals((await port.handshake(`/?token=${token}&client_id=ann`)).status, 401);
  }
});

Deno.test("of two handshakes with one token at the same instant exactly one gets in", async () => {
  await using port = await openAdmissionPort();
  for (let round = 0; round < 10; round++) {
    const token = port.admission.socketTokens.issue(["read"]);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => port.handshake(`/?token=${token}`)),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    assertEquals(statuses, [101, 401, 401, 401, 401, 401]);
  }
  assertEquals(port.peers.length, 10);
});

Deno.test("a token is used up where it is looked at: by allowFrom's refusal too, by Host's not", async () => {
  await using port = await openAdmissionPort({ allowFrom: ["ann"] });
  const { socketTokens } = port.admission;
  const first = socketTokens.issue(["read"]);
  assertEquals((await port.handshake(`/?token=${first}&client_id=eve`)).status, 403);
  assertEquals((await port.handshake(`/?token=${first}&client_id=ann`)).status, 401);
  const second = socketTokens.issue(["read"]);
  for (const headers of [{ Host: "evil.example" }, { Origin: "https://evil.example" }]) {
    assertEquals((await port.handshake(`/?token=${second}&client_id=ann`, headers)).status, 403);
  }
  assertEquals((await port.handshake(`/other?token=${second}&client_id=ann`)).status, 404);
  assertEquals((await port.handshake(`/?token=${second}&client_id=ann`)).status, 101);
});

Deno.test("a token is taken as a subprotocol beside service.v1, which alone is selected", async () => {
  await using port = await openAdmissionPort({ token: "the.static-one" });
  const offer = (...values: string[]) => port.handshake("/", { "Sec-WebSocket-Protocol": values });
  const right = await offer("service.v1, service.token.the.static-one");
  assertEquals([right.status, right.headers["sec-websocket-protocol"]], [101, "service.v1"]);
  // Order does not matter, nor that it stands in two headers.
  const turned = await offer("service.token.the.static-one,service.v1,other");
  assertEquals([turned.status, turned.headers["sec-websocket-protocol"]], [101, "service.v1"]);
  assertEquals((await offer("service.v1", "service.token.the.static-one")).status, 101);
  assertEquals((await offer("service.token.the.static-one")).status, 401, "a token alone");
  assertEquals((await offer("service.v1, service.token.wrong")).status, 401);
  assertEquals((await offer("service.v1")).status, 401);
  const both = await port.handshake("/?token=the.static-one", {
    "Sec-WebSocket-Protocol": "service.token.the.static-one",
  });
  assertEquals(both.status, 401, "also with a right one in the query");
  const plain = await port.handshake("/?token=the.static-one");
  assertEquals([plain.status, plain.headers["sec-websocket-protocol"]], [101, undefined]);
  const token = port.admission.socketTokens.issue(["read"]);
  const issued = await offer(`service.v1, service.token.${token}`);
  assertEquals([issued.status, issued.peer?.scopes], [101, ["read"]]);
});

Deno.test("client_id is cut to 128 characters and generated where there is none", async () => {
  await using port = await openAdmissionPort({ token: "t" });
  const id = async (query: string) => (await port.handshake(`/?token=t${query}`)).peer?.clientId;
  assertMatch((await id(""))!, /^anon-[0-9a-z]{12}$/);
  assert(await id("") !== await id("&client_id="));
  assertEquals(await id(`&client_id=${"a".repeat(129)}`), "a".repeat(128));
  assertEquals(await id(`&client_id=${encodeURIComponent("🐝").repeat(200)}`), "🐝".repeat(128));
  assertEquals(await id("&client_id=ann&client_id=eve"), "ann");
  await using narrow = await openAdmissionPort({ token: "t", allowFrom: ["a".repeat(128)] });
  const long = await narrow.handshake(`/?token=t&client_id=${"a".repeat(500)}`);
  assertEquals([long.status, long.peer?.clientId.length], [101, 128]);
});

Deno.test("allowFrom: * allows all, an empty list nobody, and messages are held against it again", async () => {
  await using nobody = await openAdmissionPort({ token: "t", allowFrom: [] });
  assertEquals((await nobody.handshake("/?token=t&client_id=ann")).status, 403);
  await using port = await openAdmissionPort({ token: "t", allowFrom: ["ann", "*"] });
  const { peer } = await port.handshake("/?token=t&client_id=bob");
  assertEquals(port.admission.isAllowed(peer!), true);
  port.config.allowFrom.length = 1;
  assertEquals(port.admission.isAllowed(peer!), false);
  assertEquals(port.admission.isAllowed({ ...peer!, clientId: "ann" }), true);
});

Deno.test("a client_id that no record takes is refused at the handshake, after its token", async () => {
  await using port = await openAdmissionPort({ token: "t" });
  assertEquals((await port.handshake("/?client_id=a%00b")).status, 401);
  const { status, body } = await port.handshake("/?client_id=a%00b&token=t");
  assertEquals([status, code(body)], [403, "forbidden_client"]);
  assertEquals((await port.handshake("/?client_id=a%0ab&token=t")).peer?.clientId, "a\nb");
});

Deno.test("websocketRequiresToken false lets in who shows nothing, unless there is a static token", async () => {
  await using open = await openAdmissionPort({ websocketRequiresToken: false });
  assertEquals((await open.handshake("/?client_id=a")).peer, {
    actor: "websocket:a",
    clientId: "a",
  });
  assertEquals((await open.handshake("/?token=whatever")).status, 101);
  const token = open.admission.socketTokens.issue(["read"]);
  assertEquals((await open.handshake(`/?token=${token}`)).peer?.scopes, ["read"]);
  assertEquals((await open.handshake("/", { Origin: "https://evil.example" })).status, 403);
  const alone = { "Sec-WebSocket-Protocol": "service.token.x" };
  assertEquals((await open.handshake("/", alone)).status, 401);
  await using closed = await openAdmissionPort({ websocketRequiresToken: false, token: "t" });
  assertEquals((await closed.handshake("/")).status, 401);
  assertEquals((await closed.handshake("/?token=t")).peer?.scopes, undefined);
});

Deno.test("addresses that guess are told to wait, sockets and routes together, and a right token passes", async () => {
  await using port = await openAdmissionPort({
    token: "t",
    authFailuresPerMinute: 5,
    tokenIssuePath: "/token",
  });
  for (let at = 0; at < 2; at++) assertEquals((await port.handshake("/?token=x")).status, 401);
  const guess = { Authorization: "Bearer x" };
  assertEquals((await port.request("GET", "/token", guess)).status, 401);
  assertEquals((await port.request("GET", "/webui/bootstrap", guess)).status, 401);
  assertEquals((await port.request("GET", "/api/webui/whoami", guess)).status, 401);
  const refused = await port.handshake("/?token=x");
  assertEquals([refused.status, code(refused.body)], [429, "too_many_auth_failures"]);
  assertMatch(refused.headers["retry-after"]!, /^[1-9]\d*$/);
  for (const path of ["/token", "/webui/bootstrap", "/api/webui/whoami"]) {
    const { status, headers } = await port.request("GET", path, guess);
    assertEquals(status, 429, path);
    assertMatch(headers["retry-after"]!, /^[1-9]\d*$/);
  }
  assertEquals((await port.handshake("/?token=t")).status, 101);
  const right = { Authorization: "Bearer lasting_reader" };
  assertEquals((await port.request("GET", "/api/webui/whoami", right)).status, 200);
  port.clock.advance(60_000);
  assertEquals((await port.handshake("/?token=x")).status, 401);
});

Deno.test("hosts and origins of the port's own are the listed ones, and publicWsUrl's", async () => {
  await using port = await openAdmissionPort({
    token: "t",
    path: "/ws",
    publicWsUrl: "wss://agent.example:8443/ws",
    allowedHosts: ["other.example"],
    allowedOrigins: ["https://app.example"],
  });
  const target = "/ws?token=t";
  const own = { Host: `127.0.0.1:${port.port}` };
  for (
    const [headers, status] of [
      [{ Host: "agent.example:8443", Origin: "https://agent.example:8443" }, 101],
      [{ Host: "agent.example", Origin: "https://agent.example:8443" }, 101],
      [{ Host: "other.example", Origin: "https://app.example" }, 101],
      [{ ...own, Origin: `http://127.0.0.1:${port.port}` }, 101],
      [{ Host: "localhost", Origin: "http://localhost" }, 101],
      [{ Host: "agent.example", Origin: "http://agent.example:8443" }, 403],
      [{ Host: "agent.example", Origin: "https://agent.example" }, 403],
      [{ Host: "sub.agent.example" }, 403],
      [{ ...own, Origin: `http://127.0.0.1:${port.port + 1}` }, 403],
      [{ ...own, Origin: `http://localhost:${port.port}` }, 403],
      [{ ...own, Origin: "https://app.example.evil.example" }, 403],
      [{ ...own, Origin: ["https://app.example", "https://evil.example"] }, 403],
      [{ ...own, "Sec-Fetch-Site": "cross-site" }, 403],
      [{ Host: "127.0.0.1.evil.example" }, 403],
    ] as [Record<string, string | string[]>, number][]
  ) assertEquals((await port.handshake(target, headers)).status, status, JSON.stringify(headers));
});

Deno.test("G24 nothing of a token stands in a log, an answer or a referrer", async () => {
  await using port = await openAdmissionPort({
    token: "hunter2-static",
    tokenIssueSecret: "hunter2-secret",
    tokenIssuePath: "/token",
    allowFrom: ["ann"],
  });
  const secret = { Authorization: "Bearer hunter2-secret" };
  const issued = JSON.parse((await port.request("GET", "/token?kind=api", secret)).body).token;
  const socket = port.admission.socketTokens.issue(["read"]);
  const answers = [
    await port.handshake(`/?token=hunter2-static&client_id=eve`),
    await port.handshake(`/?token=${socket}&client_id=eve`),
    await port.handshake(`/?token=${socket}&client_id=ann`),
    await port.handshake(`/?token=hunter2-wrong`),
    await port.handshake("/", { "Sec-WebSocket-Protocol": "service.token.hunter2-static" }),
    await port.handshake(`/nowhere?token=hunter2-static`),
    await port.handshake(`/?token=hunter2-static&client_id=ann`),
    await port.request("GET", "/webui/bootstrap?token=hunter2-static"),
    await port.request("GET", "/token?secret=hunter2-secret"),
    await port.request("GET", "/token?scopes=read", { "X-Service-Auth": "hunter2-wrong" }),
    await port.request("GET", `/api/webui/whoami?token=${issued}`),
    await port.request("GET", "/api/webui/whoami", { Authorization: `Bearer ${issued}` }),
    await port.request("GET", "/api/webui/whoami", { Authorization: `Bearer ${socket}` }),
    await port.request("GET", `/nowhere?token=${issued}`),
  ];
  assertEquals(answers.map(({ status }) => status), [
    ...[403, 403, 401, 401, 401, 404, 101],
    ...[401, 401, 401, 401, 200, 401, 404],
  ]);
  const said = JSON.stringify(answers) + port.lines.join("\n");
  for (const part of ["hunter2", issued.slice(4), socket.slice(4)]) {
    assertEquals(said.includes(part), false, part);
  }
  assert(port.lines.length >= 7, "there are lines that could hold one");
  for (const { status, headers } of answers.slice(7)) {
    assertEquals(headers["referrer-policy"], "no-referrer", String(status));
    assertEquals(headers["cache-control"], "no-store");
  }
});

Deno.test("G23 a page of another origin opens no socket, and neither bootstraps, nor is issued a token, nor posts", async () => {
  await using port = await openAdmissionPort({
    websocketRequiresToken: false,
    tokenIssuePath: "/token",
  });
  const pages: Record<string, string>[] = [
    { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" },
    { Origin: "null" },
    { Origin: `http://localhost:${port.port + 1}`, "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" },
    { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" },
    { Host: "evil.example", Origin: "http://evil.example" },
  ];
  const token = { Authorization: "Bearer lasting_all" };
  for (const page of pages) {
    const name = JSON.stringify(page);
    assertEquals((await port.handshake("/", page)).status, 403, name);
    for (const path of ["/webui/bootstrap", "/token", "/token?kind=api", "/api/webui/whoami"]) {
      const answer = await port.request("GET", path, { ...token, ...page });
      assertEquals([answer.status, answer.headers["access-control-allow-origin"]], [
        403,
        undefined,
      ]);
    }
    const post = await port.request("POST", "/api/webui/socket-token", { ...token, ...page });
    assertEquals(post.status, 403, name);
  }
  // A page of another port of this machine that asks without reading the answer.
  const sameSite = { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors" };
  assertEquals((await port.request("GET", "/webui/bootstrap", sameSite)).status, 403);
  assertEquals((await port.request("GET", "/token?kind=api", sameSite)).status, 403);
  assertEquals(port.peers, []);
});
