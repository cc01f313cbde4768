import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { examine } from "../settings/examine.ts";
import { formatProblem } from "./problem.ts";
import { tempHome } from "./testing/temp_home.ts";

const AT = "channels.websocket.";
const PROXY = {
  trustedPeerCidrs: ["10.0.0.0/8"],
  assertionHeader: "X-Assertion",
  issuer: "https://issuer.example",
  audience: "service",
  jwksUrl: "https://issuer.example/jwks",
  allowedIdentities: ["ann@example.org"],
};

/** What is said of a section, without its path and the lines. */
async function said(websocket: Record<string, unknown>, rest: Record<string, unknown> = {}) {
  await using home = await tempHome();
  const text = JSON.stringify({ ...rest, channels: { websocket } });
  const { problems, warnings } = examine({ ...home, text });
  const plain = (each: Parameters<typeof formatProblem>[0]) =>
    formatProblem({ ...each, line: undefined }).replace(AT, "");
  return { problems: problems.map(plain), warnings: warnings.map(plain) };
}

for (
  const [name, keys] of [
    ["nothing", {}],
    ["a host beyond loopback with a token", { host: "0.0.0.0", token: "t" }],
    ["one with a secret", { host: "::", tokenIssueSecret: "s" }],
    ["one with a proxy", { host: "192.168.1.2", trustedProxyAuth: PROXY }],
    ["a Unix socket, wherever host says", { host: "0.0.0.0", socketPath: "/run/a.sock" }],
    ["a path with slashes at its end", { path: "/a/b//" }],
    ["a path for tokens", { path: "/ws", tokenIssuePath: "/token", token: "t" }],
    ["one that only begins like a reserved one", { tokenIssuePath: "/apis/x", token: "t" }],
    ["a public address", { path: "/ws/", publicWsUrl: "wss://agent.example:8443/ws" }],
    ["one of the root", { publicWsUrl: "wss://agent.example" }],
    ["TLS", { sslCertfile: "/etc/a.pem", sslKeyfile: "/etc/b.pem" }],
    ["TLS with relative paths", { sslCertfile: "a.pem", sslKeyfile: "./tls/b.pem" }],
    ["a token of every character that can be sent", { token: "!~+/=\"'aZ9" }],
    ["nobody at all in allowFrom", { allowFrom: [] }],
  ] as [string, Record<string, unknown>][]
) {
  Deno.test(`websocketProblems() takes ${name}`, async () => {
    assertEquals(await said(keys), { problems: [], warnings: [] });
  });
}

for (
  const [keys, field, words] of [
    [{ host: "0.0.0.0" }, "host", "token, tokenIssueSecret or trustedProxyAuth has to be set"],
    [{ host: "::" }, "host", "can be reached from other machines"],
    [{ host: "agent.example" }, "host", "can be reached from other machines"],
    [{ host: "0.0.0.0", websocketRequiresToken: false }, "host", "can be reached"],
    [{ host: "[::1]" }, "host", "without brackets"],
    [{ path: "" }, "path", "does not begin with /"],
    [{ path: "ws" }, "path", "does not begin with /"],
    [{ path: "/ws?x=1" }, "path", "query"],
    [{ path: "/ws#x" }, "path", "fragment"],
    [{ path: "/a b" }, "path", "no plain path"],
    [{ path: "/a/../b" }, "path", "no plain path"],
    [{ path: "/a//b" }, "path", "no plain path"],
    [{ path: "/%61" }, "path", "no plain path"],
    [{ path: "/:id" }, "path", "no plain path"],
    [{ path: "/ws", tokenIssuePath: "/ws" }, "tokenIssuePath", "is path too"],
    [{ path: "/ws/", tokenIssuePath: "/ws" }, "tokenIssuePath", "is path too"],
    [{ path: "/ws", tokenIssuePath: "/ws//" }, "tokenIssuePath", "is path too"],
    [{ tokenIssuePath: "/" }, "tokenIssuePath", "is path too"],
    [{ path: "/ws", tokenIssuePath: "/" }, "tokenIssuePath", "service's own"],
    [{ tokenIssuePath: "token" }, "tokenIssuePath", "does not begin with /"],
    [{ tokenIssuePath: "/token?a" }, "tokenIssuePath", "query"],
    [{ tokenIssuePath: "/token/:a" }, "tokenIssuePath", "no plain path"],
    [{ tokenIssuePath: "/*" }, "tokenIssuePath", "no plain path"],
    [{ tokenIssuePath: "/token/" }, "tokenIssuePath", 'ends with a slash; write "/token"'],
    ...["/api", "/api/x", "/webui", "/webui/bootstrap", "/media/", "/health", "/ready"].map(
      (tokenIssuePath) => [{ tokenIssuePath }, "tokenIssuePath", "service's own"] as const,
    ),
    [{ publicWsUrl: "https://agent.example" }, "publicWsUrl", "no ws:// or wss:// address"],
    [{ publicWsUrl: "agent.example" }, "publicWsUrl", "no ws:// or wss:// address"],
    [{ publicWsUrl: "wss://" }, "publicWsUrl", "no ws:// or wss:// address"],
    [{ publicWsUrl: "wss://a:hunter2@agent.example" }, "publicWsUrl", "name or password"],
    [{ publicWsUrl: "wss://agent.example/?token=hunter2" }, "publicWsUrl", "query"],
    [{ publicWsUrl: "wss://agent.example/ws" }, "publicWsUrl", 'expected that of path, "/"'],
    [{ path: "/ws", publicWsUrl: "wss://agent.example/" }, "publicWsUrl", 'path is "/"'],
    [{ sslCertfile: "/etc/a.pem" }, "sslKeyfile", "TLS needs both"],
    [{ sslKeyfile: "/etc/a.pem" }, "sslCertfile", "TLS needs both"],
    [{ sslCertfile: "-----BEGIN\nA", sslKeyfile: "/etc/b.pem" }, "sslCertfile", "no path"],
    [{ token: "two words" }, "token", "no client could send"],
    [{ tokenIssueSecret: "schlüssel" }, "tokenIssueSecret", "no client could send"],
    [{ token: "a\nb" }, "token", "no client could send"],
    [{ socketPath: "run/a.sock" }, "socketPath", "no absolute path"],
    [{ socketPath: `/${"a".repeat(100)}` }, "socketPath", "it has 101 bytes"],
    [{ allowFrom: "*" }, "allowFrom", "list"],
    [{ tokenTtlS: 29 }, "tokenTtlS", "30"],
    [{ tokenTtlS: 86_401 }, "tokenTtlS", "86400"],
    [{ maxMessageBytes: 1_023 }, "maxMessageBytes", "1024"],
    [{ pingIntervalS: 4.9 }, "pingIntervalS", "5"],
    [{ pingTimeoutS: 301 }, "pingTimeoutS", "300"],
  ] as [Record<string, unknown>, string, string][]
) {
  Deno.test(`websocketProblems() refuses ${JSON.stringify(keys).slice(0, 60)}, naming ${field}`, async () => {
    const { problems } = await said(keys);
    assertEquals(problems.length, 1, problems.join("\n"));
    assert(problems[0]!.startsWith(`${field}: `), problems[0]);
    assertStringIncludes(problems[0]!, words);
    assertEquals(problems[0]!.includes("hunter2"), false, "it shows a secret");
  });
}

