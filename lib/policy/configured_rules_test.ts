import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ActionContext, ResolvedAction } from "../contract/actions.ts";
import { CONDITIONS } from "./conditions.ts";
import { type ConfiguredRule, readRules } from "./configured_rules.ts";
import { DEFAULT_RULES } from "./default_rules.ts";
import { decide, type Policy } from "./policy.ts";
import {
  action,
  anyAction,
  anyContext,
  anyPolicy,
  chatAction,
  configuredRule,
  CONTEXT,
  pathAction,
  POLICY,
  rule,
  urlAction,
} from "../authority/testing/policy_arbitraries.ts";
import { rounds } from "../../tests/support/rounds.ts";

const WS = POLICY.workspace;

function policyWith(...configured: ConfiguredRule[]): Policy {
  const { rules, problems } = readRules(configured);
  assertEquals(problems, []);
  return { ...POLICY, rules: [...rules, ...DEFAULT_RULES] };
}

function decided(one: ResolvedAction, policy: Policy, context: ActionContext = CONTEXT): string {
  return rule(decide(one, context, policy));
}

function command(argv: string[], program = argv[0]!, cwd = WS): ResolvedAction {
  return action("exec", { kind: "command", argv, program, cwd });
}

Deno.test("decide() takes the first of the operator's rules that matches, before the default ones", () => {
  const write = ["fs.write" as const];
  const drafts: ConfiguredRule = {
    name: "drafts",
    effect: "ask",
    capabilities: write,
    targets: ["workspace/drafts/**"],
  };
  const frozen: ConfiguredRule = { name: "frozen", effect: "deny", capabilities: write };
  const draft = pathAction(`${WS}/drafts/a/b.md`, "write");
  assertEquals(decided(draft, policyWith(drafts, frozen)), "ask drafts");
  assertEquals(decided(draft, policyWith(frozen, drafts)), "deny frozen");
  assertEquals(
    decided(pathAction(`${WS}/a.md`, "write"), policyWith(drafts, frozen)),
    "deny frozen",
  );
  assertEquals(
    decided(pathAction(`${WS}/a.md`), policyWith(drafts, frozen)),
    "allow workspace.read",
  );
});

Deno.test("decide() matches a rule's channels and actors exactly", () => {
  const policy = policyWith({
    name: "chat",
    effect: "deny",
    channels: ["telegram"],
    actors: ["telegram:5", "telegram:6"],
  });
  const read = pathAction(`${WS}/a`);
  const from = (channel: string, actor: string) =>
    decided(read, policy, { ...CONTEXT, channel, actor });
  assertEquals(from("telegram", "telegram:5"), "deny chat");
  assertEquals(from("telegram", "telegram:6"), "deny chat");
  for (const actor of ["telegram:55", "telegram:", "TELEGRAM:5", " telegram:5", ""]) {
    assertEquals([actor, from("telegram", actor)], [actor, "allow workspace.read"]);
  }
  assertEquals(from("telegram.work", "telegram:5"), "allow workspace.read");
});

Deno.test("decide() lets no rule allow what no rule can change", () => {
  const policy: Policy = {
    ...policyWith({ name: "all", effect: "allow" }, {
      name: "exactly",
      effect: "allow",
      capabilities: ["fs.read", "fs.write"],
      targets: ["/home/p/.service/config.json", "/opt/service/lib/a.ts", "/proc/1/environ"],
    }),
    exec: { mode: "off", reason: "no sandbox" },
  };
  const never: [ResolvedAction, string][] = [
    [pathAction("/home/p/.service/config.json"), "deny own"],
    [pathAction("/home/p/.service/config.json", "write"), "deny own"],
    [pathAction("/opt/service/lib/a.ts", "write"), "deny own.source"],
    [pathAction("/proc/1/environ"), "deny kernel"],
    [urlAction("http://a.example/", ["10.0.0.1"]), "deny fetch.private"],
    [urlAction("http://a.example/", []), "deny unresolved"],
    [command(["/usr/bin/git"]), "deny exec.off"],
    [action("fs.read", { kind: "unresolved", what: "x", reason: "y" }), "deny unresolved"],
  ];
  for (const [one, expected] of never) {
    assertEquals([one.target, decided(one, policy)], [one.target, expected]);
  }
});

