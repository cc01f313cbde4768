import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { SecretTarget } from "../contract/actions.ts";
import {
  action,
  anyContext,
  anyPolicy,
  anyRule,
  CONTEXT,
  grantFor,
  POLICY,
  rule,
  secretTarget,
} from "../authority/testing/policy_arbitraries.ts";
import { readRules } from "./configured_rules.ts";
import { decide, type Rule } from "./policy.ts";
import { refusal } from "./refusal.ts";
import { isInScope, type SecretScope } from "./secret_scope.ts";

const ALONE = { ...CONTEXT, attended: false };

function host(name: string, port = 443, plain = false): SecretTarget["recipient"] {
  return { kind: "host", host: name, port, ...plain ? { plain: true as const } : {} };
}

function command(argv: string[], more: { program?: string; cwd?: string } = {}) {
  return { kind: "command", argv, program: argv[0]!, cwd: POLICY.workspace, ...more } as const;
}

function use(recipient: SecretTarget["recipient"], name = "KEY") {
  return action("secret.use", { kind: "secret", name, recipient });
}

function scope(more: Partial<SecretScope> = {}): SecretScope {
  return { name: "KEY", hosts: [], commands: [], ...more };
}

Deno.test("isInScope() holds for listed hosts, their ports and names below, and for nothing near them", () => {
  const hosts = ["api.example.com", "*.cdn.example.com", "localhost:8080", "[::1]:443"];
  const cases: [SecretTarget["recipient"], boolean][] = [
    [host("api.example.com"), true],
    [host("api.example.com", 8443), true],
    [host("x.cdn.example.com"), true],
    [host("a.b.cdn.example.com"), true],
    [host("cdn.example.com"), false],
    [host("example.com"), false],
    [host("xapi.example.com"), false],
    [host("api.example.com.evil.net"), false],
    [host("x.cdn.example.com.evil.net"), false],
    [host("localhost", 8080), true],
    [host("localhost", 8081), false],
    [host("::1"), true],
    [host("::1", 80), false],
    // Over http only where the scope speaks of the port.
    [host("api.example.com", 80, true), false],
    [host("api.example.com", 443, true), false],
    [host("x.cdn.example.com", 80, true), false],
    [host("localhost", 8080, true), true],
    [host("", 443), false],
    [command(["/usr/bin/curl", "https://api.example.com"]), false],
  ];
  for (const [recipient, expected] of cases) {
    assertEquals([recipient, isInScope(scope({ hosts }), recipient, POLICY.workspace)], [
      recipient,
      expected,
    ]);
  }
});

Deno.test("isInScope() holds for whole commands, and for none that only looks like one", () => {
  const commands = ['["git","push"]', "npm publish", '["./deploy","prod"]'];
  const { workspace } = POLICY;
  const cases: [SecretTarget["recipient"], boolean][] = [
    [command(["git", "push"], { program: "/usr/bin/git" }), true],
    [command(["/usr/bin/git", "push"]), true],
    [command(["/bin/sh", "-c", "npm publish"], { program: "/usr/bin/dash" }), true],
    [command(["./deploy", "prod"], { program: `${workspace}/deploy` }), true],
    [command(["git", "push", "--force"], { program: "/usr/bin/git" }), false],
    [command(["git"], { program: "/usr/bin/git" }), false],
    [command(["git", "push"], { program: `${workspace}/git` }), false],
    [command([`${workspace}/git`, "push"]), false],
    [command(["/bin/sh", "-c", "npm publish; env"], { program: "/usr/bin/dash" }), false],
    [command(["/bin/sh", "-c", "git push"], { program: "/usr/bin/dash" }), false],
    [command(["./deploy", "prod"], { program: "/x/deploy", cwd: `${workspace}/x` }), false],
    [host("git"), false],
  ];
  for (const [recipient, expected] of cases) {
    assertEquals([recipient, isInScope(scope({ commands }), recipient, workspace)], [
      recipient,
      expected,
    ]);
  }
});

