/** What `channels.websocket` says, over a real gateway. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { WebSocket } from "ws";
import { startModelServer } from "./fakes/model_server.ts";
import { makeHome } from "./support/home.ts";
import { bootstrap, httpOf, transcript, WireSocket } from "./support/wire_socket.ts";

/** A gateway with that section, and its address. */
async function open(websocket: object) {
  const home = await makeHome({ channels: { websocket } });
  const gateway = await home.start(["gateway", "--json"]);
  return {
    home,
    gateway,
    /** Opens a WebSocket: its first frame, or the status of the refusal. */
    shake: (path: string, protocols: string[] = []) =>
      shake(new URL(path, gateway.wsUrl), protocols),
    get: (path: string, headers: HeadersInit = {}) =>
      fetch(new URL(path, httpOf(gateway.wsUrl)), { headers }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

interface Shaken {
  status: number;
  protocol?: string;
  // deno-lint-ignore no-explicit-any -- the error envelope, or a frame
  said: any;
}

function shake(url: URL, protocols: string[]): Promise<Shaken> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, protocols);
    socket.on("message", (data) => {
      resolve({ status: 101, protocol: socket.protocol, said: JSON.parse(String(data)) });
      socket.terminate();
    });
    socket.on("unexpected-response", (_, response) => {
      let body = "";
      response.on("data", (data) => body += data);
      response.on("end", () => resolve({ status: response.statusCode!, said: JSON.parse(body) }));
    });
    socket.on("error", reject);
  });
}

Deno.test("path takes slashes at its end or not, and nothing else is the port's WebSocket", async () => {
  await using port = await open({ path: "/ws/", websocketRequiresToken: false });
  assertMatch(port.gateway.wsUrl, /^ws:\/\/127\.0\.0\.1:\d+\/ws$/);
  for (const path of ["/ws", "/ws/", "/ws//"]) {
    const { status, said } = await port.shake(path);
    assertEquals([status, said.event], [101, "ready"], path);
    assertMatch(said.client_id, /^anon-.{12}$/);
  }
  for (const path of ["/", "/wsx", "/ws/x", "/WS"]) {
    const { status, said } = await port.shake(path);
    assertEquals([status, said.error.code], [404, "not_found"], path);
  }
  const answer = await bootstrap(port.gateway.wsUrl) as unknown as Record<string, unknown>;
  assertEquals([answer.ws_path, answer.ws_url], ["/ws", port.gateway.wsUrl]);
});

Deno.test("client_id is cut to 128, and allowFrom sees it once the token is right", async () => {
  const id = "a".repeat(128);
  await using port = await open({ token: "static-1", allowFrom: [id, "alice"] });
  const rows: [query: string, status: number, code?: string][] = [
    [`client_id=${id}${"b".repeat(20)}&token=static-1`, 101],
    ["client_id=alice&token=static-1", 101],
    // Exactly, and a token is looked at first.
    ["client_id=alice2&token=static-1", 403, "forbidden_client"],
    ["client_id=Alice&token=static-1", 403, "forbidden_client"],
    ["token=static-1", 403, "forbidden_client"],
    ["client_id=mallory&token=static-2", 401, "invalid_token"],
    ["client_id=alice&token=static", 401, "invalid_token"],
    ["client_id=alice", 401, "invalid_token"],
  ];
  for (const [query, status, code] of rows) {
    const shaken = await port.shake(`/?${query}`);
    assertEquals([shaken.status, shaken.said.error?.code], [status, code], query);
    if (status === 101) assert([id, "alice"].includes(shaken.said.client_id));
  }
  // Each has its line in the log, which is whole once the gateway has stopped, and none a token.
  await port.gateway.stop();
  const lines = port.gateway.log().split("\n").filter((line) => / GET \/ \d+ /.test(line));
  assertEquals(
    lines.map((line) => [Number(/ GET \/ (\d+) /.exec(line)![1]), /reason="(.*)"/.exec(line)?.[1]]),
    rows.map(([, status, code]) => [status, code]),
  );
  assertEquals(port.gateway.log().includes("static-"), false);
});

Deno.test("a token of the issue path opens one socket with its scopes; only its secret is asked for there", async () => {
  const secret = { "x-service-auth": "issue-1" };
  await using port = await open({
    token: "static-1",
    tokenIssuePath: "/token",
    tokenIssueSecret: "issue-1",
    tokenTtlS: 60,
  });
  for (const headers of [{}, { "x-service-auth": "static-1" }, { authorization: "Bearer x" }]) {
    const refused = await port.get("/token", headers as HeadersInit);
    assertEquals([refused.status, (await refused.json()).error.code], [401, "invalid_token"]);
  }
  const unknown = await port.get("/token?scopes=read,write", secret);
  assertEquals([unknown.status, (await unknown.json()).error.param], [400, "scopes"]);

  const api = await (await port.get("/token?kind=api", secret)).json();
  assertMatch(api.token, /^sat_[A-Za-z0-9_-]{43}$/);
  assertEquals((await port.shake(`/?token=${api.token}`)).status, 401);
  assertEquals(
    (await port.get("/api/webui/sessions", { authorization: `Bearer ${api.token}` })).status,
    200,
  );

  const { token, expires_in } = await (await port.get("/token?scopes=read", {
    authorization: "Bearer issue-1",
  })).json();
  assertMatch(token, /^swt_[A-Za-z0-9_-]{43}$/);
  assertEquals(expires_in, 60);
  const route = await port.get("/api/webui/sessions", { authorization: `Bearer ${token}` });
  assertEquals([route.status, (await route.json()).error.code], [401, "invalid_token"]);

  using socket = new WireSocket(port.gateway.wsUrl, token);
  await socket.next("ready");
  socket.send("may I?");
  assertEquals((await socket.next("error")).code, "insufficient_scope");
  socket.send({ type: "attach", chat_id: "any" });
  await socket.next("attached");
  assertEquals((await port.shake(`/?token=${token}`)).status, 401);

  const alone = await port.shake("/", ["service.token.static-1"]);
  assertEquals([alone.status, alone.said.error.code], [401, "invalid_token"]);
  assertEquals(
    (await port.shake("/", ["service.v1", "service.token.static-1"])).protocol,
    "service.v1",
  );
});

