import { assert, assertEquals, assertMatch } from "@std/assert";
import { SignJWT } from "jose";
import {
  AUDIENCE,
  encodePart,
  ISSUER,
  makeSigner,
  NOW_S,
  sign,
} from "../../../trusted_proxy/testing/issuer.ts";
import { answerKeys, JwksServer } from "../../../trusted_proxy/testing/jwks_server.ts";
import { openAdmissionPort } from "./testing/admission_port.ts";

const RSA = await makeSigner("RS256", "rsa");
const EC = await makeSigner("ES256", "ec");
const ED = await makeSigner("EdDSA", "ed");
const PSS = await makeSigner("PS256", "pss");
const KEYS = { keys: [RSA, EC, ED, PSS].map(({ jwk }) => jwk) };

/** A block of the configuration for the tests' issuer, whose proxy is on this machine. */
const block = (keys: Record<string, unknown> = {}) => ({
  trustedPeerCidrs: ["127.0.0.0/8"],
  assertionHeader: "X-Assertion",
  issuer: ISSUER,
  audience: AUDIENCE,
  jwks: KEYS,
  allowedIdentities: ["ann@example.org"],
  ...keys,
});

const open = (keys: Record<string, unknown> = {}) =>
  openAdmissionPort({ token: "the-static-one", trustedProxyAuth: block(keys) });

for (const signer of [RSA, EC, ED, PSS]) {
  Deno.test(`a person with an assertion of ${signer.alg} needs no token for a socket, nor for a route`, async () => {
    await using port = await open();
    const assertion = { "X-Assertion": await sign(signer) };
    const { status, peer } = await port.handshake("/?client_id=tab-1", assertion);
    assertEquals([status, peer?.actor, peer?.clientId], [101, "webui:ann@example.org", "tab-1"]);
    assertMatch(peer!.workspaceKey!, /^[0-9a-f]{64}$/);
    assertEquals("scopes" in peer!, false);
    const caller = JSON.parse((await port.request("GET", "/api/webui/whoami", assertion)).body);
    assertEquals(caller.actor, "webui:ann@example.org");
    assertEquals([caller.kind, caller.workspaceKey], ["identity", peer!.workspaceKey]);
    assertEquals("scopes" in caller, false);
  });
}

Deno.test("a token without the claim of the workspace shares the default one", async () => {
  await using port = await open();
  const assertion = { "X-Assertion": await sign(RSA, { sub: undefined }) };
  const { peer } = await port.handshake("/", assertion);
  assertEquals([peer?.actor, peer?.workspaceKey], ["webui:ann@example.org", undefined]);
});

/** What must let nobody in. */
const attacks: [name: string, make: () => Promise<string> | string][] = [
  ["alg none", () => `${encodePart({ alg: "none", kid: "rsa" })}.${encodePart(claims())}.`],
  ["alg none with a signature", async () => {
    const [, body, signature] = (await sign(RSA)).split(".");
    return `${encodePart({ alg: "none", kid: "rsa" })}.${body}.${signature}`;
  }],
  [
    "HS256 with the public key as its secret",
    () =>
      new SignJWT(claims()).setProtectedHeader({ alg: "HS256", kid: "rsa" })
        .sign(new TextEncoder().encode(JSON.stringify(RSA.jwk))),
  ],
  ["another issuer", () => sign(RSA, { iss: "https://eve.example" })],
  ["another audience", () => sign(RSA, { aud: "other" })],
  ["an audience among others", () => sign(RSA, { aud: [AUDIENCE, "other"] })],
  ["an expired one", () => sign(RSA, { exp: NOW_S - 61 })],
  ["one without exp", () => sign(RSA, { exp: undefined })],
  ["one of later", () => sign(RSA, { nbf: NOW_S + 120 })],
  ["an unknown kid", () => sign(RSA, {}, { kid: "other" })],
  ["no kid", () => sign(RSA, {}, { kid: undefined })],
  ["a key of another kind under a known kid", () => sign({ ...EC, kid: "rsa" })],
  ["another key under a known kid", async () => sign(await makeSigner("RS256", "rsa"))],
  ["a key of its own in its header", async () => {
    const own = await makeSigner("RS256", "own");
    return await sign(own, {}, { jwk: own.jwk, jku: "http://10.0.0.9/keys" });
  }],
  ["crit", () => sign(RSA, {}, { crit: ["b64"], b64: true })],
  ["exp as text", () => sign(RSA, { exp: `${NOW_S + 300}` as never })],
  ["an identity of a list", () => sign(RSA, { email: ["ann@example.org"] })],
  ["an identity that is a number", () => sign(RSA, { email: 7 })],
  ["a workspace that is an object", () => sign(RSA, { sub: { a: 1 } as never })],
  ["somebody who is not allowed", () => sign(RSA, { email: "eve@example.org" })],
  ["another case of somebody", () => sign(RSA, { email: "Ann@example.org" })],
  ["a cut signature", async () => (await sign(RSA)).slice(0, -4)],
  ["no token at all", () => "ann@example.org"],
  ["nothing", () => ""],
];