Deno.test("decide() asks about a secret in its scope, takes rules and grants for it, and never else", () => {
  const secrets = [scope({ hosts: ["api.example.com", "*.b.net"] }), scope({ name: "UNSCOPED" })];
  const policy = { ...POLICY, secrets };
  const allowed = (targets: string[]) => ({
    ...policy,
    rules: [
      ...readRules([{ name: "own", effect: "allow", capabilities: ["secret.use"], targets }]).rules,
      ...policy.rules,
    ],
  });
  const api = use(host("api.example.com"));
  assertEquals(rule(decide(api, CONTEXT, policy)), "ask secret.use");
  assertEquals(rule(decide(api, ALONE, policy)), "deny unattended");
  assertEquals(rule(decide(api, CONTEXT, allowed(["KEY"]))), "allow own");
  assertEquals(rule(decide(api, CONTEXT, allowed(["KEY@api.example.com:443"]))), "allow own");
  assertEquals(rule(decide(api, CONTEXT, allowed(["KEY@api.example.com:80"]))), "ask secret.use");
  assertEquals(rule(decide(api, CONTEXT, allowed(["OTHER", "KEY@*.b.net"]))), "ask secret.use");
  // A rule for hosts says nothing of commands.
  const pushes = {
    ...allowed(["KEY@*.b.net"]),
    secrets: [scope({ commands: ['["git","push"]'] })],
  };
  assertEquals(
    rule(decide(use(command(["/usr/bin/git", "push"])), CONTEXT, pushes)),
    "ask secret.use",
  );
  const granted = { ...policy, grants: [grantFor(api, CONTEXT.sessionKey)] };
  assertEquals(decide(api, ALONE, granted).effect, "allow");
  for (const near of [host("api.example.com", 8443), host("x.b.net")]) {
    assertEquals(rule(decide(use(near), ALONE, granted)), "deny unattended");
  }
  // What is out of scope nothing opens.
  for (const name of ["KEY", "UNSCOPED"]) {
    const elsewhere = use(host("evil.example"), name);
    const open = {
      ...allowed([name]),
      grants: [grantFor(elsewhere, CONTEXT.sessionKey)],
    };
    assertEquals(rule(decide(elsewhere, CONTEXT, open)), "deny secret.scope");
    assertEquals(rule(decide(elsewhere, ALONE, open)), "deny secret.scope");
  }
  assertEquals(rule(decide(use(host("a.net"), "NONE"), CONTEXT, policy)), "deny secret.unknown");
});

Deno.test("decide() says of a secret that is asked for elsewhere which it is, where, and what it is for", () => {
  const secrets = [scope({ hosts: ["api.example.com", "*.b.net"], commands: ["npm publish"] })];
  const elsewhere = use(host("evil.example", 8443));
  const decision = decide(elsewhere, CONTEXT, { ...POLICY, secrets });
  assertEquals(
    decision.reason,
    "the secret KEY is not for evil.example:8443: its scope is hosts: api.example.com, *.b.net; " +
      "commands: /bin/sh -c 'npm publish'",
  );
  const told = refusal(elsewhere, decision, CONTEXT);
  assert(told.status === "refused");
  assertStringIncludes(told.output, 'Refused: secret.use of "KEY@evil.example:8443"');
  assertStringIncludes(
    told.output,
    "all that it is for: service secrets set KEY --host evil.example:8443",
  );
  // The words alike, as a list and as a text: what the person reads has to tell them apart.
  const list = use(command(["/usr/bin/npm", "publish"]));
  const other = refusal(list, decide(list, CONTEXT, { ...POLICY, secrets }), CONTEXT);
  assert(other.status === "refused");
  assertStringIncludes(other.output, '"KEY@/usr/bin/npm publish"');
  assertStringIncludes(other.output, "commands: /bin/sh -c 'npm publish'");
  assertStringIncludes(
    other.output,
    `service secrets set KEY --command '["/usr/bin/npm","publish"]'`,
  );
  const long = use(command(["/usr/bin/npm", "x".repeat(9_000)]));
  const bounded = refusal(long, decide(long, CONTEXT, { ...POLICY, secrets }), CONTEXT);
  assert(bounded.status === "refused");
  assertStringIncludes(bounded.output, "service secrets set KEY --command …");
  const none = decide(use(host("a.net")), CONTEXT, { ...POLICY, secrets: [scope()] });
  assertStringIncludes(none.reason, "has no scope");
  const plain = decide(use(host("api.example.com", 80, true)), CONTEXT, { ...POLICY, secrets });
  assertStringIncludes(plain.reason, "not for http://api.example.com:80");
  assertStringIncludes(plain.reason, "name the port");
  const damaged = { ...POLICY, secretsDamaged: "secrets.json is damaged" };
  assertEquals(decide(use(host("a.net")), CONTEXT, damaged).reason, "secrets.json is damaged");
});

Deno.test("decide() never allows or asks about a secret out of its scope, whatever rules and grants say", () => {
  const allowAll: Rule = { name: "all", effect: "allow", when: [], reason: "all" };
  fc.assert(fc.property(
    secretTarget,
    anyContext,
    anyPolicy,
    anyRule(fc.constant("allow")),
    (target, context, policy, added) => {
      const one = action("secret.use", target);
      const open = {
        ...policy,
        rules: [allowAll, added, ...policy.rules],
        grants: [grantFor(one, context.sessionKey)],
        latched: [],
      };
      const isFor = policy.secrets.some((secret) =>
        secret.name === target.name && isInScope(secret, target.recipient, policy.workspace)
      );
      if (!isFor) assertEquals(decide(one, context, open).effect, "deny");
    },
  ));
});
