import { assertEquals, assertMatch, assertNotEquals, assertThrows } from "@std/assert";
import { CompactSign, generateSecret, SignJWT } from "jose";
import { ServiceError } from "../base/errors.ts";
import { createTrustedProxy } from "./create_trusted_proxy.ts";
import { encodePart, makeSigner, NOW_S, sign } from "./testing/issuer.ts";
import { block, jwtBlock, PEER, proxyWorld } from "./testing/proxy_world.ts";
import type { AssertionAlgorithm } from "./signing_key.ts";

const RSA = await makeSigner("RS256", "rsa");
const PSS = await makeSigner("PS256", "pss");
const EC = await makeSigner("ES256", "ec");
const ED = await makeSigner("EdDSA", "ed");
const SIGNERS = [RSA, PSS, EC, ED];
const KEYS = { keys: SIGNERS.map(({ jwk }) => jwk) };
const inline = (keys: Record<string, unknown> = {}) => jwtBlock({ jwks: KEYS, ...keys });

for (const signer of SIGNERS) {
  Deno.test(`authenticate() admits a person by a token of ${signer.alg}`, async () => {
    const { ask, logged } = proxyWorld(inline());
    const identity = await ask(await sign(signer));
    assertEquals(identity?.actor, "webui:ann@example.org");
    assertEquals(identity?.identity, "ann@example.org");
    assertMatch(identity!.workspaceKey!, /^[0-9a-f]{64}$/);
    assertEquals("signOutPath" in identity!, false);
    assertEquals(logged, []);
  });
}

