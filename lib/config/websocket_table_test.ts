/**
 * The tables of docs/websocket.md and docs/settings.md: each default of `channels.websocket`, and both
 * ends of each
 * range.
 */

import { assert, assertEquals } from "@std/assert";
import { examine } from "../settings/examine.ts";
import { formatProblem } from "./problem.ts";
import { tempHome } from "./testing/temp_home.ts";

async function load(websocket: Record<string, unknown>) {
  await using home = await tempHome();
  const { config, problems } = examine({
    ...home,
    text: JSON.stringify({ channels: { websocket } }),
  });
  return { config: config?.channels, problems: problems.map(formatProblem) };
}

Deno.test("channels.websocket has the defaults of docs/websocket.md", async () => {
  const { config, problems } = await load({});
  assertEquals(problems, []);
  const { showReasoning, ...section } = config!.websocket;
  const documented = {
    enabled: true,
    host: "127.0.0.1",
    port: 8765,
    path: "/",
    publicWsUrl: "",
    maxMessageBytes: 37_748_736,
    token: "",
    websocketRequiresToken: true,
    tokenIssuePath: "",
    tokenIssueSecret: "",
    tokenTtlS: 300,
    trustedProxyAuth: null,
    allowFrom: ["*"],
    streaming: true,
    pingIntervalS: 20,
    pingTimeoutS: 20,
    sslCertfile: "",
    sslKeyfile: "",
  };
  const known = Object.keys(documented) as (keyof typeof documented)[];
  assertEquals(Object.fromEntries(known.map((key) => [key, section[key]])), documented);
  // Unset, the flag of all channels decides, and that is true.
  assertEquals(showReasoning ?? config!.showReasoning, true);
});

Deno.test("channels.websocket.trustedProxyAuth has the defaults of docs/websocket.md", async () => {
  const given = {
    trustedPeerCidrs: ["10.0.0.0/8"],
    assertionHeader: "X-Assertion",
    issuer: "https://issuer.example",
    audience: "service",
    jwksUrl: "https://issuer.example/jwks",
    allowedIdentities: ["ann@example.org"],
  };
  const { config, problems } = await load({ trustedProxyAuth: given });
  assertEquals(problems, []);
  assertEquals(config!.websocket.trustedProxyAuth, {
    ...given,
    assertionFormat: "jwt",
    jwks: null,
    identityClaim: "email",
    workspaceKeyClaim: "sub",
    signOutPath: "",
    requiredClaims: {},
    allowAnyVerifiedIdentity: false,
  });
});

for (
  const [key, least, most, step] of [
    ["maxMessageBytes", 1_024, 41_943_040, 1],
    ["tokenTtlS", 30, 86_400, 1],
    ["pingIntervalS", 5, 300, 0.001],
    ["pingTimeoutS", 5, 300, 0.001],
  ] as const
) {
  Deno.test(`channels.websocket.${key} is ${least} to ${most}, both included`, async () => {
    for (const value of [least, most]) {
      assertEquals((await load({ [key]: value })).problems, [], String(value));
    }
    for (const value of [least - step, most + step, -1, String(least), null, true]) {
      const { problems } = await load({ [key]: value });
      assertEquals(problems.length, 1, `${value}: ${problems}`);
      assert(problems[0]!.includes(`channels.websocket.${key}`), problems[0]);
    }
  });
}

Deno.test("channels.websocket takes fractions of a second for pings, and whole seconds for tokens", async () => {
  assertEquals((await load({ pingIntervalS: 7.5, pingTimeoutS: 12.25 })).problems, []);
  assertEquals((await load({ tokenTtlS: 30.5 })).problems.length, 1);
});

Deno.test("channels.websocket is read in snake_case too", async () => {
  const { config, problems } = await load({
    websocket_requires_token: false,
    token_ttl_s: 60,
    max_message_bytes: 2_048,
    allow_from: ["alice"],
    ping_interval_s: 5,
    token_issue_path: "/token",
    trusted_proxy_auth: {
      trusted_peer_cidrs: ["10.0.0.0/8"],
      assertion_header: "X-Name",
      assertion_format: "plain",
    },
  });
  assertEquals(problems, []);
  const { websocket } = config!;
  assertEquals([websocket.tokenTtlS, websocket.maxMessageBytes, websocket.pingIntervalS], [
    60,
    2_048,
    5,
  ]);
  assertEquals([websocket.websocketRequiresToken, websocket.allowFrom], [false, ["alice"]]);
  assertEquals(websocket.tokenIssuePath, "/token");
  assertEquals(websocket.trustedProxyAuth?.assertionFormat, "plain");
});
