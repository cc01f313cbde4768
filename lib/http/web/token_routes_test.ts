import { assert, assertEquals, assertMatch } from "@std/assert";
import { once } from "node:events";
// @ts-types="@types/ws"
import { WebSocket } from "ws";
import { RECHECK_MS } from "./admission/revoked_tokens.ts";
import { openAdmissionPort, type RawAnswer } from "./admission/testing/admission_port.ts";

const parse = ({ body }: RawAnswer) => JSON.parse(body);

const SECRET = { Authorization: "Bearer the-secret" };

/** One with a path for tokens and a secret. */
const issuing = (keys: Record<string, unknown> = {}) =>
  openAdmissionPort({ tokenIssuePath: "/token", tokenIssueSecret: "the-secret", ...keys });

Deno.test("GET tokenIssuePath issues tokens for one socket, with all scopes or those asked for", async () => {
  await using port = await issuing({ tokenTtlS: 45 });
  const answer = await port.request("GET", "/token", SECRET);
  assertEquals([answer.status, answer.headers["cache-control"]], [200, "no-store"]);
  const { token, ...rest } = parse(answer);
  assertEquals(rest, { expires_in: 45 });
  assertEquals((await port.handshake(`/?token=${token}`)).peer?.scopes, ["operate"]);
  const narrow = parse(await port.request("GET", "/token?scopes=chat,read&kind=socket", SECRET));
  assertEquals((await port.handshake(`/?token=${narrow.token}`)).peer?.scopes, ["read", "chat"]);
});

Deno.test("GET tokenIssuePath?kind=api issues tokens for routes, which hold for tokenTtlS", async () => {
  await using port = await issuing();
  const { token, expires_in } = parse(
    await port.request("GET", "/token?kind=api&scopes=read", { "X-Service-Auth": "the-secret" }),
  );
  assertMatch(token, /^sat_/);
  assertEquals(expires_in, 300);
  const caller = { Authorization: `Bearer ${token}` };
  for (let at = 0; at < 3; at++) {
    const answer = await port.request("GET", "/api/webui/whoami", caller);
    assertEquals([answer.status, parse(answer).scopes], [200, ["read"]]);
  }
  assertEquals((await port.handshake(`/?token=${token}`)).status, 401);
  const { token: approver } = parse(
    await port.request("GET", "/token?kind=api&scopes=approve", SECRET),
  );
  const narrow = { Authorization: `Bearer ${approver}` };
  assertEquals((await port.request("GET", "/api/webui/whoami", narrow)).status, 403);
  port.clock.advance(300_000);
  assertEquals((await port.request("GET", "/api/webui/whoami", caller)).status, 401);
});

Deno.test("GET tokenIssuePath refuses scopes and kinds that are none, naming the field", async () => {
  await using port = await issuing();
  for (
    const [query, param] of [
      ["scopes=", "scopes"],
      ["scopes=,", "scopes"],
      ["scopes=Read", "scopes"],
      ["scopes=read,write", "scopes"],
      ["scopes=read&scopes=operate", "scopes"],
      ["kind=", "kind"],
      ["kind=Socket", "kind"],
      ["kind=rest", "kind"],
      ["kind=api&kind=socket", "kind"],
    ]
  ) {
    const answer = await port.request("GET", `/token?${query}`, SECRET);
    assertEquals([answer.status, parse(answer).error.param], [400, param], query);
  }
  // Who may not ask is told nothing about how to.
  assertEquals((await port.request("GET", "/token?scopes=write")).status, 401);
  assertEquals(
    (await port.request("POST", "/token", { ...SECRET, "Content-Length": "0" })).status,
    405,
  );
});

Deno.test("the secret in force is tokenIssueSecret, else the static token, else none", async () => {
  await using fallback = await openAdmissionPort({ tokenIssuePath: "/token", token: "the-token" });
  assertEquals((await fallback.request("GET", "/token")).status, 401);
  const right = { Authorization: "Bearer the-token" };
  assertEquals((await fallback.request("GET", "/token", right)).status, 200);
  await using both = await issuing({ token: "the-token" });
  assertEquals((await both.request("GET", "/token", right)).status, 401);
  await using open = await openAdmissionPort({
    tokenIssuePath: "/token",
    allowedHosts: ["agent.example"],
  });
  const elsewhere = { Host: "agent.example" };
  assertEquals((await open.request("GET", "/token", elsewhere)).status, 200);
  // One that could approve actions is for this machine.
  assertEquals((await open.request("GET", "/token?kind=api", elsewhere)).status, 403);
  assertEquals((await open.request("GET", "/token?kind=api")).status, 200);
  await using none = await openAdmissionPort({ token: "the-token" });
  assertEquals((await none.request("GET", "/token", right)).status, 404);
});

