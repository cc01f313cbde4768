import { assertEquals, assertStringIncludes } from "@std/assert";
import { exportJWK, generateKeyPair } from "jose";
import { examine } from "../settings/examine.ts";
import { loadConfig } from "../settings/load.ts";
import { formatProblem } from "../config/problem.ts";
import { tempHome } from "../config/testing/temp_home.ts";

const AT = "channels.websocket.trustedProxyAuth";
const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
const KEY = { ...await exportJWK(publicKey), kid: "a" };
const PRIVATE = { ...await exportJWK(privateKey), kid: "a" };

const JWT = {
  trustedPeerCidrs: ["10.0.0.0/8"],
  assertionHeader: "X-Assertion",
  issuer: "https://issuer.example",
  audience: "service",
  jwks: { keys: [KEY] },
  allowedIdentities: ["ann@example.org"],
};

/** What is said of a block, without the path of the block and the lines. */
async function said(block: Record<string, unknown>) {
  await using home = await tempHome();
  const text = JSON.stringify({ channels: { websocket: { trustedProxyAuth: block } } });
  const { problems, warnings } = examine({ ...home, text });
  const plain = (each: Parameters<typeof formatProblem>[0]) =>
    formatProblem({ ...each, line: undefined }).replace(`${AT}.`, "");
  return { problems: problems.map(plain), warnings: warnings.map(plain) };
}

/** What is wrong with a block that is right but for some keys. */
const problems = async (keys: Record<string, unknown>) =>
  (await said({ ...JWT, ...keys })).problems;

for (
  const [name, keys] of [
    ["inline keys and allowed identities", {}],
    ["a URL of keys", { jwks: null, jwksUrl: "https://issuer.example/jwks" }],
    ["a URL of a private network", { jwks: null, jwksUrl: "http://192.168.1.4:8080/jwks" }],
    ["required claims alone", { allowedIdentities: [], requiredClaims: { team: "a" } }],
    ["every verified identity", { allowedIdentities: [], allowAnyVerifiedIdentity: true }],
    ["a path to sign out", { signOutPath: "/oauth2/sign_out?rd=%2F" }],
    ["networks of both kinds", {
      trustedPeerCidrs: ["127.0.0.1/32", "::1", "::ffff:10.0.0.0/104"],
    }],
  ] as [string, Record<string, unknown>][]
) {
  Deno.test(`trustedProxyProblems() takes ${name}`, async () => {
    assertEquals(await said({ ...JWT, ...keys }), { problems: [], warnings: [] });
  });
}

Deno.test("trustedProxyProblems() wants issuer and audience of a jwt block, each named", async () => {
  assertEquals(await problems({ issuer: "" }), [
    "issuer: is missing; tokens have to be of one issuer (iss)",
  ]);
  assertEquals(await problems({ audience: "" }), [
    "audience: is missing; tokens have to be for one audience (aud)",
  ]);
});

Deno.test("trustedProxyProblems() wants exactly one of jwks and jwksUrl", async () => {
  assertEquals(await problems({ jwks: null }), [
    "jwksUrl: neither jwksUrl nor jwks is set; expected exactly one of them",
  ]);
  assertEquals(await problems({ jwksUrl: "https://issuer.example/jwks" }), [
    "jwksUrl: both jwksUrl and jwks are set; expected exactly one of them",
  ]);
});

Deno.test("trustedProxyProblems() refuses a jwt block that names nobody", async () => {
  assertEquals(await problems({ allowedIdentities: [], requiredClaims: {} }), [
    "allowedIdentities: nobody is named: set allowedIdentities or requiredClaims, " +
    "or allowAnyVerifiedIdentity to true",
  ]);
});

Deno.test("trustedProxyProblems() refuses a block of an earlier version, and says how to keep it", async () => {
  const two = { trustedPeerCidrs: ["10.0.0.0/8"], assertionHeader: "X-Assertion" };
  const { problems } = await said(two);
  assertEquals(problems.map((each) => each.split(":")[0]), [
    "assertionFormat",
    "issuer",
    "audience",
    "jwksUrl",
    "allowedIdentities",
  ]);
  assertStringIncludes(problems[0]!, "keeps its meaning with assertionFormat plain");
  const snake = { trusted_peer_cidrs: ["10.0.0.0/8"], assertion_header: "X-Assertion" };
  assertEquals((await said(snake)).problems, problems);
});

Deno.test("trustedProxyProblems() takes plain, and trustedProxyWarnings() warns of it", async () => {
  const two = { trustedPeerCidrs: ["10.0.0.0/8"], assertionHeader: "X-User" };
  const plain = await said({ ...two, assertionFormat: "plain" });
  assertEquals(plain.problems, []);
  assertEquals(plain.warnings, [
    "assertionFormat: plain believes an unsigned header: " +
    "whoever can connect from trustedPeerCidrs can be anybody",
  ]);
  const more = await said({ ...JWT, assertionFormat: "plain" });
  assertEquals(more.problems, []);
  assertEquals(more.warnings.map((each) => each.split(":")[0]).toSorted(), [
    "assertionFormat",
    "audience",
    "issuer",
    "jwks",
  ]);
  const claims = await said({ ...two, assertionFormat: "plain", requiredClaims: { a: 1 } });
  assertEquals(claims.problems, [
    "requiredClaims: cannot be checked with assertionFormat plain, which has no claims",
  ]);
});

