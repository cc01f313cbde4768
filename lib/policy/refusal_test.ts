import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Target } from "../contract/actions.ts";
import { decide, type Policy } from "./policy.ts";
import { describeTarget, grantCommand, refusal } from "./refusal.ts";
import {
  action,
  chatAction,
  CONTEXT,
  grantFor,
  pathAction,
  POLICY,
  urlAction,
} from "../authority/testing/policy_arbitraries.ts";

const ALONE = { ...CONTEXT, attended: false, sessionKey: "automation:news one" };
const outside = pathAction("/srv/it's here", "write");

const MCP = action("mcp.call", {
  kind: "mcp",
  server: "files",
  tool: "delete",
  definition: "0123456789abcdef".repeat(4),
});
const COMMAND = action("exec", {
  kind: "command",
  argv: ["npm", "ci"],
  program: "/usr/bin/npm",
  cwd: POLICY.workspace,
  hosts: ["a.net:443"],
});

function told(one: typeof outside, context = CONTEXT, policy: Policy = POLICY): string {
  return refusal(one, decide(one, context, policy), context).output;
}

Deno.test("G1 refusal() names capability, target and the grant that would permit it", () => {
  const output = told(outside, ALONE);
  assertStringIncludes(output, `Refused: fs.write of "/srv/it's here" (rule unattended: `);
  assertStringIncludes(
    output,
    `service grants add 'automation:news one' fs.write '/srv/it'\\''s here'`,
  );
  for (
    const one of [
      urlAction("https://a.example/x?y=1"),
      chatAction("telegram", "5"),
      action("exec", {
        kind: "command",
        argv: ["/bin/sh", "-c", "echo $HOME"],
        program: "/usr/bin/dash",
        cwd: POLICY.workspace,
        hosts: ["a.net:443"],
      }),
      action("mcp.call", {
        kind: "mcp",
        server: "files",
        tool: "delete file",
        definition: "0123456789abcdef".repeat(4),
      }),
    ]
  ) {
    const command = grantCommand(one, ALONE)!;
    assertStringIncludes(told(one, ALONE), command);
    const { target } = grantFor(one, ALONE.sessionKey);
    // What the command line says is what the grant holds.
    assertStringIncludes(command.replaceAll("'", ""), target.replaceAll("'", ""));
  }
});

Deno.test("refusal() says what it takes, by why it was refused", () => {
  const latched = {
    ...POLICY,
    latched: [{ sessionKey: "cli:test", capability: "fs.write" as const }],
  };
  const cases: [string, string[], string[]][] = [
    [
      told(outside),
      ["a person's approval or a grant of fs.write", "service grants add cli:test"],
      [],
    ],
    [told(outside, CONTEXT, { ...POLICY, canAsk: false }), ["service grants add"], ["approval or"]],
    [told(outside, CONTEXT, latched), ["service blocks clear cli:test fs.write"], ["grants add"]],
    [
      told(outside, CONTEXT, { ...POLICY, stateDamaged: "no seal" }),
      ["no seal", "the operator has mended"],
      ["grants add"],
    ],
    [told(pathAction("/proc/1/environ")), ["Neither an approval nor a grant"], ["grants add"]],
    [told(MCP), ['"delete" in mcp.servers.files.allow', "grants add cli:test mcp.call"], []],
    [
      told(COMMAND),
      ['exec of "npm ci (network: a.net:443)"', "executor.hosts", "grants add cli:test exec"],
      [],
    ],
    [told(chatAction("telegram", "5")), ['"telegram:5" in gates.messageTargets', "grants add"], []],
    [
      told(urlAction("http://a.example/", ["10.0.0.1"])),
      ["gates.privateHosts"],
      ["grants add"],
    ],
  ];
  for (const [output, has, hasNot] of cases) {
    for (const words of has) assertStringIncludes(output, words);
    for (const words of hasNot) assert(!output.includes(words), output);
  }
});

Deno.test("refusal() offers no command for what nobody could type or grant", () => {
  const long = pathAction(`/srv/${"a/".repeat(2_100)}`, "write");
  assertEquals(grantCommand(long, CONTEXT), undefined);
  assertStringIncludes(told(long), "a grant of fs.write");
  const unresolved: Target = { kind: "unresolved", what: "x", reason: "y" };
  assertEquals(grantCommand({ capability: "fs.read", target: unresolved }, CONTEXT), undefined);
});

Deno.test("refusal() shows nothing hidden", () => {
  const targets: Target[] = [
    pathAction("/srv/a\u200b\u202e\x1b[31m\nb").target,
    { kind: "chat", channel: "telegram", chatId: "5\u2028\u00ad" },
    { kind: "unresolved", what: "\u202efdp.exe", reason: "\x1b]0;x\x07" },
    { kind: "command", argv: ["/bin/sh", "-c", "a\u200b\n\x1b"], program: "/bin/sh", cwd: "/w" },
    { kind: "mcp", server: "files", tool: "a\u202e\nb", definition: "" },
    {
      kind: "secret",
      name: "KEY",
      recipient: { kind: "command", argv: ["a\u200b\n"], program: "/b\u202e", cwd: "/w" },
    },
    {
      kind: "url",
      url: "https://a.net/",
      host: "a.net",
      port: 443,
      addresses: [],
      headers: { "x\u202e": "\n" },
    },
  ];
  for (const target of targets) {
    const one = action("exec", target);
    for (const text of [describeTarget(target), told(one), told(one, ALONE)]) {
      assert(!/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text), JSON.stringify(text));
    }
  }
});