Deno.test("10,000 tokens of a kind may be outstanding; then 429 until one is used or expires", async () => {
  await using port = await issuing();
  const { socketTokens } = port.admission;
  const first = parse(await port.request("GET", "/token", SECRET)).token;
  for (let at = 1; at < 10_000; at++) socketTokens.issue(["read"]);
  port.clock.advance(1_000);
  const full = await port.request("GET", "/token", SECRET);
  assertEquals([full.status, parse(full).error.code], [429, "too_many_tokens"]);
  assertEquals(full.headers["retry-after"], "299");
  assertEquals((await port.request("GET", "/webui/bootstrap", SECRET)).status, 429);
  assertEquals(
    (await port.request("GET", "/token?kind=api", SECRET)).status,
    200,
    "the other kind",
  );
  assertEquals((await port.handshake(`/?token=${first}`)).status, 101);
  assertEquals((await port.request("GET", "/token", SECRET)).status, 200);
  assertEquals((await port.request("GET", "/token", SECRET)).status, 429);
  port.clock.advance(299_000);
  assertEquals((await port.request("GET", "/token", SECRET)).status, 200);
});

Deno.test("POST /api/webui/socket-token exchanges a lasting token for a socket with its scopes", async () => {
  await using port = await issuing();
  const post = (token: string) =>
    port.request("POST", "/api/webui/socket-token", {
      Authorization: `Bearer ${token}`,
      "Content-Length": "0",
    });
  for (
    const [name, scopes] of [
      ["lasting_all", ["operate"]],
      ["lasting_reader", ["read"]],
      ["lasting_chatter", ["chat"]],
    ] as const
  ) {
    const answer = await post(name);
    assertEquals([answer.status, answer.headers["cache-control"]], [200, "no-store"]);
    const { token, expires_in } = parse(answer);
    assertEquals(expires_in, 300);
    assertEquals((await port.handshake(`/?token=${token}`)).peer?.scopes, scopes);
  }
  assertEquals((await post("lasting_approver")).status, 403);
  assertEquals((await post("nobody")).status, 401);
  const { token } = parse(await post("lasting_all"));
  assertEquals((await post(token)).status, 401, "a socket token makes no other");
});

Deno.test("a token for a socket opens none once the token that it was exchanged for is revoked", async () => {
  await using port = await issuing();
  const exchange = async (token: string) =>
    parse(
      await port.request("POST", "/api/webui/socket-token", {
        Authorization: `Bearer ${token}`,
        "Content-Length": "0",
      }),
    );
  const before = await exchange("lasting_all");
  assertEquals((await port.handshake(`/?token=${before.token}`)).status, 101);
  const kept = await exchange("lasting_reader");
  const gone = await exchange("lasting_all");
  delete port.lasting.lasting_all;
  const refused = await port.handshake(`/?token=${gone.token}`);
  assertEquals([refused.status, parse(refused).error.code], [401, "invalid_token"]);
  assertEquals((await port.handshake(`/?token=${kept.token}`)).status, 101);
});

Deno.test("an open socket is closed with 1008 soon after the token was revoked that it stands on", async () => {
  await using port = await issuing();
  const open = async (token: string) => {
    const exchanged = parse(
      await port.request("POST", "/api/webui/socket-token", {
        Authorization: `Bearer ${token}`,
        "Content-Length": "0",
      }),
    );
    const socket = new WebSocket(`ws://127.0.0.1:${port.port}/?token=${exchanged.token}`);
    const closed = once(socket, "close");
    await once(socket, "open");
    return { socket, closed };
  };
  const revoked = await open("lasting_all");
  const kept = await open("lasting_reader");
  delete port.lasting.lasting_all;
  port.clock.advance(RECHECK_MS);
  const [code, reason] = await revoked.closed;
  assertEquals([code, String(reason)], [1008, "The token was revoked"]);
  assertEquals(kept.socket.readyState, WebSocket.OPEN);
  kept.socket.terminate();
  await kept.closed;
});

Deno.test("a token for a socket ends with the token that it was exchanged for, and says so", async () => {
  await using port = await issuing();
  const { token } = parse(await port.request("GET", "/token?kind=api", SECRET));
  const exchange = async () =>
    parse(
      await port.request("POST", "/api/webui/socket-token", {
        Authorization: `Bearer ${token}`,
        "Content-Length": "0",
      }),
    );
  port.clock.advance(290_000);
  const late = await exchange();
  assertEquals(late.expires_in, 10);
  assertEquals((await port.handshake(`/?token=${(await exchange()).token}`)).status, 101);
  port.clock.advance(10_000);
  assertEquals((await port.handshake(`/?token=${late.token}`)).status, 401);
});

Deno.test("POST /api/webui/socket-token has none for whoever comes through the proxy", async () => {
  await using port = await openAdmissionPort({
    trustedProxyAuth: {
      trustedPeerCidrs: ["127.0.0.1/32"],
      assertionHeader: "X-Assertion",
      assertionFormat: "plain",
    },
  });
  const answer = await port.request("POST", "/api/webui/socket-token", {
    "X-Assertion": "ann",
    "Content-Length": "0",
  });
  assertEquals(answer.status, 400);
  assert(!answer.body.includes("swt_"));
  // A Bearer of the proxy's own is no obstacle.
  const whoami = await port.request("GET", "/api/webui/whoami", {
    "X-Assertion": "ann",
    Authorization: "Bearer eyJhbGciOiJub25lIn0",
  });
  assertEquals(parse(whoami), { actor: "webui:ann", kind: "identity" });
});
