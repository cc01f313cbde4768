import { assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  action,
  anyContext,
  CONTEXT,
  grantFor,
  mcpTarget,
  POLICY,
  rule,
  someMcpEntry,
} from "../authority/testing/policy_arbitraries.ts";
import { type ConfiguredRule, readRules } from "./configured_rules.ts";
import { grantTarget } from "./grant_target.ts";
import { decide } from "./policy.ts";

const ALONE = { ...CONTEXT, attended: false };
const DEFINITION = "0123456789abcdef".repeat(4);

function call(server: string, tool: string, definition = DEFINITION) {
  return action("mcp.call", { kind: "mcp", server, tool, definition });
}

function withRules(...rules: Omit<ConfiguredRule, "name" | "capabilities">[]) {
  const own = rules.map((one, index) => ({
    ...one,
    name: `own.${index}`,
    capabilities: ["mcp.call" as const],
  }));
  const read = readRules(own);
  assertEquals(read.problems, []);
  return { ...POLICY, rules: [...read.rules, ...POLICY.rules] };
}

Deno.test("decide() allows a tool that its server's configuration lists, in an attended turn, and asks otherwise", () => {
  const policy = { ...POLICY, mcpTools: ["files/read", "memory/*"] };
  const cases: [string, string, string][] = [
    ["files", "read", "allow mcp.listed"],
    ["files", "Read", "ask mcp.other"],
    ["files", "read_all", "ask mcp.other"],
    ["files", "write", "ask mcp.other"],
    ["files2", "read", "ask mcp.other"],
    ["memory", "anything at all", "allow mcp.listed"],
    ["files/read", "", "ask mcp.other"],
  ];
  for (const [server, tool, expected] of cases) {
    assertEquals([tool, rule(decide(call(server, tool), CONTEXT, policy))], [tool, expected]);
    assertEquals(rule(decide(call(server, tool), ALONE, policy)), "deny unattended");
  }
});

Deno.test("decide() compares rules for MCP tools by server and tool, exactly", () => {
  const policy = withRules(
    { effect: "deny", targets: ["files/delete"] },
    { effect: "allow", targets: ["files/*", "github/get_issue"] },
  );
  assertEquals(rule(decide(call("files", "delete"), CONTEXT, policy)), "deny own.0");
  assertEquals(rule(decide(call("files", "read"), CONTEXT, policy)), "allow own.1");
  assertEquals(rule(decide(call("github", "get_issue"), CONTEXT, policy)), "allow own.1");
  assertEquals(rule(decide(call("github", "get_issues"), CONTEXT, policy)), "ask mcp.other");
  assertEquals(rule(decide(call("filesx", "read"), CONTEXT, policy)), "ask mcp.other");
});

Deno.test("readRules() takes <server>/<tool> and secrets' names, and refuses what is neither", () => {
  const problem = (capability: "mcp.call" | "secret.use", target: string) =>
    readRules([{ name: "a", effect: "allow", capabilities: [capability], targets: [target] }])
      .problems.map(({ path, message }) => [path.join("."), message]);
  for (const good of ["files/read", "git-hub/*", "a/b/c", "a/tool with.dots_-".replace(" ", "")]) {
    assertEquals(problem("mcp.call", good), []);
  }
  for (const bad of ["files", "*", "*/*", "files/", "Files/read", "files/get_*", "a/b\u200b", ""]) {
    assertEquals(problem("mcp.call", bad), [[
      "0.targets.0",
      `${JSON.stringify(bad)} is not <server>/<tool>, or <server>/* for every tool of a server`,
    ]], bad);
  }
  for (const good of ["KEY", "A_1@api.example.com", "A@*.b.net", "A@[::1]:443"]) {
    assertEquals(problem("secret.use", good), []);
  }
  for (const bad of ["key", "*", "KEY@", "KEY@*", "KEY@https://a.net/", "@a.net", "1KEY"]) {
    assertEquals(problem("secret.use", bad).length, 1, bad);
  }
  const mixed = readRules([{
    name: "a",
    effect: "allow",
    capabilities: ["mcp.call", "secret.use"],
    targets: ["KEY"],
  }]);
  assertEquals(mixed.problems.length, 1);
});

Deno.test("G2 decide() takes a grant of a tool for no other definition of it", () => {
  const one = call("files", "read");
  const policy = { ...POLICY, grants: [grantFor(one, CONTEXT.sessionKey)] };
  assertEquals(decide(one, ALONE, policy).effect, "allow");
  const changed = call("files", "read", DEFINITION.replace("0", "1"));
  assertEquals(rule(decide(changed, ALONE, policy)), "deny unattended");
  assertEquals(rule(decide(call("files", "write"), ALONE, policy)), "deny unattended");
  // Not known which tool it is: nothing can grant that.
  assertEquals(grantTarget(call("files", "read", "").target), undefined);
});

Deno.test("decide() allows an MCP tool only if an entry says this tool or its whole server", () => {
  fc.assert(fc.property(
    mcpTarget,
    fc.array(someMcpEntry, { maxLength: 4 }),
    anyContext,
    (target, mcpTools, context) => {
      const decision = decide(action("mcp.call", target), context, { ...POLICY, mcpTools });
      const isListed = mcpTools.includes(`${target.server}/${target.tool}`) ||
        mcpTools.includes(`${target.server}/*`);
      assertEquals(decision.effect, !context.attended ? "deny" : isListed ? "allow" : "ask");
    },
  ));
});
