import { assertEquals, assertMatch } from "@std/assert";
import { openAdmissionPort, type RawAnswer } from "./admission/testing/admission_port.ts";

const PATH = "/webui/bootstrap";
const parse = ({ body }: RawAnswer) => JSON.parse(body);

const PROXY = {
  trustedPeerCidrs: ["127.0.0.0/8"],
  assertionHeader: "X-Assertion",
  assertionFormat: "plain",
  allowedIdentities: ["ann@example.org"],
};

Deno.test("GET /webui/bootstrap gives a local browser all that it begins with, and its tokens work", async () => {
  await using port = await openAdmissionPort({
    path: "/ws/",
    tokenTtlS: 60,
    maxMessageBytes: 4_096,
  });
  const answer = await port.request("GET", PATH);
  assertEquals([answer.status, answer.headers["cache-control"]], [200, "no-store"]);
  const { token, api_token, ...rest } = parse(answer);
  assertMatch(token, /^swt_[A-Za-z0-9_-]{43}$/);
  assertMatch(api_token, /^sat_[A-Za-z0-9_-]{43}$/);
  assertEquals(rest, {
    expires_in: 60,
    scopes: ["operate"],
    session_prefix: "websocket:",
    ws_path: "/ws",
    ws_url: `ws://127.0.0.1:${port.port}/ws`,
    model_name: "local/qwen3",
    transcribes: false,
    limits: {
      max_frame_bytes: 4_096,
      max_text_bytes: 1_048_576,
      attachments: { max_count: 4, max_file_bytes: 8_388_608, max_total_bytes: 25_165_824 },
    },
  });
  assertEquals((await port.handshake(`/ws?token=${token}`)).peer?.scopes, ["operate"]);
  const caller = { Authorization: `Bearer ${api_token}` };
  assertEquals(parse(await port.request("GET", "/api/webui/whoami", caller)), {
    actor: "websocket:token",
    scopes: ["operate"],
    kind: "token",
  });
  // Neither works in the other's place.
  const { token: other, api_token: otherApi } = parse(await port.request("GET", PATH));
  assertEquals((await port.handshake(`/ws?token=${otherApi}`)).status, 401);
  const wrong = { Authorization: `Bearer ${other}` };
  assertEquals((await port.request("GET", "/api/webui/whoami", wrong)).status, 401);
  port.clock.advance(60_000);
  assertEquals((await port.request("GET", "/api/webui/whoami", caller)).status, 401);
  assertEquals((await port.handshake(`/ws?token=${other}`)).status, 401);
});

Deno.test("GET /webui/bootstrap says wss where TLS is spoken, the Host that was asked, and publicWsUrl over both", async () => {
  await using tls = await openAdmissionPort({ sslCertfile: "/a.pem", sslKeyfile: "/b.pem" });
  const host = { Host: "LOCALHOST:9999" };
  assertEquals(parse(await tls.request("GET", PATH, host)).ws_url, "wss://localhost:9999/");
  await using shown = await openAdmissionPort({
    path: "/ws",
    publicWsUrl: "wss://agent.example/ws",
  });
  assertEquals(parse(await shown.request("GET", PATH)).ws_url, "wss://agent.example/ws");
});

Deno.test("GET /webui/bootstrap wants the secret in force on localhost too, as Bearer or X-Service-Auth", async () => {
  for (
    const [keys, secret] of [
      [{ tokenIssueSecret: "the-secret", token: "the-token" }, "the-secret"],
      [{ token: "the-token" }, "the-token"],
    ] as const
  ) {
    await using port = await openAdmissionPort(keys);
    const status = async (headers: Record<string, string>) =>
      (await port.request("GET", PATH, headers)).status;
    assertEquals(await status({}), 401);
    assertEquals(await status({ Authorization: `bearer ${secret}` }), 200);
    assertEquals(await status({ "X-Service-Auth": secret }), 200);
    // A proxy's own Authorization beside it.
    assertEquals(await status({ "X-Service-Auth": secret, Authorization: "Bearer x" }), 200);
    for (const wrong of ["the-token2", "THE-SECRET", "schlüssel", "", "lasting_all"]) {
      assertEquals(await status({ "X-Service-Auth": wrong }), 401, wrong);
    }
    if (secret === "the-secret") assertEquals(await status({ "X-Service-Auth": "the-token" }), 401);
    assertEquals(await status({ Authorization: `Basic ${secret}` }), 401);
    // It opens the way from elsewhere too.
    assertEquals(await status({ "X-Service-Auth": secret, "X-Forwarded-For": "203.0.113.9" }), 200);
  }
});

