import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type TempHome, tempHome } from "../../lib/config/testing/temp_home.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { testRegistry } from "../../lib/registry/testing/test_registry.ts";
import mcp from "../commands/mcp.ts";
import { parseCommand, parseHead } from "../parse.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { addServer, removeServer } from "./change.ts";

async function run(home: TempHome, line: string[]): Promise<string> {
  const { out, stderr } = memoryOutput();
  const parsed = parseCommand("mcp", mcp, parseHead(["mcp", ...line]));
  const change = parsed.subcommand === "add" ? addServer : removeServer;
  await change({ ...parsed, out }, {
    paths: home.paths,
    env: home.env,
    lastGood: false,
    channels: () => Promise.resolve(testRegistry([])),
    stdin: { readable: new Blob([]).stream(), isTerminal: () => true },
  });
  return stderr.text;
}

async function fails(home: TempHome, line: string[], code: string): Promise<string> {
  const { code: had, message } = await assertRejects(() => run(home, line), ServiceError);
  assertEquals(had, code, message);
  return message;
}

async function serversOf(home: TempHome): Promise<unknown> {
  return JSON.parse(await home.read()).mcp.servers;
}

Deno.test("mcp add writes a command with its own options, or an address with headers", async () => {
  await using home = await tempHome();
  const told = await run(home, [
    ...["add", "files", "--env", "A=b=c", "--cwd", "sub", "--", "/usr/bin/cat", "-n", "--url"],
  ]);
  assertStringIncludes(told, "Try it: service mcp test files");
  const typed = await run(home, [
    ...["add", "w-1", "--url", "https://h.example/mcp", "--header", "X-A: b: c"],
  ]);
  assertStringIncludes(typed, "service secrets set NAME");
  assertEquals(await serversOf(home), {
    files: { command: ["/usr/bin/cat", "-n", "--url"], cwd: "sub", env: { A: "b=c" } },
    "w-1": { url: "https://h.example/mcp", headers: { "X-A": "b: c" } },
  });
  await run(home, ["remove", "w-1"]);
  assertEquals(Object.keys(await serversOf(home) as object), ["files"]);
});

Deno.test("mcp add and remove refuse what cannot be, and write nothing", async () => {
  await using home = await tempHome();
  await run(home, ["add", "files", "--", "/usr/bin/cat"]);
  const before = await home.read();
  assertStringIncludes(await fails(home, ["add", "files", "--", "x"], "conflict"), "there already");
  await fails(home, ["add", "other"], "usage");
  await fails(home, ["add", "other", "--url", "https://h.example", "--", "cat"], "usage");
  await fails(home, ["add", "other", "--url", "ftp://h.example"], "config_invalid");
  await fails(home, ["add", "Other", "--", "cat"], "usage");
  await fails(home, ["add", "__proto__", "--", "cat"], "usage");
  await fails(home, ["add", "other", "--env", "A=1", "--url", "https://h.example"], "usage");
  await fails(home, ["add", "other", "--header", "A: 1", "--", "cat"], "usage");
  const secret = await fails(home, ["add", "other", "--env", "hush", "--", "cat"], "usage");
  assertEquals(secret, "Invalid --env: expected NAME=value");
  await fails(home, ["add", "other", "--", "/etc/passwd"], "config_invalid");
  assertStringIncludes(await fails(home, ["remove", "fils"], "not_found"), "Did you mean files?");
  assertEquals(await home.read(), before);
});

Deno.test("mcp remove removes a server that keeps the configuration from loading", async () => {
  await using home = await tempHome();
  await home.write({ mcp: { servers: { bad: { command: ["cat"], url: "https://h.example" } } } });
  await run(home, ["remove", "bad"]);
  assertEquals(await serversOf(home), {});
});