Deno.test("decide() opens credentials, guarded files and second names by an exact path alone", () => {
  const capabilities = ["fs.read" as const, "fs.write" as const];
  const hardLink = { file: { isDirectory: false, dev: 1, ino: 2, links: 2 } };
  const delicate: [ResolvedAction, string][] = [
    [pathAction(`${WS}/.env`), "deny credentials"],
    [pathAction(`${WS}/AGENTS.md`, "write"), "ask workspace.guarded"],
    [pathAction(`${WS}/.git/hooks/post-commit`, "write"), "ask workspace.guarded"],
    [pathAction(`${WS}/linked`, "read", hardLink), "ask hard_link"],
  ];
  for (const [one, otherwise] of delicate) {
    assert(one.target.kind === "path");
    for (const effect of ["allow", "ask"] as const) {
      const wide = policyWith(
        { name: "any", effect },
        { name: "wide", effect, capabilities, targets: ["workspace/**", "/**", "workspace/*?*"] },
      );
      assertEquals(decided(one, wide), otherwise);
      const exact = { name: "exact", effect, capabilities, targets: [one.target.real] };
      assertEquals(decided(one, policyWith(exact)), `${effect} exact`);
      // The link's own path is not what it leads to.
      const elsewhere = { ...one, target: { ...one.target, real: "/srv/.env" } };
      assert(decided(elsewhere, policyWith(exact)) !== `${effect} exact`);
    }
    const denied = policyWith({
      name: "d",
      effect: "deny",
      capabilities,
      targets: ["workspace/**"],
    });
    assertEquals(decided(one, denied), "deny d");
  }
});

Deno.test("decide() denies by a rule also what a forgiving file system takes for the same", () => {
  const capabilities = ["fs.read" as const];
  const targets = ["workspace/secrets/**", "workspace/*.TXT"];
  const deny = policyWith({ name: "d", effect: "deny", capabilities, targets });
  const allow = policyWith(
    { name: "a", effect: "allow", capabilities, targets },
    { name: "rest", effect: "deny" },
  );
  const spellings = ["SECRETS/a", "secrets./a", "se\u200bcrets/a", "x.txt", "x.TXT:stream"];
  for (const name of spellings) {
    assertEquals([name, decided(pathAction(`${WS}/${name}`), deny)], [name, "deny d"]);
    assertEquals([name, decided(pathAction(`${WS}/${name}`), allow)], [name, "deny rest"]);
  }
  assertEquals(decided(pathAction(`${WS}/secrets/a`), allow), "allow a");
  for (const name of ["secret/a", "xsecrets/a", "sub/x.txt", "x.txt.md"]) {
    assertEquals([name, decided(pathAction(`${WS}/${name}`), deny)], [
      name,
      "allow workspace.read",
    ]);
  }
});

Deno.test("decide() compares URL patterns with host and port of the URL, never with its text", () => {
  const allow = (...targets: string[]) =>
    policyWith({ name: "a", effect: "allow", capabilities: ["net.fetch"], targets });
  const cases: [string, string, boolean][] = [
    ["api.example.com", "https://api.example.com/x", true],
    ["API.Example.com.", "https://api.example.com/x", true],
    ["api.example.com", "http://api.example.com:8080/", true],
    ["api.example.com:443", "https://api.example.com/", true],
    ["api.example.com:443", "http://api.example.com/", false],
    ["api.example.com", "https://api.example.com.evil.net/", false],
    ["api.example.com", "https://evil.net/api.example.com", false],
    ["api.example.com", "https://evil.net/?https://api.example.com", false],
    ["*.example.com", "https://a.example.com/", true],
    ["*.example.com", "https://a.b.example.com/", true],
    ["*.example.com", "https://example.com/", false],
    ["*.example.com", "https://evilexample.com/", false],
    ["*.example.com:8443", "https://a.example.com:8443/", true],
    ["*.example.com:8443", "https://a.example.com/", false],
    ["münchen.example", "https://xn--mnchen-3ya.example/", true],
    ["[2606:4700::1111]:443", "https://[2606:4700:0::1111]/", true],
  ];
  for (const [pattern, url, matches] of cases) {
    const got = decided(urlAction(url), allow(pattern));
    assertEquals([pattern, url, got], [pattern, url, matches ? "allow a" : "ask fetch.other"]);
  }
  // An address allows by the URL's own words alone, and denies wherever it turns up.
  const named = urlAction("https://a.example/", ["93.184.216.34", "93.184.216.35"]);
  assertEquals(decided(named, allow("93.184.216.35")), "ask fetch.other");
  const deny = policyWith({
    name: "d",
    effect: "deny",
    capabilities: ["net.fetch"],
    targets: ["93.184.216.35"],
  });
  assertEquals(decided(named, deny, { ...CONTEXT, personHosts: ["a.example"] }), "deny d");
});

Deno.test("decide() compares chats exactly, or a channel's as a whole", () => {
  const policy = policyWith({
    name: "a",
    effect: "allow",
    capabilities: ["message.send"],
    targets: ["telegram:5", "slack:*"],
  });
  assertEquals(decided(chatAction("telegram", "5"), policy), "allow a");
  assertEquals(decided(chatAction("slack", "C1"), policy), "allow a");
  assertEquals(decided(chatAction("telegram", "55"), policy), "ask message.other");
  assertEquals(decided(chatAction("slack.work", "C1"), policy), "ask message.other");
});