Deno.test("trustedProxyWarnings() tells of an allowAnyVerifiedIdentity that changes nothing", async () => {
  const { problems, warnings } = await said({ ...JWT, allowAnyVerifiedIdentity: true });
  assertEquals(problems, []);
  assertEquals(warnings, [
    "allowAnyVerifiedIdentity: changes nothing beside allowedIdentities or requiredClaims, " +
    "which still have to be met",
  ]);
});

for (
  const cidr of [
    "0.0.0.0/0",
    "1.2.3.4/0",
    "::/0",
    "0:0:0:0:0:0:0:0/0",
    "2001:db8::1/0",
    "::ffff:0.0.0.0/96",
    "::ffff:10.0.0.0/96",
    "::ffff:0:0/95",
    "::/1",
    "0.0.0.0/00",
    "0.0.0.0/-0",
    "0/0",
    "*",
    "any",
    "",
    " 10.0.0.0/8",
    "10.0.0.0/8 ",
    "10.0.0.0/33",
    "fd00::/129",
    "010.0.0.0/8",
    "0x0a.0.0.0/8",
    "::ffff:010.0.0.0/104",
    "::ffff:10.0/112",
    "::ffff:1.10.0.0.0/104",
    "10.0/16",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/255.0.0.0",
    "proxy.example",
    "fe80::1%eth0/64",
    "[::1]",
  ]
) {
  Deno.test(`trustedProxyProblems() refuses the network ${JSON.stringify(cidr)}`, async () => {
    const found = await problems({ trustedPeerCidrs: ["127.0.0.1", cidr] });
    assertEquals(found.length, 1);
    assertStringIncludes(found[0]!, `trustedPeerCidrs[1]: ${JSON.stringify(cidr)} is `);
  });
}

Deno.test("trustedProxyProblems() refuses networks that hold everybody together", async () => {
  assertEquals(await problems({ trustedPeerCidrs: ["0.0.0.0/1", "192.0.0.0/2", "128.0.0.0/2"] }), [
    "trustedPeerCidrs: holds every address of IPv4, so it would trust everybody",
  ]);
  assertEquals(await problems({ trustedPeerCidrs: ["::/1", "8000::/1"] }), [
    'trustedPeerCidrs[0]: "::/1" is every address of IPv4 or IPv6, so it would trust everybody',
  ]);
  assertEquals(await problems({ trustedPeerCidrs: [] }), [
    "trustedPeerCidrs: a list is not a list of texts that is not empty",
  ]);
});

for (
  const name of [
    "Host",
    "host",
    "HOST",
    "Forwarded",
    "fOrWaRdEd",
    "X-Forwarded-For",
    "x-forwarded-host",
    "X-FORWARDED-EMAIL",
    "X-Forwarded-",
    "X_Forwarded_For",
    "X-Real-IP",
    "x-real-ip",
    "CF-Connecting-IP",
    "cf-connecting-ip",
    "Sec-WebSocket-Protocol",
    "Cookie",
    "X-Assertion ",
    "X Assertion",
    "X-Assertion:",
    "X-Assertion\r\nHost",
    "X-Ässertion",
  ]
) {
  Deno.test(`trustedProxyProblems() refuses the header ${JSON.stringify(name)}`, async () => {
    const found = await problems({ assertionHeader: name });
    assertEquals(found.length, 1);
    assertStringIncludes(found[0]!, "assertionHeader: ");
  });
}

for (const name of ["Cf-Access-Jwt-Assertion", "x-goog-iap-jwt-assertion", "Remote-User"]) {
  Deno.test(`trustedProxyProblems() takes the header ${name}`, async () => {
    assertEquals(await problems({ assertionHeader: name }), []);
  });
}

for (
  const path of [
    "//evil.example",
    "\\\\evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "http://evil.example/",
    "https:evil.example",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/\n/evil.example",
    "/.//evil.example",
    "/a/..//evil.example",
    "sign-out",
    "?sign-out",
    " /sign-out",
    "/sign out",
    "/ö",
    `/${"a".repeat(2_048)}`,
  ]
) {
  Deno.test(`trustedProxyProblems() refuses to sign out at ${JSON.stringify(path.slice(0, 30))}`, async () => {
    const found = await problems({ signOutPath: path });
    assertEquals(found.length, 1);
    assertStringIncludes(found[0]!, "signOutPath: ");
    assertStringIncludes(found[0]!, "is no path on this origin");
  });
}

