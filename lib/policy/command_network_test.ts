import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseHostPattern } from "../base/host_pattern.ts";
import type { CommandTarget } from "../contract/actions.ts";
import {
  action,
  anyContext,
  anyPolicy,
  CONTEXT,
  grantFor,
  POLICY,
  rule,
  someHosts,
  urlAction,
} from "../authority/testing/policy_arbitraries.ts";
import { readRules } from "./configured_rules.ts";
import { DEFAULT_RULES } from "./default_rules.ts";
import { grantTarget } from "./grant_target.ts";
import { decide } from "./policy.ts";

const ALONE = { ...CONTEXT, attended: false };

function npm(hosts?: string[], more: Partial<CommandTarget> = {}) {
  const { workspace } = POLICY;
  return action("exec", {
    kind: "command",
    argv: ["npm", "install"],
    program: "/usr/bin/npm",
    cwd: workspace,
    ...hosts === undefined ? {} : { hosts },
    ...more,
  });
}

function listed(...hosts: string[]) {
  return { ...POLICY, commandHosts: hosts.map((host) => parseHostPattern(host)!) };
}

Deno.test("decide() lets a command reach hosts that executor.hosts lists, all of them, and asks otherwise", () => {
  const policy = listed("registry.npmjs.org", "*.github.com:443", "[::1]:8080");
  const cases: [string[], string][] = [
    [["registry.npmjs.org:443"], "allow exec.listed"],
    [["registry.npmjs.org:443", "registry.npmjs.org:80"], "allow exec.listed"],
    [["registry.npmjs.org:8443"], "ask exec.network"],
    [["api.github.com:443", "registry.npmjs.org:443"], "allow exec.listed"],
    [["api.github.com:443", "api.github.com:80"], "ask exec.network"],
    [["github.com:443"], "ask exec.network"],
    [["registry.npmjs.org.evil.net:443"], "ask exec.network"],
    [["evil.net:443", "registry.npmjs.org:443"], "ask exec.network"],
    [["[::1]:8080"], "allow exec.listed"],
    [["[::1]:443"], "ask exec.network"],
    [["no port"], "ask exec.network"],
  ];
  for (const [hosts, expected] of cases) {
    assertEquals([hosts, rule(decide(npm(hosts), CONTEXT, policy))], [hosts, expected]);
    assertEquals(decide(npm(hosts), ALONE, policy).effect, "deny");
    // Where nothing holds it back it is asked about, whatever it says that it wants to reach.
    const unconfined = { ...policy, exec: { mode: "unconfined" } as const };
    assertEquals(rule(decide(npm(hosts), CONTEXT, unconfined)), "ask exec.unconfined");
  }
  assertEquals(rule(decide(npm(), CONTEXT, policy)), "allow exec.sandboxed");
});

Deno.test("decide() opens no host by a rule that allows a command, and closes all by one that denies it", () => {
  const withRule = (effect: "allow" | "ask" | "deny", targets?: string[]) => ({
    ...listed("registry.npmjs.org"),
    rules: [
      ...readRules([{ name: "own", effect, capabilities: ["exec"], targets }]).rules,
      ...DEFAULT_RULES,
    ],
  });
  const [here, there] = [npm(["registry.npmjs.org:443"]), npm(["evil.net:443"])];
  for (const targets of [undefined, ['["npm","install"]']]) {
    assertEquals(rule(decide(npm(), CONTEXT, withRule("allow", targets))), "allow own");
    assertEquals(rule(decide(here, CONTEXT, withRule("allow", targets))), "allow own");
    assertEquals(rule(decide(there, CONTEXT, withRule("allow", targets))), "ask exec.network");
    assertEquals(rule(decide(here, CONTEXT, withRule("ask", targets))), "ask own");
    assertEquals(rule(decide(here, CONTEXT, withRule("deny", targets))), "deny own");
  }
});

Deno.test("G2 decide() takes a grant for a command for no other hosts", () => {
  const one = npm(["registry.npmjs.org:443"]);
  const policy = { ...POLICY, grants: [grantFor(one, CONTEXT.sessionKey)] };
  assertEquals(decide(one, ALONE, policy).effect, "allow");
  for (
    const near of [
      npm(),
      npm(["registry.npmjs.org:80"]),
      npm(["evil.net:443", "registry.npmjs.org:443"]),
      npm(["xregistry.npmjs.org:443"]),
    ]
  ) assertEquals(rule(decide(near, ALONE, policy)), "deny unattended");
  // A grant that was made before commands could name hosts is still the same text.
  assertEquals(
    grantTarget(npm().target),
    '{"argv":["npm","install"],"cwd":"/home/p/.service/workspace","program":"/usr/bin/npm"}',
  );
});

Deno.test("decide() allows a command with hosts only if a list, a grant or nothing but a person does", () => {
  fc.assert(fc.property(someHosts, anyContext, anyPolicy, (hosts, context, policy) => {
    const decision = decide(npm(hosts), context, { ...policy, rules: DEFAULT_RULES });
    if (decision.effect !== "allow") return;
    assert(["exec.listed"].includes(decision.rule) || decision.rule.startsWith("grant:"));
  }));
});

Deno.test("decide() takes a header for no part of a URL that a tool result holds, and grants it apart", () => {
  const url = "https://a.net/p";
  const context = { ...CONTEXT, toolUrls: [url] };
  const bare = urlAction(url);
  const withHeader = { ...bare, target: { ...bare.target, headers: { "x-note": "the diary" } } };
  assertEquals(rule(decide(bare, context, POLICY)), "allow fetch.result");
  assertEquals(rule(decide(withHeader as typeof bare, context, POLICY)), "ask fetch.other");
  const said = { ...CONTEXT, personHosts: ["a.net"] };
  assertEquals(rule(decide(withHeader as typeof bare, said, POLICY)), "allow fetch.person");
  const granted = { ...POLICY, grants: [grantFor(bare, CONTEXT.sessionKey)] };
  assertEquals(decide(bare, ALONE, granted).effect, "allow");
  assertEquals(rule(decide(withHeader as typeof bare, ALONE, granted)), "deny unattended");
});