function claims() {
  return { iss: ISSUER, aud: AUDIENCE, sub: "u-1", email: "ann@example.org", exp: NOW_S + 300 };
}

Deno.test("an assertion that is an attack opens no socket and no route, and leaves the way of tokens as it was", async () => {
  await using port = await open();
  for (const [name, make] of attacks) {
    const assertion = { "X-Assertion": await make() };
    const refused = await port.handshake("/", assertion);
    assertEquals(
      [refused.status, JSON.parse(refused.body).error.code],
      [401, "invalid_token"],
      name,
    );
    assertEquals((await port.request("GET", "/api/webui/whoami", assertion)).status, 401, name);
    const { status, peer } = await port.handshake("/?token=the-static-one&client_id=a", assertion);
    assertEquals([status, peer?.actor, peer?.workspaceKey], [101, "websocket:a", undefined], name);
    const [token] = [assertion["X-Assertion"]];
    for (const part of token.split(".").filter((each) => each.length > 20)) {
      assertEquals(port.lines.join("\n").includes(part), false, `${name} is logged`);
      assertEquals(refused.body.includes(part), false, name);
    }
  }
  assert(port.lines.some((line) => line.includes("is refused")), "the reasons are logged");
});

Deno.test("an assertion twice, in a list, or beside another is nobody's, in any spelling of the header", async () => {
  await using port = await open();
  const token = await sign(RSA);
  for (
    const headers of [
      { "X-Assertion": [token, token] },
      { "X-Assertion": [token, "eve"] },
      { "X-Assertion": `${token},${token}` },
      { "X-Assertion": token, "x-assertion": token },
      { "X_Assertion": token },
    ] as Record<string, string | string[]>[]
  ) {
    assertEquals(
      (await port.handshake("/", headers)).status,
      401,
      JSON.stringify(headers).slice(0, 40),
    );
    assertEquals((await port.request("GET", "/api/webui/whoami", headers)).status, 401);
  }
  assertEquals((await port.handshake("/", { "x-AsserTion": token })).status, 101);
});

Deno.test("an assertion of a peer that is not listed is worth nothing, whatever headers say of where it is", async () => {
  await using port = await open({ trustedPeerCidrs: ["10.0.0.0/8", "::1/128"] });
  const assertion = await sign(RSA);
  for (const name of ["X-Forwarded-For", "X-Real-IP", "Forwarded", "CF-Connecting-IP"]) {
    const value = name === "Forwarded" ? "for=10.0.0.7" : "10.0.0.7";
    const headers = { "X-Assertion": assertion, [name]: value };
    assertEquals((await port.handshake("/", headers)).status, 401, name);
    assertEquals((await port.request("GET", "/api/webui/whoami", headers)).status, 401, name);
  }
});

Deno.test("an assertion too long for a header opens nothing, and the port goes on", async () => {
  await using port = await open();
  const huge = { "X-Assertion": await sign(RSA, {}, { pad: "x".repeat(20_000) }) };
  const { status } = await port.handshake("/", huge);
  assert([400, 431].includes(status), String(status));
  assertEquals(port.peers, []);
  assertEquals((await port.handshake("/", { "X-Assertion": await sign(RSA) })).status, 101);
});

