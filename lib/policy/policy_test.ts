import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ActionContext, ResolvedAction } from "../contract/actions.ts";
import { DEFAULT_RULES } from "./default_rules.ts";
import { decide, decideBeforeLookup, type Rule } from "./policy.ts";
import {
  action,
  anyAction,
  anyContext,
  anyPolicy,
  anyRule,
  capability,
  chatAction,
  chatTarget,
  CONTEXT,
  pathAction,
  POLICY,
  rule,
  someEntry,
  unresolved,
  urlAction,
} from "../authority/testing/policy_arbitraries.ts";

Deno.test("decide() names the rule that holds for a path", () => {
  const ws = POLICY.workspace;
  const cases: [ResolvedAction, string][] = [
    [pathAction(`${ws}/a.txt`), "allow workspace.read"],
    [pathAction(ws), "allow workspace.read"],
    [pathAction(`${ws}/a.txt`, "write"), "allow workspace.write"],
    [pathAction(`${ws}-other/a.txt`), "deny own"],
    [pathAction("/home/p/.service/data/service.db"), "deny own"],
    [pathAction("/home/p/.SERVICE/Data"), "deny own"],
    [pathAction("/home/p/.service/config.json"), "deny own"],
    [pathAction("/home/p/notes.md"), "ask outside"],
    [pathAction("/home/p/.ssh/known_hosts"), "deny credentials"],
    [pathAction(`${ws}/.env`, "write"), "deny credentials"],
    [pathAction(`${ws}/b.txt`, "read", { path: `${ws}/.env` }), "deny credentials"],
    [pathAction(`${ws}/AGENTS.md`), "allow workspace.read"],
    [pathAction(`${ws}/AGENTS.md`, "write"), "ask workspace.guarded"],
    [pathAction(`${ws}/.git/hooks/pre-commit`, "write"), "ask workspace.guarded"],
    [pathAction(`${ws}/.git/HEAD`, "write"), "allow workspace.write"],
    [pathAction("/opt/service/lib/a.ts", "write"), "deny own.source"],
    [pathAction("/opt/service/lib/a.ts"), "ask outside"],
    [pathAction("/proc/1/environ"), "deny kernel"],
    [
      pathAction(`${ws}/a`, "read", { file: { isDirectory: false, dev: 1, ino: 2, links: 2 } }),
      "ask hard_link",
    ],
    [
      pathAction(`${ws}/a`, "read", { file: { isDirectory: true, dev: 1, ino: 2, links: 2 } }),
      "allow workspace.read",
    ],
    [action("exec", { kind: "unresolved", what: "x", reason: "y" }), "deny unresolved"],
    [action("message.send", pathAction(`${ws}/a`).target), "ask message.other"],
    [action("mcp.call", pathAction(`${ws}/a`).target), "ask mcp.other"],
  ];
  for (const [one, expected] of cases) {
    assertEquals([one.target, rule(decide(one, CONTEXT, POLICY))], [one.target, expected]);
  }
});

Deno.test("decide() denies a path by its more precise owner when a workspace lies in a home", () => {
  const nested = { ...POLICY, ownPaths: [...POLICY.ownPaths, `${POLICY.workspace}/config.json`] };
  assertEquals(
    rule(decide(pathAction(`${POLICY.workspace}/config.json`), CONTEXT, nested)),
    "deny own",
  );
  const clone = { ...POLICY, ownPaths: [], sourcePaths: ["/home/p"] };
  const write = (path: string) => rule(decide(pathAction(path, "write"), CONTEXT, clone));
  assertEquals(write(`${POLICY.workspace}/a`), "allow workspace.write");
  assertEquals(write("/home/p/lib/a.ts"), "deny own.source");
  const same = { ...POLICY, ownPaths: [POLICY.workspace] };
  assertEquals(rule(decide(pathAction(`${POLICY.workspace}/a`), CONTEXT, same)), "deny own");
});

Deno.test("decide() denies a path through a link when there is no sandbox", () => {
  const linked = pathAction(`${POLICY.workspace}/a`, "read", { viaLink: true });
  assertEquals(rule(decide(linked, CONTEXT, POLICY)), "allow workspace.read");
  const unconfined = { ...POLICY, confined: false };
  assertEquals(rule(decide(linked, CONTEXT, unconfined)), "deny link.unconfined");
});

