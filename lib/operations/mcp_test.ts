import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import type { McpServerStatus } from "../mcp_servers/mcp_servers.ts";
import { adviceFor, type McpRequest } from "./mcp.ts";
import { runOperation } from "./testing/gateway_parts.ts";

const FILES: McpServerStatus = {
  server: "files",
  transport: "stdio",
  state: "connected",
  detail: "filesystem 1.0",
  tools: [{ name: "read", description: "Reads a file", allowed: true }],
  resources: [],
  prompts: [],
  restarts: 2,
};
const BROKEN: McpServerStatus = { ...FILES, server: "web", state: "failed", detail: "url: no" };

/** The authority, as far as these ask it. */
function mcp(request: McpRequest): Promise<McpServerStatus[]> {
  if (request.op === "list") return Promise.resolve([FILES, BROKEN]);
  const found = [FILES, BROKEN].find(({ server }) => server === request.server);
  return found === undefined
    ? Promise.reject(new ServiceError("not_found", "No such server"))
    : Promise.resolve([found]);
}

Deno.test("mcp.list has each server, mcp.test one, with advice where it isn't connected", async () => {
  assertEquals(await runOperation({ op: "mcp.list" }, { mcp }), { servers: [FILES, BROKEN] });
  assertEquals(await runOperation({ op: "mcp.test", name: "files" }, { mcp }), FILES);
  assertEquals(await runOperation({ op: "mcp.test", name: "web" }, { mcp }), {
    ...BROKEN,
    advice: "Correct mcp.servers.web.url",
  });
  const error = await assertRejects(
    () => runOperation({ op: "mcp.test", name: "none" }, { mcp }),
    ServiceError,
  );
  assertEquals(error.code, "not_found");
});

Deno.test("adviceFor() names the key to change", () => {
  const of = (transport: "stdio" | "http", detail: string) =>
    adviceFor({ server: "s", state: "failed", transport, detail });
  assertEquals(of("stdio", "command: there is no program"), "Correct mcp.servers.s.command");
  assertStringIncludes(
    of("http", 'url: "x" …; list the host in gates.privateHosts'),
    "privateHosts",
  );
  assertStringIncludes(of("http", "a.example cannot be reached"), "mcp.servers.s.url");
  assertStringIncludes(of("stdio", "it ended with code 1"), "mcp.servers.s.read");
});
