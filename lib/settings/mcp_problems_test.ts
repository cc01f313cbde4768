import { assertEquals, assertStringIncludes } from "@std/assert";
import { mcpProblems } from "./mcp_problems.ts";
import { configSchema } from "../config/schema.ts";

const PLACES = {
  workspace: "/home/ann/work",
  paths: {
    home: "/home/ann/.service",
    configFile: "/home/ann/.service/config.json",
    socketDir: "/home/ann/.service/run",
  },
};

/** What is said of one server, as `<key>: <message>`. */
function problems(server: Record<string, unknown>): string[] {
  const { mcp } = configSchema.parse({ mcp: { servers: { one: server } } });
  return mcpProblems(mcp.servers, PLACES).map(({ path, message }) =>
    `${path.join(".")}: ${message}`
  );
}

Deno.test("mcpProblems() finds nothing wrong with a server of either kind", () => {
  assertEquals(
    problems({
      command: ["/opt/tool/bin/server", "--all"],
      read: ["/opt/tool"],
      write: ["/srv/data"],
      env: { API_KEY: "k" },
      cwd: "sub/folder",
    }),
    [],
  );
  assertEquals(
    problems({ url: "https://mcp.example/mcp", headers: { authorization: "Bearer x" } }),
    [],
  );
});

Deno.test("mcpProblems() wants exactly one of command and url", () => {
  assertEquals(problems({}), ["one: has neither command nor url; expected exactly one of them"]);
  assertEquals(problems({ command: ["x"], url: "http://a.example/" }), [
    "one: has both command and url; expected exactly one of them",
  ]);
});

Deno.test("mcpProblems() names the key of what belongs to the other kind", () => {
  const url = "https://mcp.example/";
  const found = problems({
    url,
    env: { A: "b" },
    read: ["/x"],
    write: ["/x"],
    hosts: ["a.example"],
  });
  assertEquals(found.map((text) => text.split(":")[0]), [
    "one.env",
    "one.read",
    "one.write",
    "one.hosts",
  ]);
  assertStringIncludes(problems({ command: ["x"], headers: { a: "b" } })[0]!, "one.headers:");
});

Deno.test("mcpProblems() refuses places that no server is given, and names them", () => {
  const cases: [string, string][] = [
    ["relative", "is no absolute path"],
    ["/home/ann/.service/keys", "the service's own"],
    ["/home/ann", "lie in each other"],
    ["/", "lie in each other"],
    ["/home/ann/work/sub", "the workspace is there anyway"],
    ["/proc/self", "in /proc"],
    ["/usr/../proc", "in /proc"],
  ];
  for (const [path, said] of cases) {
    const [problem, ...more] = problems({ command: ["x"], read: [path] });
    assertStringIncludes(problem!, `one.read.0: "${path}"`);
    assertStringIncludes(problem!, said);
    assertEquals(more, []);
  }
});

Deno.test("mcpProblems() refuses a program from elsewhere, and a folder outside of the workspace", () => {
  assertStringIncludes(
    problems({ command: ["/home/bob/x"] })[0]!,
    'one.command.0: "/home/bob/x" is neither the system\'s nor in the workspace',
  );
  assertEquals(problems({ command: ["/home/ann/work/x"] }), []);
  assertStringIncludes(problems({ command: [" "] })[0]!, "one.command.0: names no program");
  assertStringIncludes(problems({ command: ["x"], cwd: "../other" })[0]!, "one.cwd:");
  assertStringIncludes(problems({ command: ["x"], cwd: "/etc" })[0]!, "one.cwd:");
});

Deno.test("mcpProblems() repeats no value of env or headers", () => {
  const secret = "very-secret-value";
  const found = [
    ...problems({ command: ["x"], env: { "A-B": secret, LD_PRELOAD: secret, OK: `${secret}\0` } }),
    ...problems({
      url: "https://a.example/",
      headers: { "a b": secret, Host: secret, x: `${secret}\nb: c` },
    }),
  ];
  assertEquals(found.length, 6);
  assertEquals(found.filter((text) => text.includes(secret)), []);
});

Deno.test("mcpProblems() refuses a URL that hides where it leads", () => {
  assertStringIncludes(problems({ url: "https://user:pass@a.example/" })[0]!, "one.url:");
});