Deno.test("publicWsUrl is what bootstrap says, to the letter, and lets its host and origin in", async () => {
  const publicWsUrl = "wss://Agent.Example:8443/";
  await using port = await open({ publicWsUrl, token: "static-1" });
  const { ws_url } = await bootstrap(port.gateway.wsUrl, "static-1") as unknown as {
    ws_url: string;
  };
  assertEquals(ws_url, publicWsUrl);
  const from = (origin: string) =>
    port.get("/webui/bootstrap", { origin, authorization: "Bearer static-1" });
  assertEquals((await from("https://agent.example:8443")).status, 200);
  for (const origin of ["http://agent.example:8443", "https://agent.example", "null"]) {
    const refused = await from(origin);
    assertEquals([refused.status, (await refused.json()).error.code], [403, "forbidden_origin"]);
  }
});

Deno.test("enabled false opens no port, and the gateway runs without it", async () => {
  await using port = await open({ enabled: false });
  assertEquals(port.gateway.wsUrl, undefined);
});

Deno.test("a section that would let in too many, or that nobody could use, does not start", async () => {
  const proxy = { trustedPeerCidrs: ["10.0.0.1/32"], assertionHeader: "X-Name" };
  for (
    const [websocket, said] of [
      [{ host: "0.0.0.0" }, "channels.websocket.host"],
      [{ allowFrom: "*" }, "channels.websocket.allowFrom"],
      [{ path: "/ws", tokenIssuePath: "/ws/" }, "channels.websocket.tokenIssuePath"],
      [{ sslCertfile: "/etc/cert.pem" }, "channels.websocket.sslKeyfile"],
      [{ trustedProxyAuth: proxy }, "assertionFormat plain"],
      [
        {
          trustedProxyAuth: {
            ...proxy,
            issuer: "https://issuer.example",
            audience: "service",
            jwksUrl: "https://issuer.example/jwks",
          },
        },
        "allowAnyVerifiedIdentity",
      ],
    ] as [object, string][]
  ) {
    await using home = await makeHome({ channels: { websocket } });
    const { code, stderr } = await home.run(["gateway"]);
    assertEquals(code, 3, stderr);
    assertStringIncludes(stderr, said);
  }
});

Deno.test("W3 an unclean start is another epoch, whose clients are shown all; a clean one is the same", async () => {
  await using home = await makeHome({});
  const seen = await (async () => {
    await using gateway = await home.start(["gateway", "--json"]);
    using socket = await WireSocket.open(gateway.wsUrl);
    socket.send({ type: "message", chat_id: "kept", content: "hello" });
    await socket.next("turn_end");
    socket.send({ type: "attach", chat_id: "kept" });
    const attached = await socket.next("attached");
    await gateway.stop();
    assertEquals((await socket.closed).code, 1001);
    return attached;
  })();
  const again = { type: "attach", chat_id: "kept", epoch: seen.epoch } as const;
  {
    await using gateway = await home.start(["gateway", "--json"]);
    using socket = await WireSocket.open(gateway.wsUrl);
    socket.send({ ...again, after_seq: seen.last_seq });
    assertEquals(await socket.next("attached"), seen);
    await gateway.kill();
  }
  await using gateway = await home.start(["gateway", "--json"]);
  using socket = await WireSocket.open(gateway.wsUrl);
  // Beyond the newest event too: of another epoch, the number says nothing.
  socket.send({ ...again, after_seq: seen.last_seq + 100 });
  const { epoch, last_seq } = await socket.next("attached");
  assert(epoch !== seen.epoch);
  assertEquals(last_seq, seen.last_seq);
  const end = await socket.next("turn_end");
  assertEquals(end.seq, last_seq);
  const first = socket.frames.find((frame) => "seq" in frame)!;
  assertEquals("seq" in first && (first.seq_from ?? first.seq), 1);
});

Deno.test("W12 a reload ends no turn and no connection: the turn that runs goes on, the next one has the new model", async () => {
  const release = Promise.withResolvers<void>();
  await using fake = startModelServer({
    script: async ({ index }) => {
      if (index === 0) await release.promise;
      return { text: ["answer", String(index)] };
    },
  });
  const config = (model: string, websocket: object = {}) => ({
    agent: { model: `local/${model}` },
    providers: { local: { baseUrl: fake.baseUrl } },
    channels: { websocket },
  });
  await using home = await makeHome(config("first"));
  await using gateway = await home.start(["gateway", "--json"]);
  using socket = await WireSocket.open(gateway.wsUrl);
  socket.send("begin");
  await fake.request(0);
  // Of the section itself nothing is live: the port stays as it was, and so do those on it.
  await home.configure(config("second", { streaming: false, pingIntervalS: 5 }));
  const { model_name } = await socket.next("runtime_model_updated");
  assertEquals(model_name, "local/second");
  release.resolve();
  assertEquals((await socket.next("turn_end")).status, "done");
  assertEquals(transcript(socket.frames, socket.chatId).texts, ["answer0"]);

  const from = socket.frames.length;
  socket.send("and now?");
  assertEquals((await socket.next("turn_end", undefined, from)).status, "done");
  assertEquals(fake.requests.map(({ body }) => body.model), ["first", "second"]);
});