for (
  const url of [
    "http://127.0.0.1/jwks",
    "http://127.1/jwks",
    "http://2130706433/jwks",
    "http://localhost/jwks",
    "http://a.localhost./jwks",
    "http://[::1]/jwks",
    "http://[::ffff:127.0.0.1]/jwks",
    "http://[::ffff:169.254.169.254]/jwks",
    "http://[64:ff9b::7f00:1]/jwks",
    "http://169.254.169.254/latest/meta-data",
    "http://169.254.1.1/jwks",
    "http://[fe80::1]/jwks",
    "http://[fd00:ec2::254]/jwks",
    "https://168.63.129.16/jwks",
    "http://100.100.100.200/jwks",
    "http://0.0.0.0/jwks",
    "http://[::]/jwks",
    "https://255.255.255.255/jwks",
    "http://8.8.8.8/jwks",
    "https://user:word@issuer.example/jwks",
    "file:///etc/jwks",
    "issuer.example/jwks",
  ]
) {
  Deno.test(`trustedProxyProblems() refuses keys from ${url}`, async () => {
    const found = await problems({ jwks: null, jwksUrl: url });
    assertEquals(found.length, 1);
    assertStringIncludes(found[0]!, "jwksUrl: ");
    assertEquals(found[0]!.includes("user:word"), false);
  });
}

Deno.test("trustedProxyProblems() wants public signing keys with a kid, and repeats none", async () => {
  const rsa = { kty: "RSA", kid: "r", e: "AQAB" };
  const cases: [unknown, string][] = [
    [{ keys: [] }, "jwks: is no set of keys"],
    [KEY, "jwks: is no set of keys"],
    [{ keys: [PRIVATE] }, "jwks.keys[0]: holds a secret"],
    [{ keys: [{ kty: "oct", k: "c2VjcmV0", kid: "a" }] }, "jwks.keys[0]: holds a secret"],
    [{ keys: [{ ...KEY, kid: undefined }] }, "jwks.keys[0]: has no kid"],
    [{ keys: [KEY, { ...KEY, alg: "EdDSA" }] }, "jwks.keys[1]: has the kid of a key before it"],
    [{ keys: ["x"] }, "jwks.keys[0]: is no key"],
    [{ keys: [{ ...KEY, alg: "HS256" }] }, "jwks.keys[0]: can check no RS256"],
    [{ keys: [{ ...KEY, use: "enc" }] }, "jwks.keys[0]: can check no RS256"],
    [{ keys: [{ ...KEY, key_ops: ["sign"] }] }, "jwks.keys[0]: can check no RS256"],
    [{ keys: [{ ...KEY, crv: "X25519" }] }, "jwks.keys[0]: can check no RS256"],
    [{ keys: [{ ...rsa, n: "A".repeat(171) }] }, "jwks.keys[0]: can check no RS256"],
    [{ keys: [{ ...rsa, n: "z".repeat(171) }] }, "jwks.keys[0]: can check no RS256"],
    [{ keys: [{ ...rsa, n: "z".repeat(20_000) }] }, "jwks.keys[0]: can check no RS256"],
  ];
  for (const [jwks, wanted] of cases) {
    const found = await problems({ jwks });
    assertEquals(found.length, 1, JSON.stringify(jwks).slice(0, 200));
    assertStringIncludes(found[0]!, wanted);
    for (const part of [String(PRIVATE.d), "c2VjcmV0", String(KEY.x)]) {
      assertEquals(found[0]!.includes(part), false);
    }
  }
});

Deno.test("trustedProxyProblems() refuses identities that nobody can have", async () => {
  assertEquals(
    (await problems({ allowedIdentities: ["ann", "", " bob", "a\nb", "a\u200bb"] }))
      .map((each) => each.split(":")[0]),
    [1, 2, 3, 4].map((at) => `allowedIdentities[${at}]`),
  );
});

Deno.test("loadConfig() leaves names of claims and members of keys as they are written", async () => {
  await using home = await tempHome();
  const keys = [{ ...KEY, key_ops: ["verify"] }];
  await home.write({
    channels: {
      websocket: {
        trusted_proxy_auth: { ...JWT, jwks: { keys }, required_claims: { email_verified: true } },
      },
    },
  });
  const { config } = await loadConfig(home);
  const block = config.channels.websocket.trustedProxyAuth;
  assertEquals(block?.requiredClaims, { email_verified: true });
  assertEquals(block?.jwks, { keys });
});

Deno.test("loadConfig() refuses a block that trusts everybody, and names the field", async () => {
  await using home = await tempHome();
  await home.write({
    channels: { websocket: { trustedProxyAuth: { ...JWT, trustedPeerCidrs: ["::/0"] } } },
  });
  const error = await loadConfig(home).then(() => undefined, (error) => error);
  assertEquals(error?.code, "config_invalid");
  assertStringIncludes(error.message, `${AT}.trustedPeerCidrs[0]`);
});
