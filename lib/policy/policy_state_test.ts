import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { CommandTarget, PathTarget } from "../contract/actions.ts";
import { grantTarget } from "./grant_target.ts";
import { decide, decideBeforeLookup, type Policy } from "./policy.ts";
import {
  action,
  anyAction,
  anyContext,
  anyGrant,
  anyLatch,
  anyPolicy,
  chatAction,
  CONTEXT,
  grantFor,
  pathAction,
  POLICY,
  rule,
  urlAction,
} from "../authority/testing/policy_arbitraries.ts";

const OPENNESS = { allow: 2, ask: 1, deny: 0 };
const ALONE = { ...CONTEXT, attended: false };
const outside = pathAction("/srv/report.txt", "write");
const { sessionKey } = CONTEXT;

function command(argv: string[], more: Partial<CommandTarget> = {}) {
  const { workspace } = POLICY;
  return action("exec", { kind: "command", argv, program: argv[0]!, cwd: workspace, ...more });
}

Deno.test("G1 decide() denies unattended actions without an exact grant, and allows one with it", () => {
  const inside = pathAction(`${POLICY.workspace}/a.txt`);
  const actions = [
    inside,
    outside,
    urlAction("https://a.example/x?y=1"),
    chatAction("telegram", "5"),
    command(["/usr/bin/git", "status"]),
  ];
  for (const one of actions) {
    assertEquals(rule(decide(one, ALONE, POLICY)), "deny unattended");
    const policy = { ...POLICY, grants: [grantFor(one, sessionKey)] };
    assertEquals(rule(decide(one, ALONE, policy)), "allow grant:gr_0123456789abcdef");
    // Of somebody else, or in a session whose key only looks like it.
    for (const other of ["api:other", `${sessionKey} `, sessionKey.toUpperCase(), ""]) {
      const theirs = { ...POLICY, grants: [grantFor(one, other)] };
      assertEquals(rule(decide(one, ALONE, theirs)), "deny unattended");
    }
  }
});

Deno.test("G2 decide() denies an unattended action that is one character or one host from its grant", () => {
  const near = [
    [command(["/usr/bin/git", "status"]), [
      command(["/usr/bin/git", "status "]),
      command(["/usr/bin/git", "status", ""]),
      command(["/usr/bin/git status"], { program: "/usr/bin/git" }),
      command(["/usr/bin/git", "status"], { cwd: `${POLICY.workspace}/sub` }),
      command(["/usr/bin/git", "status"], { program: "/usr/bin/got" }),
    ]],
    [urlAction("https://a.example/x"), [
      urlAction("https://b.example/x"),
      urlAction("https://a.example.evil.net/x"),
      urlAction("https://a.example/x?"),
      urlAction("https://a.example/x/"),
      urlAction("http://a.example/x"),
      urlAction("https://a.example:444/x"),
    ]],
    [outside, [
      pathAction("/srv/report.txt"),
      pathAction("/srv/report.txt~", "write"),
      pathAction("/srv/Report.txt", "write"),
      pathAction("/srv", "write"),
    ]],
    [chatAction("telegram", "5"), [
      chatAction("telegram", "55"),
      chatAction("telegram.work", "5"),
      chatAction("telegram:5", ""),
    ]],
  ] as const;
  for (const [granted, others] of near) {
    const policy = { ...POLICY, grants: [grantFor(granted, sessionKey)] };
    assertEquals(decide(granted, ALONE, policy).effect, "allow");
    for (const other of others) {
      assertEquals([other.target, rule(decide(other, ALONE, policy))], [
        other.target,
        "deny unattended",
      ]);
    }
  }
});

Deno.test("G3 decide() no longer lets a grant hold whose target now resolves elsewhere", () => {
  const link = (real: string): Partial<PathTarget> => ({
    path: "/srv/current.txt",
    viaLink: true,
    real,
  });
  const before = pathAction("/srv/current.txt", "write", link("/srv/v1.txt"));
  const after = pathAction("/srv/current.txt", "write", link("/srv/v2.txt"));
  const policy = { ...POLICY, grants: [grantFor(before, sessionKey)] };
  assertEquals(decide(before, ALONE, policy).effect, "allow");
  assertEquals(rule(decide(after, ALONE, policy)), "deny unattended");
  // The same name for another program.
  const tool = command(["/usr/local/bin/tool"], { program: "/opt/tool-1" });
  const renamed = command(["/usr/local/bin/tool"], { program: "/opt/tool-2" });
  const granted = { ...POLICY, grants: [grantFor(tool, sessionKey)] };
  assertEquals(decide(tool, ALONE, granted).effect, "allow");
  assertEquals(decide(renamed, ALONE, granted).effect, "deny");
  // A host that now leads into the network of this machine.
  const url = urlAction("https://a.example/");
  const fetch = { ...POLICY, grants: [grantFor(url, sessionKey)] };
  assertEquals(decide(url, ALONE, fetch).effect, "allow");
  const rebound = urlAction("https://a.example/", ["93.184.216.34", "10.0.0.1"]);
  assertEquals(rule(decide(rebound, ALONE, fetch)), "deny fetch.private");
});

