import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { McpServer } from "../mcp/list.ts";
import { EXIT, type Invocation } from "../command.ts";
import { FakeClient, operations } from "../testing/fake_client.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { runMcp } from "./mcp.ts";

const FILES: McpServer = {
  server: "files",
  transport: "stdio",
  state: "connected",
  detail: "filesystem 1.0",
  tools: [{ name: "read", description: "Reads\na file", allowed: true }],
  resources: [{ uri: "file:///a", name: "a" }],
  prompts: [{ name: "sum", description: "Sums up" }],
  restarts: 2,
};
const BROKEN: McpServer = {
  ...FILES,
  server: "web",
  transport: "http",
  state: "failed",
  detail: "it answers HTTP 401: no; next try in 4 s",
  tools: [],
};

const ADVISED = { ...BROKEN, advice: "put its key there" };

function run(
  subcommand: string | undefined,
  { args = [], json = false, answer }: {
    args?: string[];
    json?: boolean;
    answer: (McpServer & { advice?: string })[];
  },
) {
  const { out, stdout, stderr } = memoryOutput();
  const client = new FakeClient(operations({
    "mcp.list": () => ({ servers: answer }),
    "mcp.test": () => answer[0],
  }));
  let now = 0;
  const invocation: Invocation = {
    subcommand,
    args,
    options: {},
    globals: { lastGood: false, json, verbose: false },
    out,
  };
  const exit = runMcp(invocation, {
    withService: (_globals, use) => use(client),
    elapsed: () => now += 40,
  });
  return { exit, stdout, stderr, client };
}

Deno.test("mcp list shows each server and its tools", async () => {
  const { exit, stdout, client } = run(undefined, { answer: [FILES, BROKEN] });
  assertEquals(await exit, EXIT.done);
  assertEquals(client.seen[0]!.params, { token: undefined, request: { op: "mcp.list" } });
  assertMatch(stdout.text, /files +stdio +connected +1 +1 +1 +2$/m);
  // Whole, however narrow the terminal is.
  assertMatch(stdout.text, /^files: filesystem 1\.0$/m);
  assertMatch(stdout.text, /^web: it answers HTTP 401: no; next try in 4 s$/m);
  assertMatch(stdout.text, /files\/read +yes +Reads a file/);
});

Deno.test("mcp list --json prints one server a line, and list says where there is none", async () => {
  const { exit, stdout } = run("list", { json: true, answer: [FILES, BROKEN] });
  await exit;
  assertEquals(stdout.text.trim().split("\n").map((line) => JSON.parse(line)), [FILES, BROKEN]);
  const none = run("list", { answer: [] });
  assertEquals(await none.exit, EXIT.done);
  assertStringIncludes(none.stderr.text, "mcp.servers");
});

Deno.test("mcp test says how long it took and what there is, and exits with 1 when it failed", async () => {
  const good = run("test", { args: ["files"], answer: [FILES] });
  assertEquals(await good.exit, EXIT.done);
  assertEquals(good.client.seen[0]!.params, {
    token: undefined,
    request: { op: "mcp.test", name: "files" },
  });
  assertStringIncludes(good.stdout.text, "connected over stdio after 40 ms: filesystem 1.0");
  assertStringIncludes(good.stdout.text, "Tools: 1, resources: 1, prompts: 1");
  assertStringIncludes(good.stdout.text, "file:///a");
  const bad = run("test", { args: ["web"], answer: [ADVISED] });
  assertEquals(await bad.exit, EXIT.failed);
  assertStringIncludes(bad.stderr.text, "it answers HTTP 401");
  assertStringIncludes(bad.stderr.text, "put its key there");
  const json = run("test", { args: ["web"], json: true, answer: [ADVISED] });
  assertEquals(await json.exit, EXIT.failed);
  assertEquals(JSON.parse(json.stdout.text), ADVISED);
});