Deno.test("decide() allows a fetch by the person's words or an earlier result, and asks otherwise", () => {
  const said = { ...CONTEXT, personHosts: ["example.com", "münchen.example"] };
  const cases: [string, ActionContext, string][] = [
    ["https://example.com/x", CONTEXT, "ask fetch.other"],
    ["https://example.com/x", said, "allow fetch.person"],
    ["https://EXAMPLE.com./x", said, "ask fetch.other"],
    ["https://www.example.com/", said, "ask fetch.other"],
    ["https://example.com.evil.net/", said, "ask fetch.other"],
    ["https://xn--mnchen-3ya.example/", said, "allow fetch.person"],
    [
      "https://a.net/p?q=1",
      { ...CONTEXT, toolUrls: ["https://a.net/p?q=1#part"] },
      "allow fetch.result",
    ],
    [
      "https://a.net/p?q=1",
      { ...CONTEXT, toolUrls: ["https://A.net:443/p?q=1"] },
      "allow fetch.result",
    ],
    ["https://a.net/p?q=12", { ...CONTEXT, toolUrls: ["https://a.net/p?q=1"] }, "ask fetch.other"],
    ["http://a.net/p?q=1", { ...CONTEXT, toolUrls: ["https://a.net/p?q=1"] }, "ask fetch.other"],
  ];
  for (const [url, context, expected] of cases) {
    assertEquals([url, rule(decide(urlAction(url), context, POLICY))], [url, expected]);
  }
});

Deno.test("decide() denies private addresses unless they are listed, one among public ones too", () => {
  const said = { ...CONTEXT, personHosts: ["a.net", "10.0.0.5"] };
  const mixed = urlAction("http://a.net:8080/", ["93.184.216.34", "10.0.0.5"]);
  const expected: [string[], string][] = [
    [[], "deny fetch.private"],
    [["a.net"], "allow fetch.person"],
    [["A.NET."], "allow fetch.person"],
    [["a.net:8080"], "allow fetch.person"],
    [["a.net:80"], "deny fetch.private"],
    [["10.0.0.5"], "allow fetch.person"],
    [["10.0.0.5:8080"], "allow fetch.person"],
    [["10.0.0.5:81"], "deny fetch.private"],
    [["::ffff:10.0.0.5", "[::ffff:10.0.0.5]:8080"], "allow fetch.person"],
    [["10.0.0.6"], "deny fetch.private"],
  ];
  for (const [privateHosts, decision] of expected) {
    const policy = { ...POLICY, privateHosts };
    assertEquals([privateHosts, rule(decide(mixed, said, policy))], [privateHosts, decision]);
  }
  assertEquals(rule(decide(urlAction("http://a.net/", []), said, POLICY)), "deny unresolved");
  assertEquals(
    rule(decideBeforeLookup(urlAction("http://a.net/", []), said, POLICY)),
    "allow fetch.person",
  );
  assertEquals(
    rule(decideBeforeLookup(urlAction("http://b.net/", []), said, POLICY)),
    "ask fetch.other",
  );
});

Deno.test("decide() allows a message to a chat that is listed, exactly, and asks otherwise", () => {
  const cases: [channel: string, chatId: string, messageTargets: string[], string][] = [
    ["telegram", "12345", [], "ask message.other"],
    ["telegram", "12345", ["telegram:12345"], "allow message.listed"],
    ["telegram", "123456", ["telegram:12345"], "ask message.other"],
    ["telegram", "1234", ["telegram:12345"], "ask message.other"],
    ["telegram", " 12345", ["telegram:12345"], "ask message.other"],
    ["telegram", "١٢٣٤٥", ["telegram:12345"], "ask message.other"],
    ["irc", "#Ops", ["irc:#ops"], "ask message.other"],
    ["telegram", "12345", ["telegram:*"], "allow message.listed"],
    ["telegram", "12345", ["telegram:1*", "telegram:*5", "tele*:12345"], "ask message.other"],
    ["telegram.work", "12345", ["telegram:*", "telegram:12345"], "ask message.other"],
    ["telegram", "12345", ["telegram.work:*"], "ask message.other"],
    ["telegram.work", "12345", ["slack:C1", "telegram.work:12345"], "allow message.listed"],
    // Only the first colon divides.
    ["matrix", "!room:example.org", ["matrix:!room:example.org"], "allow message.listed"],
    ["matrix", "!room:example.org", ["matrix:!room:*"], "ask message.other"],
    ["a:b", "c", ["a:b:c"], "ask message.other"],
    ["a", "b:c", ["a:b:c"], "allow message.listed"],
    // What is no entry at all names nothing.
    ["telegram", "", ["telegram", "*", "*:*", ":*", ":", ""], "ask message.other"],
    ["", "", ["*", "*:*", ""], "ask message.other"],
  ];
  for (const [channel, chatId, messageTargets, expected] of cases) {
    const policy = { ...POLICY, messageTargets };
    const one = chatAction(channel, chatId);
    assertEquals([one.target, messageTargets, rule(decide(one, CONTEXT, policy))], [
      one.target,
      messageTargets,
      expected,
    ]);
    const unattended = decide(one, { ...CONTEXT, attended: false }, policy);
    assertEquals(rule(unattended), "deny unattended");
  }
});