Deno.test("a proxy's word is held against Host, Origin and allowFrom like a token", async () => {
  await using port = await openAdmissionPort({ trustedProxyAuth: block(), allowFrom: ["tab-1"] });
  const assertion = { "X-Assertion": await sign(RSA) };
  assertEquals((await port.handshake("/?client_id=tab-1", assertion)).status, 101);
  assertEquals((await port.handshake("/?client_id=tab-2", assertion)).status, 403);
  assertEquals((await port.handshake("/", assertion)).status, 403);
  const evil = { ...assertion, Origin: "https://evil.example" };
  assertEquals((await port.handshake("/?client_id=tab-1", evil)).status, 403);
});

Deno.test("the workspace is the person's whichever key signs, and another's for another", async () => {
  await using port = await open({ allowedIdentities: [], allowAnyVerifiedIdentity: true });
  const keyOf = async (signer: typeof RSA, more = {}) =>
    (await port.handshake("/", { "X-Assertion": await sign(signer, more) })).peer?.workspaceKey;
  const ann = await keyOf(RSA);
  assertEquals(await keyOf(EC), ann);
  assert(ann !== await keyOf(RSA, { sub: "u-2" }));
});

/** A port whose keys come from a server. */
async function remote(keys: JwksServer) {
  return await openAdmissionPort({
    token: "the-static-one",
    trustedProxyAuth: block({ jwks: null, jwksUrl: keys.url }),
  }, { network: keys.network });
}

Deno.test("keys of a URL are fetched by the first handshake that needs them, and once by many", async () => {
  await using keys = await new JwksServer(answerKeys(KEYS.keys)).listen();
  await using port = await remote(keys);
  const assertion = { "X-Assertion": await sign(RSA) };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => port.handshake("/", assertion)),
  );
  assertEquals(answers.map(({ status }) => status), Array(8).fill(101));
  assertEquals(keys.requests.length, 1);
  // Unknown names of keys do not make it ask again and again.
  for (let at = 0; at < 5; at++) {
    const unknown = { "X-Assertion": await sign(RSA, {}, { kid: `other-${at}` }) };
    assertEquals((await port.handshake("/", unknown)).status, 401);
  }
  assertEquals(keys.requests.length, 1);
});

const servers: [name: string, make: () => JwksServer, reason: RegExp][] = [
  [
    "redirects",
    () =>
      new JwksServer((_request, response) => {
        response.writeHead(302, { location: "http://169.254.169.254/" });
        response.end();
      }),
    /redirect/,
  ],
  [
    "is huge",
    () =>
      new JwksServer((_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ ...KEYS, pad: "x".repeat(300_000) }));
      }),
    /more than 262144 bytes/,
  ],
  ["says what is no set of keys", () => new JwksServer(answerKeys("x" as never)), /no set of keys/],
  [
    "gives keys that are secrets",
    () => new JwksServer(answerKeys([{ kty: "oct", kid: "rsa", k: "c2VjcmV0" }])),
    /no signing key|no set of keys/,
  ],
  ...["127.0.0.1", "169.254.169.254", "::1", "fe80::1", "::ffff:127.0.0.1", "0.0.0.0"].map(
    (address): [string, () => JwksServer, RegExp] => [
      `is at ${address}`,
      () => {
        const server = new JwksServer(answerKeys(KEYS.keys));
        server.addresses = ["10.0.0.9", address];
        return server;
      },
      /keys\.example/,
    ],
  ),
];

for (const [name, make, reason] of servers) {
  Deno.test(`a server of keys that ${name} lets nobody in, and a static token still does`, async () => {
    await using keys = await make().listen();
    await using port = await remote(keys);
    const assertion = { "X-Assertion": await sign(RSA) };
    assertEquals((await port.handshake("/", assertion)).status, 401);
    assertMatch(port.lines.join("\n"), reason);
    assertEquals((await port.handshake("/?token=the-static-one", assertion)).status, 101);
    if (name.startsWith("is at")) assertEquals(keys.requests.length, 0);
  });
}

Deno.test("a server of keys that hangs holds a handshake up for 5 s and no longer, and nobody else", async () => {
  await using keys = await new JwksServer(() => {}).listen();
  await using port = await remote(keys);
  const asked = Promise.withResolvers<void>();
  keys.onRequest = asked.resolve;
  const held = port.handshake("/", { "X-Assertion": await sign(RSA) });
  await asked.promise;
  assertEquals((await port.handshake("/?token=the-static-one")).status, 101);
  port.clock.advance(5_000);
  assertEquals((await held).status, 401);
});