Deno.test("examine() takes relative TLS files from the folder of the configuration, whatever the current one is", async () => {
  await using home = await tempHome();
  const folder = home.paths.configFile.replace(/\/[^/]*$/, "");
  const { userHome } = home.paths;
  for (
    const [written, path] of [
      ["cert.pem", `${folder}/cert.pem`],
      ["./tls/../cert.pem", `${folder}/cert.pem`],
      ["../cert.pem", `${folder.replace(/\/[^/]*$/, "")}/cert.pem`],
      ["~/cert.pem", `${userHome}/cert.pem`],
      ["/etc/cert.pem", "/etc/cert.pem"],
    ]
  ) {
    const text = JSON.stringify({
      channels: { websocket: { sslCertfile: written, sslKeyfile: written } },
    });
    const { config, canonical } = examine({ ...home, text });
    const { sslCertfile, sslKeyfile } = config!.channels.websocket;
    assertEquals([sslCertfile, sslKeyfile], [path, path], written);
    // A save keeps what was written.
    assertEquals(canonical, JSON.parse(text));
  }
});

Deno.test("websocketProblems() wants a port of its own beside the API's, where both are served", async () => {
  const port = 8_900;
  const { problems } = await said({ port }, { api: { enabled: true } });
  assertEquals(problems, ["port: 8900 is api.port too; each needs one of its own"]);
  for (const host of ["localhost", "0.0.0.0"]) {
    const { problems } = await said({ port, host, token: "t" }, { api: { enabled: true } });
    assertEquals(problems.length, 1, host);
  }
  assertEquals((await said({ port })).problems, []);
  assertEquals((await said({ port, enabled: false }, { api: { enabled: true } })).problems, []);
  assertEquals((await said({ port, host: "127.0.0.2" }, { api: { enabled: true } })).problems, []);
  const free = { api: { enabled: true, port: 0 } };
  assertEquals((await said({ port: 0 }, free)).problems, []);
});

Deno.test("websocketWarnings() name hosts and origins that match nothing", async () => {
  const { problems, warnings } = await said({
    allowedOrigins: [
      "https://app.example",
      "HTTP://app.example:8080/",
      "tauri://localhost",
      "*",
      "null",
      "app.example",
      "https://app.example:443",
      "https://app.example/app",
      "https://*.example",
      "https://bücher.example",
    ],
    allowedHosts: [
      "agent.example",
      "Agent.example:8443",
      "https://agent.example",
      "*.example",
      "agent.example.",
      "",
      "[::1]",
    ],
  });
  assertEquals(problems, []);
  assertEquals(warnings.map((each) => each.split(":")[0]), [
    ...[3, 4, 5, 6, 7, 8, 9].map((index) => `allowedOrigins[${index}]`),
    ...[2, 3, 4, 5].map((index) => `allowedHosts[${index}]`),
  ]);
});

Deno.test("websocketWarnings() name what lets in whoever asks", async () => {
  const { problems, warnings } = await said({
    websocketRequiresToken: false,
    tokenIssuePath: "/token",
  });
  assertEquals(problems, []);
  assertEquals(warnings.map((each) => each.split(":")[0]), [
    "websocketRequiresToken",
    "tokenIssuePath",
  ]);
  assertEquals(
    (await said({ websocketRequiresToken: false, token: "t", tokenIssuePath: "/token" })).warnings,
    [],
  );
  const socket = await said({ socketPath: "/run/a.sock", trustedProxyAuth: PROXY });
  assertStringIncludes(socket.warnings.join(), "admits nobody on a Unix socket");
});

Deno.test("a problem shows no secret", async () => {
  for (const key of ["token", "tokenIssueSecret"]) {
    const { problems } = await said({ [key]: "hunter2 hunter2" });
    assertEquals(problems.join().includes("hunter2"), false);
  }
});
