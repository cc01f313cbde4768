/**
 * Actions, turns and policies to judge: by hand, and any at all.
 *
 * @module
 */

import fc from "fast-check";
import { parseHostPattern } from "../../base/host_pattern.ts";
import {
  type ActionContext,
  CAPABILITIES,
  type Capability,
  type ChatTarget,
  type Decision,
  type McpTarget,
  type PathTarget,
  type ResolvedAction,
  type SecretTarget,
  type Target,
} from "../../contract/actions.ts";
import { type Condition, CONDITIONS } from "../../policy/conditions.ts";
import { type ConfiguredRule, readRules } from "../../policy/configured_rules.ts";
import { DEFAULT_RULES } from "../../policy/default_rules.ts";
import { grantTarget } from "../../policy/grant_target.ts";
import type { Grant } from "../../policy/grants.ts";
import type { ExecMode, Policy, Rule } from "../../policy/policy.ts";
import type { SecretScope } from "../../policy/secret_scope.ts";
import { anyString } from "../../../tests/support/any_string.ts";

export const CONTEXT: ActionContext = {
  sessionKey: "cli:test",
  turnId: "t",
  callId: "c",
  channel: "cli",
  actor: "cli:local",
  attended: true,
  personHosts: [],
  toolUrls: [],
};

export const POLICY: Policy = {
  rules: DEFAULT_RULES,
  workspace: "/home/p/.service/workspace",
  ownPaths: ["/home/p/.service", "/home/p/.service/data", "/home/p/.service/config.json"],
  sourcePaths: ["/opt/service"],
  privateHosts: [],
  messageTargets: [],
  commandHosts: [],
  mcpTools: [],
  confined: true,
  exec: { mode: "sandboxed" },
  grants: [],
  latched: [],
  secrets: [],
  secretsDamaged: undefined,
  canAsk: true,
  stateDamaged: undefined,
};

export function action(capability: Capability, target: Target): ResolvedAction {
  return { tool: "t", capability, args: {}, target, digest: "" };
}

export function pathAction(
  real: string,
  access: "read" | "write" = "read",
  more: Partial<PathTarget> = {},
): ResolvedAction {
  const target: PathTarget = {
    kind: "path",
    access,
    path: real,
    real,
    viaLink: false,
    folder: { real: "/", dev: 1, ino: 1 },
    ...more,
  };
  return action(access === "read" ? "fs.read" : "fs.write", target);
}

export function urlAction(url: string, addresses: string[] = ["93.184.216.34"]): ResolvedAction {
  const { hostname, protocol, port } = new URL(url);
  return action("net.fetch", {
    kind: "url",
    url: new URL(url).href,
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (protocol === "https:" ? 443 : 80),
    addresses,
  });
}

export function chatAction(channel: string, chatId: string): ResolvedAction {
  return action("message.send", { kind: "chat", channel, chatId });
}

export function rule(decision: Decision): string {
  return `${decision.effect} ${decision.rule}`;
}