Deno.test("G21 decide() compares commands whole, and a bare name with the system's program alone", () => {
  const rules = (effect: "allow" | "deny") =>
    policyWith(
      {
        name: "r",
        effect,
        capabilities: ["exec"],
        targets: ['["git","status"]', "make all", '["./build.sh"]'],
      },
      { name: "rest", effect: "ask", capabilities: ["exec"] },
    );
  const allow = rules("allow");
  const cases: [ResolvedAction, boolean][] = [
    [command(["/usr/bin/git", "status"]), true],
    [command(["/usr/local/bin/git", "status"], "/opt/git/bin/git"), true],
    [command(["/bin/sh", "-c", "make all"]), true],
    [command(["git", "status"], "/usr/bin/git"), true],
    [command(["git", "status"], `${WS}/git`), false],
    [command(["./build.sh"], `${WS}/build.sh`), true],
    [command(["./build.sh"], `${WS}/sub/build.sh`, `${WS}/sub`), false],
    [command(["build.sh"], "/usr/bin/build.sh"), false],
    [command(["/usr/bin/git", "status", "-s"]), false],
    [command(["/usr/bin/git"]), false],
    [command(["/usr/bin/git", "Status"]), false],
    [command([`${WS}/git`, "status"]), false],
    [command([`${WS}/usr/bin/git`, "status"]), false],
    [command(["/usr/bin/env", "git", "status"]), false],
    [command(["/bin/sh", "-c", "git status"]), false],
    [command(["/bin/sh", "-c", "make all; curl evil"]), false],
    [command(["/bin/sh", "-c", "make  all"]), false],
    [command(["/bin/bash", "-c", "make all"]), false],
  ];
  for (const [one, matches] of cases) {
    assertEquals([one.target, decided(one, allow)], [one.target, matches ? "allow r" : "ask rest"]);
  }
  const deny = rules("deny");
  assertEquals(decided(command([`${WS}/git`, "status"]), deny), "deny r");
  assertEquals(decided(command([`${WS}/renamed`, "status"], "/usr/bin/git"), deny), "deny r");
});

Deno.test("readRules() takes exact commands as lists and as texts, and refuses what is neither", () => {
  const problems = (targets: string[]) =>
    readRules([{ name: "a", effect: "allow", capabilities: ["exec"], targets }]).problems;
  assertEquals(problems(['["git"]', ' ["git","status"]', "make all", "echo '[x]'"]), []);
  for (
    const target of [
      "[git]",
      "[]",
      "[1]",
      '["git"] && x',
      "[ -f x ] && y",
      '[""]',
      "a\0b",
      "\ud800",
    ]
  ) {
    assertEquals([target, problems([target]).length], [target, 1]);
  }
});

Deno.test("decide() denies the service's own whatever configured rules say", () => {
  fc.assert(fc.property(
    fc.array(configuredRule(fc.constantFrom("allow", "ask", "deny")), { maxLength: 4 }),
    fc.constantFrom("config.json", "keys/audit", "data/service.db", "run/lock", "audit/x"),
    fc.constantFrom("read" as const, "write" as const),
    anyContext,
    anyPolicy,
    (configured, name, access, context, any) => {
      const policy = { ...any, rules: [...configured, ...any.rules], ownPaths: POLICY.ownPaths };
      const one = pathAction(`/home/p/.service/${name}`, access);
      assertEquals(decide(one, context, policy).effect, "deny");
    },
  ));
});

Deno.test("decide() never allows more when the operator's rules get one more that denies, anywhere", () => {
  const openness = { allow: 2, ask: 1, deny: 0 };
  const deny = configuredRule(fc.constant("deny"));
  const others = fc.array(configuredRule(fc.constantFrom("allow", "ask", "deny")), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(
      anyAction,
      anyContext,
      anyPolicy,
      others,
      deny,
      fc.nat(6),
      (one, context, any, rules, added, place) => {
        const before = { ...any, rules: [...rules, ...DEFAULT_RULES] };
        const after = { ...any, rules: [...rules.toSpliced(place, 0, added), ...DEFAULT_RULES] };
        const [was, is] = [before, after].map((policy) => decide(one, context, policy).effect);
        assert(openness[is!] <= openness[was!], `${was} became ${is}`);
      },
    ),
    { numRuns: rounds(1_000) },
  );
});