Deno.test("decide() takes no longer than writing its action as JSON a hundred times", () => {
  const many = Array.from({ length: 2_000 }, (_, index) => `https://host-${index}.example/page`);
  const context = { ...CONTEXT, personHosts: ["example.com"] };
  const one = pathAction(`${POLICY.workspace}/src/deep/folder/file.ts`, "write");
  const urls = urlAction("https://other.net/");
  assertEquals(decide(urls, { ...context, toolUrls: many }, POLICY).effect, "ask");
  // By turns, so that both see the same machine.
  const best = { decide: Infinity, stringify: Infinity };
  const timed = (name: keyof typeof best, run: () => unknown) => {
    const start = performance.now();
    for (let round = 0; round < 200; round++) run();
    best[name] = Math.min(best[name], performance.now() - start);
  };
  for (let round = 0; round < 20; round++) {
    timed("decide", () => decide(one, context, POLICY));
    timed("stringify", () => JSON.stringify(one));
  }
  assert(best.decide < best.stringify * 100, JSON.stringify(best));
});

const OPENNESS = { allow: 2, ask: 1, deny: 0 };

Deno.test("decide() is total: any action, context and policy get one effect and a reason", () => {
  fc.assert(fc.property(anyAction, anyContext, anyPolicy, (one, context, policy) => {
    for (
      const decision of [decide(one, context, policy), decideBeforeLookup(one, context, policy)]
    ) {
      assert(decision.effect in OPENNESS);
      assert(decision.rule !== "" && typeof decision.reason === "string");
    }
    assertEquals(decide(one, context, policy), decide(one, context, policy));
  }));
});

Deno.test("decide() never allows more when a deny rule is added anywhere", () => {
  fc.assert(fc.property(
    anyAction,
    anyContext,
    anyPolicy,
    anyRule(fc.constant("deny")),
    fc.nat(20),
    (one, context, policy, added, place) => {
      const rules = policy.rules.toSpliced(place, 0, added);
      const before = decide(one, context, policy).effect;
      const after = decide(one, context, { ...policy, rules }).effect;
      assert(OPENNESS[after] <= OPENNESS[before], `${before} became ${after}`);
    },
  ));
});

Deno.test("decide() allows a message only if an entry says this chat or its whole channel", () => {
  fc.assert(fc.property(
    chatTarget,
    fc.array(someEntry, { maxLength: 4 }),
    anyContext,
    (target, messageTargets, context) => {
      const { channel, chatId } = target;
      const policy = { ...POLICY, messageTargets };
      const decision = decide(action("message.send", target), context, policy);
      const isListed = !channel.includes(":") &&
        (messageTargets.includes(`${channel}:${chatId}`) ||
          messageTargets.includes(`${channel}:*`));
      const expected = !context.attended ? "deny" : isListed ? "allow" : "ask";
      assertEquals(decision.effect, expected);
    },
  ));
});

Deno.test("decide() allows nothing else when a message target is added", () => {
  fc.assert(
    fc.property(anyAction, anyContext, anyPolicy, someEntry, (one, context, policy, entry) => {
      const defaults = { ...policy, rules: DEFAULT_RULES };
      const more = { ...defaults, messageTargets: [...policy.messageTargets, entry] };
      const before = decide(one, context, defaults);
      const after = decide(one, context, more);
      if (one.target.kind !== "chat" || one.capability !== "message.send") {
        assertEquals(after, before);
        return;
      }
      const { channel, chatId } = one.target;
      if (entry !== `${channel}:${chatId}` && entry !== `${channel}:*`) assertEquals(after, before);
    }),
  );
});

Deno.test("decide() never asks in an unattended turn, and allows by a grant alone", () => {
  fc.assert(fc.property(anyAction, anyContext, anyPolicy, (one, context, policy) => {
    const decision = decide(one, { ...context, attended: false }, policy);
    assert(decision.effect !== "ask");
    if (decision.effect === "allow") assert(decision.rule.startsWith("grant:"), decision.rule);
    const without = { ...policy, grants: [] };
    assertEquals(decide(one, { ...context, attended: false }, without).effect, "deny");
  }));
});

Deno.test("decide() never allows what is unresolved, whatever the rules say", () => {
  const allowAll: Rule = { name: "all", effect: "allow", when: [], reason: "all" };
  fc.assert(
    fc.property(capability, unresolved, anyContext, anyPolicy, (one, target, context, policy) => {
      const rules = [allowAll, ...policy.rules];
      assertEquals(decide(action(one, target), context, { ...policy, rules }).effect, "deny");
    }),
  );
  const own = pathAction("/home/p/.service/data/service.db");
  assertEquals(decide(own, CONTEXT, { ...POLICY, rules: [allowAll] }).effect, "deny");
});