export const capability = fc.constantFrom(...CAPABILITIES);
export const somePath = fc.oneof(
  fc.constantFrom(
    POLICY.workspace,
    `${POLICY.workspace}/src`,
    `${POLICY.workspace}/.env`,
    `${POLICY.workspace}/AGENTS.md`,
    "/home/p/.service/data/x",
    "/etc/passwd",
    "/proc/self",
    "",
  ),
  anyString().map((name) => `${POLICY.workspace}/${name}`),
  anyString(),
);
export const pathTarget: fc.Arbitrary<Target> = fc.record({
  kind: fc.constant("path" as const),
  access: fc.constantFrom("read" as const, "write" as const),
  path: somePath,
  real: somePath,
  viaLink: fc.boolean(),
  file: fc.option(
    fc.record({ isDirectory: fc.boolean(), dev: fc.nat(), ino: fc.nat(), links: fc.nat(3) }),
    { nil: undefined },
  ),
  folder: fc.record({ real: somePath, dev: fc.nat(), ino: fc.nat() }),
});
export const urlTarget: fc.Arbitrary<Target> = fc.record({
  kind: fc.constant("url" as const),
  url: fc.oneof(fc.webUrl(), fc.string()),
  host: fc.oneof(fc.domain(), fc.constant("example.com"), fc.string()),
  port: fc.nat(65_535),
  addresses: fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())),
  headers: fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
}, { requiredKeys: ["kind", "url", "host", "port", "addresses"] });
export const someChannel = fc.oneof(
  fc.constantFrom("telegram", "telegram.work", "a:b", ""),
  fc.string(),
);
export const someChatId = fc.oneof(fc.constantFrom("12345", "*", "a:b", ""), fc.string());
export const chatTarget: fc.Arbitrary<ChatTarget> = fc.record({
  kind: fc.constant("chat" as const),
  channel: someChannel,
  chatId: someChatId,
});
export const someEntry = fc.oneof(
  fc.tuple(someChannel, someChatId).map((parts) => parts.join(":")),
  fc.string(),
);
export const unresolved: fc.Arbitrary<Target> = fc.record({
  kind: fc.constant("unresolved" as const),
  what: fc.string(),
  reason: fc.string(),
});
export const someHosts = fc.array(
  fc.oneof(fc.constantFrom("example.com:443", "a.example.com:80", "[::1]:443"), fc.string()),
  { minLength: 1, maxLength: 3 },
);
export const commandTarget: fc.Arbitrary<Target> = fc.record({
  kind: fc.constant("command" as const),
  argv: fc.oneof(
    fc.constantFrom(["/usr/bin/git", "status"], ["/bin/sh", "-c", "git status"]),
    fc.array(fc.string(), { maxLength: 3 }),
  ),
  program: fc.oneof(fc.constantFrom("/usr/bin/git", `${POLICY.workspace}/git`), somePath),
  cwd: fc.oneof(fc.constant(POLICY.workspace), somePath),
  hosts: someHosts,
}, { requiredKeys: ["kind", "argv", "program", "cwd"] });
const someServer = fc.oneof(fc.constantFrom("files", "git-hub", ""), fc.string());
const someMcpTool = fc.oneof(fc.constantFrom("read", "delete_repo", "*", ""), fc.string());
export const mcpTarget: fc.Arbitrary<McpTarget> = fc.record({
  kind: fc.constant("mcp" as const),
  server: someServer,
  tool: someMcpTool,
  definition: fc.oneof(fc.constantFrom("0".repeat(64), ""), fc.string()),
});
export const someMcpEntry = fc.oneof(
  fc.tuple(someServer, someMcpTool).map((parts) => parts.join("/")),
  fc.string(),
);
const someSecret = fc.oneof(fc.constantFrom("KEY", "OTHER_KEY", ""), fc.string());
export const secretTarget: fc.Arbitrary<SecretTarget> = fc.record({
  kind: fc.constant("secret" as const),
  name: someSecret,
  recipient: fc.oneof(
    fc.record({
      kind: fc.constant("host" as const),
      host: fc.oneof(fc.constantFrom("example.com", "api.example.com"), fc.domain(), fc.string()),
      port: fc.oneof(fc.constantFrom(80, 443), fc.nat(65_535)),
      plain: fc.constant(true as const),
    }, { requiredKeys: ["kind", "host", "port"] }),
    fc.record({
      kind: fc.constant("command" as const),
      argv: fc.oneof(
        fc.constant(["/usr/bin/git", "push"]),
        fc.array(fc.string(), { maxLength: 3 }),
      ),
      program: fc.oneof(fc.constant("/usr/bin/git"), somePath),
      cwd: fc.oneof(fc.constant(POLICY.workspace), somePath),
      hosts: fc.array(fc.constantFrom("example.com:443", "a.example:80"), { minLength: 1 }),
    }, { requiredKeys: ["kind", "argv", "program", "cwd"] }),
  ),
});
export const someScope: fc.Arbitrary<SecretScope> = fc.record({
  name: someSecret,
  hosts: fc.array(
    fc.oneof(fc.constantFrom("example.com", "*.example.com", "example.com:80"), fc.string()),
    { maxLength: 3 },
  ),
  commands: fc.array(
    fc.oneof(fc.constantFrom('["git","push"]', "git push", '["/usr/bin/git","push"]'), fc.string()),
    { maxLength: 2 },
  ),
});
export const anyTarget = fc.oneof(
  pathTarget,
  urlTarget,
  chatTarget,
  commandTarget,
  mcpTarget,
  secretTarget,
  unresolved,
);
const CAPABILITY_OF: Partial<Record<Target["kind"], Capability>> = {
  url: "net.fetch",
  chat: "message.send",
  command: "exec",
  mcp: "mcp.call",
  secret: "secret.use",
};
// Half of them as they come about, the others as they never should.
export const anyAction = fc.tuple(fc.option(capability), anyTarget).map(([one, target]) =>
  action(one ?? CAPABILITY_OF[target.kind] ?? "fs.read", target)
);
const someSession = fc.constantFrom("cli:test", "api:a", "api:a ");
export const anyContext = fc.record({
  attended: fc.boolean(),
  sessionKey: someSession,
  channel: fc.constantFrom("cli", "telegram"),
  actor: fc.constantFrom("cli:local", "telegram:5"),
  personHosts: fc.array(fc.oneof(fc.domain(), fc.constant("example.com"), fc.string())),
  toolUrls: fc.array(fc.oneof(fc.webUrl(), fc.string())),
}).map((part): ActionContext => ({ ...CONTEXT, ...part }));