/** Tokens that must not hold, and what is said of each. */
const attacks: [name: string, token: () => Promise<string> | string, reason: RegExp][] = [
  [
    "no signature (alg none)",
    () => `${encodePart({ alg: "none", kid: "rsa" })}.${encodePart({ email: "eve" })}.`,
    /no signed token/,
  ],
  [
    "alg none with a signature",
    async () => {
      const [, claims, signature] = (await sign(RSA)).split(".");
      return `${encodePart({ alg: "none", kid: "rsa" })}.${claims}.${signature}`;
    },
    /^its algorithm is none of RS256, PS256, ES256, EdDSA$/,
  ],
  ...["None", "NONE", "nOnE", "HS384", "ES384", "RS1", "RS512", "Ed25519", "", 7, null, ["RS256"]]
    .map((alg): [string, () => Promise<string>, RegExp] => [
      `alg ${JSON.stringify(alg)}`,
      async () => {
        const [, claims, signature] = (await sign(RSA)).split(".");
        return `${encodePart({ alg, kid: "rsa" })}.${claims}.${signature}`;
      },
      /^its algorithm is none of RS256, PS256, ES256, EdDSA$/,
    ]),
  [
    "HS256 with the public key as the secret",
    () => {
      const secret = new TextEncoder().encode(JSON.stringify(RSA.jwk));
      return new SignJWT({ email: "eve" }).setProtectedHeader({ alg: "HS256", kid: "rsa" })
        .sign(secret);
    },
    /^its algorithm is none of RS256, PS256, ES256, EdDSA$/,
  ],
  [
    "HS256 with a secret of its own",
    async () =>
      new SignJWT({ email: "eve" }).setProtectedHeader({ alg: "HS256", kid: "rsa" })
        .sign(await generateSecret("HS256")),
    /^its algorithm is none of RS256, PS256, ES256, EdDSA$/,
  ],
  [
    "another key under a known kid",
    async () => sign({ ...await makeSigner("RS256", "rsa"), kid: "rsa" }),
    /signature/,
  ],
  [
    "a key of another kind under a known kid",
    () => sign({ ...EC, kid: "rsa" }),
    /not for that algorithm/,
  ],
  [
    "an algorithm that the key is not for (PS256 by a key of RS256)",
    async () => sign({ ...await makeSigner("PS256", "rsa"), kid: "rsa" }),
    /not for that algorithm/,
  ],
  ["an unknown kid", () => sign(RSA, {}, { kid: "other" }), /no signing key/],
  ["no kid", () => sign(RSA, {}, { kid: undefined }), /names no key/],
  ["an empty kid", () => sign(RSA, {}, { kid: "" }), /names no key/],
  ["a kid that is no text", () => sign(RSA, {}, { kid: 5 }), /names no key/],
  ["a kid of an object's own", () => sign(RSA, {}, { kid: "__proto__" }), /no signing key/],
  ["a kid that is huge", () => sign(RSA, {}, { kid: "k".repeat(300) }), /names no key/],
  [
    "a key of its own in the header",
    async () => {
      const own = await makeSigner("RS256", "own");
      return sign(own, {}, { jwk: own.jwk, jku: "http://10.0.0.9/keys", kid: "own" });
    },
    /no signing key/,
  ],
  [
    "crit",
    async () => {
      const [, claims, signature] = (await sign(RSA)).split(".");
      const header = { alg: "RS256", kid: "rsa", crit: ["exp"], exp: 1 };
      return `${encodePart(header)}.${claims}.${signature}`;
    },
    /crit/,
  ],
  [
    "crit that a library knows",
    () => sign(RSA, {}, { crit: ["b64"], b64: true }),
    /crit/,
  ],
  ["an issuer more", () => sign(RSA, { iss: "https://issuer.example/" }), /iss is not/],
  ["another issuer", () => sign(RSA, { iss: "https://eve.example" }), /iss is not/],
  ["a list of issuers", () => sign(RSA, { iss: ["https://issuer.example"] as never }), /iss/],
  ["no issuer", () => sign(RSA, { iss: undefined }), /lacks iss/],
  ["another audience", () => sign(RSA, { aud: "Service" }), /aud is not/],
  ["an audience among others", () => sign(RSA, { aud: ["service", "other"] }), /aud is not/],
  ["an empty list of audiences", () => sign(RSA, { aud: [] }), /aud is not/],
  ["no audience", () => sign(RSA, { aud: undefined }), /lacks aud/],
  ["an object as audience", () => sign(RSA, { aud: { service: 1 } as never }), /aud is not/],
  ["an expired token", () => sign(RSA, { exp: NOW_S - 60 }), /expired/],
  ["no exp", () => sign(RSA, { exp: undefined }), /lacks exp/],
  ["exp as text", () => sign(RSA, { exp: `${NOW_S + 300}` as never }), /exp has a wrong form/],
  ["exp null", () => sign(RSA, { exp: null as never }), /exp has a wrong form/],
  ["a token of later", () => sign(RSA, { nbf: NOW_S + 61 }), /not valid yet/],
  ["nbf as text", () => sign(RSA, { nbf: "0" as never }), /nbf has a wrong form/],
  ["no identity", () => sign(RSA, { email: undefined }), /lacks the claim/],
  ["an identity of a list", () => sign(RSA, { email: ["ann@example.org"] }), /no name/],
  ["an identity that is a number", () => sign(RSA, { email: 7 }), /no name/],
  ["an empty identity", () => sign(RSA, { email: "" }), /no name/],
  ["an identity with a line end", () => sign(RSA, { email: "ann\nadmin" }), /no name/],
  ["an identity turned around", () => sign(RSA, { email: "\u202eann" }), /no name/],
  ["an identity with a blank behind it", () => sign(RSA, { email: "ann " }), /no name/],
  ["a huge identity", () => sign(RSA, { email: "a".repeat(257) }), /no name/],
  ["a workspace of a wrong type", () => sign(RSA, { sub: 7 as never }), /workspaceKeyClaim/],
  ["an empty workspace", () => sign(RSA, { sub: "" }), /workspaceKeyClaim/],
  ["a workspace null", () => sign(RSA, { sub: null as never }), /workspaceKeyClaim/],
  ["a token in padding", async () => `${await sign(RSA)}=`, /no signed token/],
  ["a token behind a scheme", async () => `Bearer ${await sign(RSA)}`, /no signed token/],
  ["five parts", async () => `${await sign(RSA)}.a.b`, /no signed token/],
  ["no token at all", () => "x", /no signed token/],
  ["a header that is no JSON", () => "YWJj.YWJj.YWJj", /no signed token/],
  ["a header that is a list", () => `${encodePart([])}.YWJj.YWJj`, /no signed token/],
  ["a huge token", () => sign(RSA, { pad: "x".repeat(20_000) }), /longer than 16384/],
  ["a huge header", () => sign(RSA, {}, { pad: "x".repeat(20_000) }), /longer than 16384/],
  [
    "claims that were changed",
    async () => {
      const [header, , signature] = (await sign(RSA)).split(".");
      const claims = { iss: "https://issuer.example", aud: "service", exp: NOW_S + 9 };
      return `${header}.${encodePart({ ...claims, email: "eve@example.org" })}.${signature}`;
    },
    /signature/,
  ],
  [
    "a signature that was cut",
    async () => (await sign(RSA)).slice(0, -8),
    /signature/,
  ],
];