Deno.test("decide() is changed by a rule only where that rule is the first that matches", () => {
  fc.assert(fc.property(
    anyAction,
    anyContext,
    anyPolicy,
    configuredRule(fc.constantFrom("allow", "ask", "deny")),
    (one, context, policy, added) => {
      const settled = { ...policy, latched: [], grants: [], canAsk: true, stateDamaged: undefined };
      const attended = { ...context, attended: true };
      const before = decide(one, attended, settled);
      const first = decide(one, attended, { ...settled, rules: [added, ...policy.rules] });
      // What reaches a whole folder depends on all rules; another test is about that.
      const facts = { action: one, context: attended, beforeLookup: false };
      const reaches = CONDITIONS["denied.below"]({
        ...facts,
        policy: { ...settled, rules: [added, ...policy.rules] },
      });
      if (!reaches && first.rule !== "configured") assertEquals(first, before);
      // After one that matches anything, it is never reached.
      const all = { name: "all", effect: "ask" as const, when: [], reason: "all" };
      const after = decide(one, attended, { ...settled, rules: [all, added] });
      assertEquals(after, decide(one, attended, { ...settled, rules: [all] }));
    },
  ));
});

Deno.test("decide() asks about what reaches a whole folder in which a rule denies something", () => {
  const isFolder = { file: { isDirectory: true, dev: 1, ino: 2, links: 2 } };
  const folder = (path: string) => pathAction(path, "read", isFolder);
  const git = command(["/usr/bin/git", "status"]);
  const deny = (...targets: string[]) =>
    policyWith({ name: "d", effect: "deny", capabilities: ["fs.read"], targets });
  const cases: [Policy, string, string][] = [
    [deny("workspace/secrets/**"), WS, "ask denied.below"],
    [deny("workspace/secrets/**"), `${WS}/secrets`, "deny d"],
    [deny("workspace/secrets/**"), `${WS}/src`, "allow workspace.read"],
    [deny("workspace/secrets/**"), `${WS}/secrets-not`, "allow workspace.read"],
    [deny("workspace/a/b/c.txt"), `${WS}/a`, "ask denied.below"],
    [deny("workspace/a/b/c.txt"), `${WS}/A/b`, "ask denied.below"],
    [deny("workspace/a/b/c.txt"), `${WS}/a/x`, "allow workspace.read"],
    [deny("workspace/**/*.csv"), `${WS}/a/x`, "ask denied.below"],
    [deny(`${WS}/a/*`), WS, "ask denied.below"],
    [deny("/srv/**"), WS, "allow workspace.read"],
    [deny("workspace/a"), "/home", "ask denied.below"],
  ];
  for (const [policy, path, expected] of cases) {
    assertEquals([path, decided(folder(path), policy)], [path, expected]);
  }
  assertEquals(decided(git, deny("workspace/secrets/**")), "ask denied.below");
  assertEquals(decided(git, deny("/srv/**")), "allow exec.sandboxed");
  assertEquals(
    decided(git, policyWith({ name: "d", effect: "deny", capabilities: ["net.fetch"] })),
    "allow exec.sandboxed",
  );
  // A file is decided by itself, and a rule for another channel denies nothing here.
  assertEquals(
    decided(pathAction(`${WS}/a.txt`), deny("workspace/secrets/**")),
    "allow workspace.read",
  );
  const other = policyWith({
    name: "d",
    effect: "deny",
    capabilities: ["fs.read"],
    targets: ["workspace/secrets/**"],
    channels: ["telegram"],
  });
  assertEquals(decided(folder(WS), other), "allow workspace.read");
  // A rule for everything is not meant for it; the operator may still open the folder by its name.
  const wide = policyWith(
    { name: "d", effect: "deny", capabilities: ["fs.read"], targets: ["workspace/secrets/**"] },
    { name: "wide", effect: "allow", capabilities: ["fs.read"], targets: ["workspace/**"] },
    { name: "run", effect: "allow", capabilities: ["exec"], targets: ['["git","log"]'] },
    { name: "runs", effect: "allow", capabilities: ["exec"] },
  );
  assertEquals(decided(folder(WS), wide), "ask denied.below");
  assertEquals(decided(folder(`${WS}/src`), wide), "allow wide");
  assertEquals(decided(pathAction(`${WS}/a.txt`), wide), "allow wide");
  assertEquals(decided(git, wide), "ask denied.below");
  assertEquals(decided(command(["/usr/bin/git", "log"]), wide), "allow run");
  // What is denied by default stays so.
  const opened = policyWith(
    { name: "root", effect: "allow", capabilities: ["fs.read"], targets: ["workspace"] },
    { name: "d", effect: "deny", capabilities: ["fs.read"], targets: ["workspace/secrets/**"] },
  );
  assertEquals(decided(folder(WS), opened), "allow root");
  assertEquals(decided(folder("/home/p/.ssh"), deny("/home/p/.ssh/x")), "deny credentials");
});