// This one depends on other rules, and only the default rules ask for it.
const EVERY_CONDITION = (Object.keys(CONDITIONS) as Condition[])
  .filter((condition) => condition !== "denied.below");
const builtInRule = (effect: fc.Arbitrary<Rule["effect"]>): fc.Arbitrary<Rule> =>
  fc.record({
    name: fc.constant("generated"),
    effect,
    capabilities: fc.option(fc.array(capability), { nil: undefined }),
    when: fc.subarray(EVERY_CONDITION, { maxLength: 2 }),
    reason: fc.constant("generated"),
  });
/** As the operator may write one. */
export const configuredRule = (effect: fc.Arbitrary<Rule["effect"]>): fc.Arbitrary<Rule> =>
  fc.record({
    effect,
    about: fc.constantFrom(
      {},
      { capabilities: ["fs.read", "fs.write"], targets: ["workspace/**", "/etc/*"] },
      { capabilities: ["fs.read", "fs.write"], targets: ["/**"] },
      { capabilities: ["fs.read", "fs.write"], targets: ["workspace", "workspace/src"] },
      { capabilities: ["fs.read"], targets: ["workspace/secrets/**"] },
      { capabilities: ["exec"] },
      { capabilities: ["fs.write"], targets: ["workspace/.env", "workspace/AGENTS.md"] },
      { capabilities: ["net.fetch"], targets: ["example.com", "*.com", "10.0.0.5:80"] },
      { capabilities: ["message.send"], targets: ["telegram:12345", "telegram.work:*"] },
      { capabilities: ["exec"], targets: ['["git","status"]', "git status"] },
      { capabilities: ["mcp.call", "secret.use"] },
      { capabilities: ["mcp.call"], targets: ["files/read", "git-hub/*"] },
      { capabilities: ["secret.use"], targets: ["KEY", "OTHER_KEY@*.example.com"] },
    ),
    channels: fc.option(fc.constant(["telegram"]), { nil: undefined }),
    actors: fc.option(fc.constant(["telegram:5"]), { nil: undefined }),
  }).map(({ about, ...rule }) =>
    readRules([{ name: "configured", ...about, ...rule } as ConfiguredRule]).rules[0]!
  );
export const anyRule = (effect: fc.Arbitrary<Rule["effect"]>): fc.Arbitrary<Rule> =>
  fc.oneof(builtInRule(effect), configuredRule(effect));
const anyEffect = fc.constantFrom("allow" as const, "ask" as const, "deny" as const);

/** A grant for exactly an action, or one that is nothing of the kind. */
export const grantFor = (one: ResolvedAction, subject: string): Grant => ({
  id: "gr_0123456789abcdef",
  subject,
  capability: one.capability,
  target: grantTarget(one.target) ?? "",
  createdAt: 0,
  note: "",
});
export const anyGrant = fc.tuple(anyAction, someSession).map(([one, subject]) =>
  grantFor(one, subject)
);
export const anyLatch = fc.record({ sessionKey: someSession, capability });
export const anyPolicy = fc.record({
  rules: fc.oneof(
    fc.constant(DEFAULT_RULES),
    fc.array(configuredRule(anyEffect), { maxLength: 3 }).map((own) => [...own, ...DEFAULT_RULES]),
    fc.array(anyRule(anyEffect), { maxLength: 6 }),
  ),
  ownPaths: fc.array(somePath, { maxLength: 3 }),
  privateHosts: fc.array(fc.oneof(fc.ipV4(), fc.domain(), fc.string()), { maxLength: 3 }),
  messageTargets: fc.array(someEntry, { maxLength: 3 }),
  commandHosts: fc.subarray(["example.com", "*.example.com:80", "[::1]"])
    .map((hosts) => hosts.map((host) => parseHostPattern(host)!)),
  mcpTools: fc.array(someMcpEntry, { maxLength: 3 }),
  secrets: fc.array(someScope, { maxLength: 3 }),
  secretsDamaged: fc.option(fc.constant("the file is damaged"), { nil: undefined }),
  confined: fc.boolean(),
  exec: fc.constantFrom<ExecMode>({ mode: "sandboxed" }, { mode: "unconfined" }, {
    mode: "off",
    reason: "no sandbox",
  }),
  grants: fc.array(anyGrant, { maxLength: 3 }),
  latched: fc.array(anyLatch, { maxLength: 2 }),
  canAsk: fc.boolean(),
  stateDamaged: fc.option(fc.constant("the file is damaged"), { nil: undefined }),
}).map((part): Policy => ({ ...POLICY, ...part }));