for (const [name, make, reason] of attacks) {
  Deno.test(`authenticate() refuses ${name}, and logs nothing of the token`, async () => {
    const { ask, logged } = proxyWorld(inline());
    const token = await make();
    assertEquals(await ask(token), undefined);
    assertEquals(logged.length, 1);
    assertMatch(String(logged[0]!.fields.reason), reason);
    const said = JSON.stringify(logged);
    for (const part of token.split(".").filter((each) => each.length > 8)) {
      assertEquals(said.includes(part), false, said);
    }
    assertEquals(said.includes("eve"), false);
  });
}

Deno.test("authenticate() refuses a time that never comes, whoever signed it", async () => {
  const { ask, reason } = proxyWorld(inline());
  const text = `{"iss":"https://issuer.example","aud":"service","email":"ann","exp":1e999}`;
  const token = await new CompactSign(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: "RS256", kid: "rsa" }).sign(RSA.privateKey);
  assertEquals(await ask(token), undefined);
  assertEquals(reason(), "the claim exp is no time");
});

Deno.test("authenticate() forgives clocks 60 s and no more", async () => {
  const { ask, wall } = proxyWorld(inline());
  const token = await sign(RSA, { nbf: NOW_S, exp: NOW_S + 10 });
  const at = async (s: number) => {
    wall.skewS = s;
    return await ask(token) !== undefined;
  };
  assertEquals(await at(-61), false);
  assertEquals(await at(-60), true);
  assertEquals(await at(69), true);
  assertEquals(await at(70), false);
});

Deno.test("authenticate() takes an audience that stands alone in a list", async () => {
  const { ask } = proxyWorld(inline());
  assertNotEquals(await ask(await sign(RSA, { aud: ["service"] })), undefined);
});

Deno.test("authenticate() takes the word of listed peers alone, however their address is spelt", async () => {
  const { ask, logged } = proxyWorld(
    inline({ trustedPeerCidrs: ["10.0.0.0/8", "2001:db8::/32"] }),
  );
  const token = await sign(ED);
  for (const peer of ["10.255.0.1", "::ffff:10.0.0.1", "::FFFF:a00:1", "2001:db8::5"]) {
    assertNotEquals(await ask(token, peer), undefined, peer);
  }
  assertEquals(logged, []);
  const others = ["11.0.0.1", "::ffff:11.0.0.1", "::10.0.0.1", "2001:db9::", "", "10.0.0.1 ", "x"];
  for (const peer of others) {
    assertEquals(await ask(token, peer), undefined, peer);
    assertEquals(logged.at(-1)?.fields, { peer, reason: "the peer is not in trustedPeerCidrs" });
  }
  assertEquals(
    await proxyWorld(inline()).proxy.authenticate({
      peerAddress: undefined,
      headerValues: () => [token],
    }),
    undefined,
  );
});

Deno.test("authenticate() reads no header but its own", async () => {
  const { proxy } = proxyWorld(inline());
  const read: string[] = [];
  const headerValues = (name: string) => {
    read.push(name);
    return [];
  };
  assertEquals(await proxy.authenticate({ peerAddress: PEER, headerValues }), undefined);
  assertEquals(read, ["x-assertion"]);
});

Deno.test("authenticate() refuses two headers, a list in one and an empty one", async () => {
  const { ask, reason } = proxyWorld(inline());
  const token = await sign(RSA);
  for (const values of [[token, token], [token, "x"], ["", token], [`${token}, ${token}`]]) {
    assertEquals(await ask(values), undefined);
    assertEquals(reason(), "the header is there more than once, or holds a list");
  }
  for (const value of ["", "  "]) {
    assertEquals(await ask(value), undefined);
    assertEquals(reason(), "the header is empty");
  }
});