Deno.test("G21 decide() takes approval of one command for no other that looks like it", () => {
  const shell = (text: string) => command(["/bin/sh", "-c", text]);
  const same = [
    command(["/usr/bin/node", "a.js"]),
    command(["/usr/bin/env", "node", "a.js"]),
    shell("node a.js"),
    shell("echo x | node a.js"),
    shell("$(echo node) a.js"),
    shell("alias n=node; n a.js"),
    shell("node  a.js"),
    command([`${POLICY.workspace}/node`, "a.js"]),
    command(["/usr/local/bin/node", "a.js"], { program: "/usr/bin/python3" }),
  ];
  for (const one of same) {
    const policy = { ...POLICY, grants: [grantFor(one, sessionKey)] };
    for (const other of same) {
      const expected = one === other ? "allow" : "deny";
      assertEquals([other.target, decide(other, ALONE, policy).effect], [other.target, expected]);
    }
  }
});

Deno.test("decide() allows by a grant what it would ask, and nothing that a rule denies", () => {
  const granted = (...actions: typeof outside[]): Policy => ({
    ...POLICY,
    grants: actions.map((one) => grantFor(one, sessionKey)),
  });
  assertEquals(rule(decide(outside, CONTEXT, POLICY)), "ask outside");
  assertEquals(decide(outside, CONTEXT, granted(outside)).effect, "allow");
  const env = pathAction(`${POLICY.workspace}/.env`);
  const own = pathAction("/home/p/.service/data/service.db");
  for (const context of [CONTEXT, ALONE]) {
    assertEquals(rule(decide(env, context, granted(env))), "deny credentials");
    assertEquals(rule(decide(own, context, granted(own))), "deny own");
  }
  const url = urlAction("https://a.example/", []);
  assertEquals(decideBeforeLookup(url, ALONE, granted(url)).effect, "allow");
  assertEquals(rule(decide(url, ALONE, granted(url))), "deny unresolved");
});

Deno.test("G9 decide() denies in a latched session what it would ask there, and nothing else", () => {
  const policy = { ...POLICY, latched: [{ sessionKey, capability: "fs.write" as const }] };
  const decision = decide(outside, CONTEXT, policy);
  assertEquals(rule(decision), "deny latched");
  assertStringIncludes(decision.reason, "fs.write");
  const other = { ...CONTEXT, sessionKey: "cli:other" };
  assertEquals(rule(decide(outside, other, policy)), "ask outside");
  assertEquals(rule(decide(pathAction("/srv/report.txt"), CONTEXT, policy)), "ask outside");
  const inside = pathAction(`${POLICY.workspace}/a`, "write");
  assertEquals(rule(decide(inside, CONTEXT, policy)), "allow workspace.write");
  // A person's denial is newer than what an operator granted in advance.
  const granted = { ...policy, grants: [grantFor(outside, sessionKey)] };
  assertEquals(rule(decide(outside, CONTEXT, granted)), "deny latched");
});

Deno.test("decide() refuses at once what it would ask when nobody could answer", () => {
  const policy = { ...POLICY, canAsk: false };
  assertEquals(rule(decide(outside, CONTEXT, policy)), "deny nobody");
  const granted = { ...policy, grants: [grantFor(outside, sessionKey)] };
  assertEquals(decide(outside, CONTEXT, granted).effect, "allow");
  assertEquals(decide(pathAction(POLICY.workspace), CONTEXT, policy).effect, "allow");
});

Deno.test("G11 decide() refuses whatever takes a grant or a person while the state is damaged", () => {
  const policy: Policy = {
    ...POLICY,
    stateDamaged: "grants.json does not carry its seal",
    grants: [grantFor(outside, sessionKey)],
  };
  for (const context of [CONTEXT, ALONE]) {
    const decision = decide(outside, context, policy);
    assertEquals(rule(decision), "deny state");
    assertStringIncludes(decision.reason, "seal");
  }
  assertEquals(decide(pathAction(POLICY.workspace), CONTEXT, policy).effect, "allow");
});