Deno.test("without a secret GET /webui/bootstrap knows a local browser from everybody else", async () => {
  await using port = await openAdmissionPort({
    allowedHosts: ["agent.example"],
    allowedOrigins: ["https://app.example"],
  });
  const at = `127.0.0.1:${port.port}`;
  const rows: [number, Record<string, string | string[]>][] = [
    [200, {}],
    [200, { Origin: `http://${at}`, "Sec-Fetch-Site": "same-origin" }],
    [200, { "Sec-Fetch-Site": "none" }],
    [200, { Host: "localhost:5173" }],
    [200, { Host: "app.localhost" }],
    [200, { Host: "[::1]:80" }],
    [200, { "X-Forwarded-For": "127.0.0.1" }],
    [200, { "X-Forwarded-For": "::1, 127.0.0.1:80", "X-Forwarded-Proto": "http" }],
    [200, { "X-Forwarded-For": "::ffff:127.0.0.1", "X-Forwarded-Host": "localhost:5173" }],
    [200, { Forwarded: 'for="[::1]:80";proto=http, for=127.0.0.1' }],
    [403, { Host: "agent.example" }],
    [403, { Host: "192.0.2.1" }],
    [403, { Origin: "https://app.example" }],
    [403, { Origin: `http://localhost:${port.port}` }],
    [403, { "Sec-Fetch-Site": "same-site" }],
    [403, { "X-Forwarded-For": "203.0.113.9" }],
    [403, { "X-Forwarded-For": "127.0.0.1, 203.0.113.9" }],
    [403, { "X-Forwarded-For": ["127.0.0.1", "203.0.113.9"] }],
    [403, { "X-Forwarded-For": "127.0.0.1.evil.example" }],
    [403, { "X-Forwarded-For": "" }],
    [403, { "X-Forwarded-For": "unknown" }],
    [403, { "X-Real-IP": "203.0.113.9" }],
    [403, { "CF-Connecting-IP": "203.0.113.9" }],
    [403, { "True-Client-IP": "203.0.113.9" }],
    [403, { "X-Original-Forwarded-For": "203.0.113.9" }],
    [403, { "Forwarded-For": "203.0.113.9" }],
    [403, { "X-Cluster-Client-IP": "203.0.113.9" }],
    [403, { "X-Azure-ClientIP": "203.0.113.9" }],
    [403, { "X-Forwarded-For": "127.0.0.1", "Fly-Client-IP": "203.0.113.9" }],
    [403, { "X-Forwarded-For": "127.0.0.1", "CF-Connecting-IPv6": "2001:db8::1" }],
    [403, { "X-Envoy-External-Address": "203.0.113.9" }],
    [403, { "X-Forwarded-Client-Cert": "Hash=00" }],
    [403, { "X-Forwarded": "for=203.0.113.9" }],
    [403, { "CDN-Loop": "example" }],
    [403, { "CF-Ray": "00" }],
    [403, { "Tailscale-User-Login": "ann@example.org" }],
    [403, { "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "agent.example" }],
    [403, { "X-Forwarded-Host": "localhost" }],
    [403, { "X-Forwarded-Proto": "https" }],
    [403, { Via: "1.1 proxy" }],
    [403, { Forwarded: "for=203.0.113.9" }],
    [403, { Forwarded: "for=127.0.0.1, for=203.0.113.9" }],
    [403, { Forwarded: 'for="127.0.0.1,evil"' }],
    [403, { Forwarded: "for=_hidden" }],
    [403, { Forwarded: "proto=https" }],
    [403, { Forwarded: "nonsense" }],
  ];
  for (const [status, headers] of rows) {
    const answer = await port.request("GET", PATH, headers);
    assertEquals(answer.status, status, JSON.stringify(headers));
    assertEquals(answer.body.includes("sat_"), status === 200);
  }
});

Deno.test("GET /webui/bootstrap tells a token's scopes, and opens a socket as far as they reach", async () => {
  await using port = await openAdmissionPort({ tokenIssueSecret: "the-secret" });
  const ask = async (token: string) =>
    await port.request("GET", PATH, { Authorization: `Bearer ${token}` });
  const reader = parse(await ask("lasting_reader"));
  assertEquals([reader.scopes, "api_token" in reader], [["read"], false]);
  assertEquals((await port.handshake(`/?token=${reader.token}`)).peer?.scopes, ["read"]);
  const approver = parse(await ask("lasting_approver"));
  assertEquals([approver.scopes, "token" in approver], [["approve"], false]);
  assertEquals((await ask("lasting_nobody")).status, 401);
});

Deno.test("behind a trusted proxy GET /webui/bootstrap gives a person no token, and the way to sign out", async () => {
  await using port = await openAdmissionPort({
    trustedProxyAuth: { ...PROXY, signOutPath: "/oauth2/sign_out" },
    token: "the-token",
  });
  const ann = { "X-Assertion": "ann@example.org" };
  const answer = parse(await port.request("GET", PATH, ann));
  assertEquals(Object.keys(answer), [
    ...["session_prefix", "ws_path", "ws_url", "model_name", "transcribes", "limits", "approvers"],
    "sign_out_path",
  ]);
  assertEquals(answer.session_prefix, "websocket:");
  assertEquals(answer.sign_out_path, "/oauth2/sign_out");
  const secret = { ...ann, Authorization: "Bearer the-token" };
  assertEquals("token" in parse(await port.request("GET", PATH, secret)), false);
  assertEquals((await port.request("GET", PATH, { "X-Assertion": "eve" })).status, 401);
  await using plain = await openAdmissionPort({ trustedProxyAuth: PROXY, token: "t" });
  assertEquals("sign_out_path" in parse(await plain.request("GET", PATH, ann)), false);
});

Deno.test("GET /webui/bootstrap tells a person who may answer approvals, where that is somebody else", async () => {
  const approvers = ["webui:ann@example.org", "telegram:1"];
  const allowedIdentities = ["ann@example.org", "bob@example.org"];
  await using port = await openAdmissionPort(
    { trustedProxyAuth: { ...PROXY, allowedIdentities } },
    { approvers },
  );
  const of = async (name: string) =>
    parse(await port.request("GET", PATH, { "X-Assertion": name })).approvers;
  assertEquals(await of("ann@example.org"), undefined);
  assertEquals(await of("bob@example.org"), approvers);
  // A token's scopes say it all.
  await using open = await openAdmissionPort({}, { approvers });
  assertEquals(parse(await open.request("GET", PATH)).approvers, undefined);
});

Deno.test("the proxy's own address is no local browser, also where it asserts nobody", async () => {
  await using port = await openAdmissionPort({ trustedProxyAuth: PROXY });
  assertEquals((await port.request("GET", PATH)).status, 403);
  assertEquals((await port.request("GET", PATH, { "X-Assertion": "eve" })).status, 403);
  await using elsewhere = await openAdmissionPort({
    trustedProxyAuth: { ...PROXY, trustedPeerCidrs: ["10.0.0.0/8"] },
  });
  assertEquals((await elsewhere.request("GET", PATH)).status, 200);
});