Deno.test("authenticate() lets a request without the header go on to the token rules in silence", async () => {
  const { ask, logged } = proxyWorld(inline());
  assertEquals(await ask([], "8.8.8.8"), undefined);
  assertEquals(logged, []);
  assertEquals(await ask([]), undefined);
  assertEquals(logged.map(({ message }) => message), ["A trusted proxy asserts nobody"]);
});

Deno.test("authenticate() admits allowed identities alone, compared exactly", async () => {
  const { ask, reason } = proxyWorld(inline({
    allowedIdentities: ["ann@example.org"],
    allowAnyVerifiedIdentity: false,
  }));
  assertEquals((await ask(await sign(RSA)))?.identity, "ann@example.org");
  for (const email of ["Ann@example.org", "ann@example.orgx", "bob@example.org"]) {
    assertEquals(await ask(await sign(RSA, { email })), undefined);
    assertEquals(reason(), "the person is not among allowedIdentities");
  }
});

Deno.test("authenticate() holds required claims against values and types, each and exactly", async () => {
  const { ask, reason } = proxyWorld(inline({
    requiredClaims: { email_verified: true, groups: ["a", "b"], org: { id: 1, name: "x" } },
    allowAnyVerifiedIdentity: false,
  }));
  const right = { email_verified: true, groups: ["a", "b"], org: { name: "x", id: 1 } };
  assertNotEquals(await ask(await sign(RSA, right)), undefined);
  for (
    const wrong of [
      { email_verified: "true" },
      { email_verified: 1 },
      { groups: ["a", "b", "c"] },
      { groups: ["b", "a"] },
      { groups: "a,b" },
      { org: { id: 1 } },
      { org: undefined },
    ]
  ) {
    assertEquals(await ask(await sign(RSA, { ...right, ...wrong })), undefined);
    assertEquals(reason(), "a claim is not what requiredClaims says");
  }
});

Deno.test("authenticate() takes no claim from what every object has", async () => {
  const { ask } = proxyWorld(inline({ identityClaim: "constructor" }));
  assertEquals(await ask(await sign(RSA)), undefined);
  const required = proxyWorld(inline({ requiredClaims: { toString: null } }));
  assertEquals(await required.ask(await sign(RSA)), undefined);
});

Deno.test("authenticate() files storage under issuer, claim and value", async () => {
  const key = async (claims: Record<string, unknown>, keys: Record<string, unknown> = {}) =>
    (await proxyWorld(inline(keys)).ask(
      await sign(RSA, { ...keys.issuer ? { iss: String(keys.issuer) } : {}, ...claims }),
    ))?.workspaceKey;
  const first = await key({ sub: "a" });
  assertEquals(await key({ sub: "a", email: "other@example.org" }), first);
  const others = [
    await key({ sub: "b" }),
    await key({ sub: "../a" }),
    await key({ sub: "a" }, { issuer: "https://other.example" }),
    await key({ sub: "x", uid: "a" }, { workspaceKeyClaim: "uid" }),
  ];
  assertEquals(new Set([first, ...others]).size, 5);
  assertEquals(await key({ sub: undefined }), undefined);
});

Deno.test("authenticate() admits a token without the claim of the workspace, into the shared one", async () => {
  const { ask } = proxyWorld(inline());
  const identity = await ask(await sign(RSA, { sub: undefined }));
  assertEquals(identity, { actor: "webui:ann@example.org", identity: "ann@example.org" });
});

Deno.test("authenticate() says where to sign out, and takes another claim as the person", async () => {
  const { ask } = proxyWorld(inline({ signOutPath: "/oauth2/sign_out", identityClaim: "sub" }));
  const identity = await ask(await sign(EC));
  assertEquals(identity?.actor, "webui:u-1");
  assertEquals(identity?.signOutPath, "/oauth2/sign_out");
});