Deno.test("decide() runs commands in the sandbox, asks where they may do without, and denies else", () => {
  const git = command(["/usr/bin/git", "status"]);
  const off: Policy = { ...POLICY, confined: false, exec: { mode: "off", reason: "no bwrap" } };
  assertEquals(rule(decide(git, CONTEXT, POLICY)), "allow exec.sandboxed");
  assertEquals(
    rule(decide(git, CONTEXT, { ...off, exec: { mode: "unconfined" } })),
    "ask exec.unconfined",
  );
  // G22: neither a rule nor a grant makes it fall back to the host.
  const allowAll = { name: "all", effect: "allow" as const, when: [], reason: "all" };
  const open = { ...off, rules: [allowAll], grants: [grantFor(git, sessionKey)] };
  for (const context of [CONTEXT, ALONE]) {
    assertEquals(decide(git, context, open), {
      effect: "deny",
      rule: "exec.off",
      reason: "no bwrap",
    });
  }
  const home = "/home/p/.service";
  const own = command([`${home}/keys/x`]);
  assertEquals(rule(decide(own, CONTEXT, { ...POLICY, rules: [allowAll] })), "deny own");
});

Deno.test("decide() changes nothing but a grant's own exact action when it is added", () => {
  fc.assert(fc.property(
    anyAction,
    anyContext,
    anyPolicy,
    fc.option(anyGrant, { nil: undefined }),
    (one, context, policy, other) => {
      const grant = other ?? grantFor(one, context.sessionKey);
      const before = decide(one, context, policy);
      const after = decide(one, context, { ...policy, grants: [...policy.grants, grant] });
      const isOwn = grant.subject === context.sessionKey && grant.capability === one.capability &&
        grant.target === grantTarget(one.target);
      if (!isOwn) assertEquals(after, before);
      else assert(OPENNESS[after.effect] >= OPENNESS[before.effect]);
      if (after.effect !== before.effect) assertEquals(after.effect, "allow");
    },
  ));
});

Deno.test("decide() never allows more when a latch is added, nobody can answer or the state is damaged", () => {
  fc.assert(fc.property(
    anyAction,
    anyContext,
    anyPolicy,
    anyLatch,
    (one, context, policy, latch) => {
      const before = decide(one, context, policy).effect;
      const narrower: Policy[] = [
        { ...policy, latched: [...policy.latched, latch] },
        { ...policy, canAsk: false },
        { ...policy, stateDamaged: "damaged" },
        { ...policy, grants: [] },
      ];
      for (const policy of narrower) {
        assert(OPENNESS[decide(one, context, policy).effect] <= OPENNESS[before]);
      }
    },
  ));
});

Deno.test("grantTarget() tells any two targets of a kind apart", () => {
  fc.assert(fc.property(anyAction, anyAction, (a, b) => {
    const [one, other] = [a.target, b.target];
    if (one.kind !== other.kind || one.kind === "unresolved") return;
    const text = grantTarget(one);
    if (text === undefined || text !== grantTarget(other)) return;
    switch (one.kind) {
      case "path":
        return assertEquals(one.real, (other as typeof one).real);
      case "url":
        assertEquals(one.headers, (other as typeof one).headers);
        return assertEquals(one.url, (other as typeof one).url);
      default:
        return assertEquals(one, other);
    }
  }));
  const chat = (channel: string, chatId: string) => grantTarget({ kind: "chat", channel, chatId });
  assertEquals(chat("a", "b:c"), "a:b:c");
  assertEquals(chat("a:b", "c"), undefined);
  const mcp = (server: string, tool: string, definition = "0".repeat(64)) =>
    grantTarget({ kind: "mcp", server, tool, definition });
  assertEquals(mcp("a", "b/c"), `a/b/c#${"0".repeat(64)}`);
  assertEquals([mcp("a/b", "c"), mcp("a", "b", "0"), mcp("a", "b", "")], [
    undefined,
    undefined,
    undefined,
  ]);
  const secret = (name: string, host: string, port: number) =>
    grantTarget({ kind: "secret", name, recipient: { kind: "host", host, port } });
  assertEquals([secret("K", "::1", 443), secret("K@a", "b", 1)], ["K@[::1]:443", undefined]);
  const argv = (...words: string[]) => grantTarget(command(words, { program: "/p" }).target);
  assertNotEquals(argv("a", "b c"), argv("a", "b", "c"));
});