Deno.test("authenticate() in the format plain believes a name of a listed peer, and nothing else", async () => {
  const plain = (keys: Record<string, unknown> = {}) =>
    proxyWorld(block({ assertionFormat: "plain", ...keys }));
  const { ask, reason } = plain();
  assertEquals(await ask("ann@example.org"), {
    actor: "webui:ann@example.org",
    identity: "ann@example.org",
  });
  assertEquals(await ask("ann", "11.0.0.1"), undefined);
  for (const value of ["J\u00fcrgen", "a\tb", "a\u0000b", "x".repeat(257)]) {
    assertEquals(await ask(value), undefined);
    assertEquals(reason(), "the assertion is no name of a person in printable ASCII");
  }
  assertEquals(await ask("ann,eve"), undefined);
  const few = plain({ allowedIdentities: ["ann"] });
  assertEquals((await few.ask("ann"))?.actor, "webui:ann");
  assertEquals(await few.ask("Ann"), undefined);
});

Deno.test("authenticate() is not brought down by claims that are nested deep", async () => {
  const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
  const text = `{"iss":"https://issuer.example","aud":"service","email":"ann","exp":${
    NOW_S + 9
  },"d":${deep}}`;
  const token = await new CompactSign(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: "EdDSA", kid: "ed" }).sign(ED.privateKey);
  assertEquals((await proxyWorld(inline()).ask(token))?.identity, "ann");
  const strict = proxyWorld(inline({ requiredClaims: { d: [] } }));
  assertEquals(await strict.ask(token), undefined);
  assertMatch(String(strict.reason()), /requiredClaims|RangeError/);
});

Deno.test("authenticate() admits nobody while the clock says no time", async () => {
  const world = proxyWorld(inline());
  const clock = { ...world.clock, now: () => NaN };
  const logged: unknown[] = [];
  const log = { debug() {}, warning: (_: string, fields?: unknown) => void logged.push(fields) };
  const network = { resolve: () => Promise.reject(), fetchAt: () => Promise.reject() };
  const proxy = createTrustedProxy(inline(), { clock, log, network });
  const token = await sign(RSA);
  assertEquals(
    await proxy.authenticate({ peerAddress: PEER, headerValues: () => [token] }),
    undefined,
  );
  assertEquals(logged, [{ peer: PEER, reason: "it cannot be verified" }]);
});

Deno.test("createTrustedProxy() refuses a block that must not load", () => {
  const { clock } = proxyWorld(inline());
  const deps = {
    clock,
    log: { debug() {}, warning() {} },
    network: { resolve: () => Promise.reject(), fetchAt: () => Promise.reject() },
  };
  const error = assertThrows(
    () => createTrustedProxy(inline({ trustedPeerCidrs: ["0.0.0.0/0"] }), deps),
    ServiceError,
    "channels.websocket.trustedProxyAuth.trustedPeerCidrs[0]",
  );
  assertEquals(error.code, "config_invalid");
});

Deno.test("posture says who is believed and who is admitted", () => {
  const posture = (keys: Record<string, unknown>) => proxyWorld(inline(keys)).proxy.posture;
  assertEquals(
    posture({}),
    "trusted proxy: signed X-Assertion from 10.0.0.0/8, of https://issuer.example, " +
      "admits every verified identity",
  );
  assertEquals(
    posture({ allowedIdentities: ["a"], requiredClaims: { org: 1 } }),
    "trusted proxy: signed X-Assertion from 10.0.0.0/8, of https://issuer.example, " +
      "admits 1 allowed identity with required claims org",
  );
  assertEquals(
    proxyWorld(block({ assertionFormat: "plain" })).proxy.posture,
    "trusted proxy: unsigned X-Assertion from 10.0.0.0/8, believed without a signature, " +
      "admits whoever it names",
  );
});

Deno.test("authenticate() holds PS256 and RS256 apart for a key that names neither", async () => {
  const { alg: _, ...open } = RSA.jwk;
  const { ask } = proxyWorld(jwtBlock({ jwks: { keys: [open] } }));
  assertNotEquals(await ask(await sign(RSA)), undefined);
  const asPss: AssertionAlgorithm = "PS256";
  const [, claims, signature] = (await sign(RSA)).split(".");
  assertEquals(
    await ask(`${encodePart({ alg: asPss, kid: "rsa" })}.${claims}.${signature}`),
    undefined,
  );
});
