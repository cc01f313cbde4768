import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { testDescriptor } from "../setup/testing/test_descriptor.ts";
import { accountsAdapter } from "./accounts_adapter.ts";
import { instancesOf } from "./instances_of.ts";

const descriptor = testDescriptor();
const adapter = accountsAdapter(descriptor);
const CHANNEL = { descriptor, adapter };

/** Runtime names, with a `-` behind those that are off. */
function routes(section: Record<string, unknown>): string[] {
  return instancesOf(CHANNEL, section).map(({ runtimeName, enabled }) =>
    enabled ? runtimeName : `${runtimeName}-`
  );
}

Deno.test("accountsAdapter() has the top level and each account as an instance (C16)", () => {
  const top = { enabled: true, server: "a.example", bot_token: "t", port: 1 };
  assertEquals(routes(top), ["chat"]);
  assertEquals(routes({ ...top, enabled: false }), ["chat-"]);
  assertEquals(routes({}), ["chat-"]);
  const section = {
    ...top,
    accounts: { work: { botToken: "w", port: 2 }, Home_1: { enabled: false, nick: "h" } },
  };
  assertEquals(routes(section), ["chat", "chat.work", "chat.Home_1-"]);
  assertEquals(adapter.instanceSpecs(section, false)[1], {
    instanceId: "work",
    config: { server: "a.example", botToken: "w", port: 2, enabled: true },
  });
  assertEquals(adapter.instanceSpecs(section).map(({ instanceId }) => instanceId), [
    "default",
    "work",
  ]);
});

Deno.test("accountsAdapter() has an account `default` be the top level, so that that can only be shared", () => {
  const shared = { enabled: true, server: "a.example", accounts: { work: { botToken: "w" } } };
  assertEquals(routes(shared), ["chat", "chat.work"]);
  const alone = { ...shared, accounts: { ...shared.accounts, default: { enabled: false } } };
  assertEquals(routes(alone), ["chat-", "chat.work"]);
  const named = { ...shared, accounts: { ...shared.accounts, default: { botToken: "d" } } };
  assertEquals(routes(named), ["chat", "chat.work"]);
  assertEquals(routes({ ...named, enabled: "no" }), ["chat-", "chat.work-"]);
});

Deno.test("accountsAdapter() throws for accounts that are malformed (C20)", () => {
  const cases: [unknown, string][] = [
    [[], "accounts is no object"],
    ["work", "accounts is no object"],
    [null, "accounts is no object"],
    [{ work: null }, "accounts.work is no object"],
    [{ work: [] }, "accounts.work is no object"],
    [{ work: { enabled: "maybe" } }, "accounts.work.enabled is no truth"],
    [{ "": {} }, '"" is no id of an account'],
    [{ "a.b": {} }, '"a.b" is no id'],
    [{ "../x": {} }, "is no id"],
    [{ "a:b": {} }, "is no id"],
    [{ ["x".repeat(65)]: {} }, "is no id"],
  ];
  for (const [accounts, words] of cases) {
    const section = { enabled: true, accounts };
    assertThrows(() => adapter.instanceSpecs(section), Error, words);
    assertThrows(() => adapter.updateInstanceConfig(section, { nick: "a" }, "work"), Error, words);
  }
  assertThrows(() => adapter.updateInstanceConfig({}, {}, "a b"), Error, "is no id");
});

Deno.test("updateInstanceConfig() leaves siblings the very same (C18)", () => {
  const accounts = { work: { botToken: "w" }, home: { bot_token: "h", odd: [1] } };
  const section = { enabled: true, server: "a", botToken: "t", accounts };
  const update = (values: Record<string, unknown>, id: string, from: object = section) =>
    adapter.updateInstanceConfig({ ...from }, values, id) as typeof section;
  const off = update({ enabled: false }, "work");
  assertEquals(off, {
    ...section,
    accounts: { work: { botToken: "w", enabled: false }, home: accounts.home },
  } as never);
  assertEquals(off.accounts.home === accounts.home, true);
  assertEquals(routes(off), ["chat", "chat.work-", "chat.home"]);
  assertEquals(routes(update({ enabled: true }, "work", off)), ["chat", "chat.work", "chat.home"]);

  const withoutTop = update({ enabled: false }, "default");
  assertEquals(withoutTop.enabled, true);
  assertEquals(routes(withoutTop), ["chat-", "chat.work", "chat.home"]);
  assertEquals(withoutTop.accounts.work === accounts.work, true);
  assertEquals(routes(update({ enabled: true }, "default", withoutTop)), routes(section));

  const changed = update({ nick: "n", botToken: null, allowFrom: ["a"] }, "home");
  assertEquals(changed.accounts.home as object, { odd: [1], nick: "n", allowFrom: ["a"] });
  assertEquals(update({ nick: "n" }, "default"), { ...section, nick: "n" } as never);
});

Deno.test("updateInstanceConfig() makes an account that waits to be switched on", () => {
  const section = { enabled: true, server: "a", botToken: "t" };
  const made = adapter.updateInstanceConfig(section, { botToken: "n" }, "new");
  assertEquals(made, { ...section, accounts: { new: { enabled: false, botToken: "n" } } });
  assertEquals(routes(made), ["chat", "chat.new-"]);
  const on = adapter.updateInstanceConfig(made, { enabled: true }, "new");
  assertEquals(routes(on), ["chat", "chat.new"]);
});

Deno.test("updateInstanceConfig() switches no sibling on with an instance", () => {
  const section = { enabled: false, server: "a", botToken: "t", accounts: { work: {} } };
  for (const id of ["work", "default"]) {
    assertThrows(
      () => adapter.updateInstanceConfig(section, { enabled: true }, id),
      Error,
      "switched off as a whole",
    );
  }
  const alone = { enabled: false, server: "a", botToken: "t" };
  assertEquals(routes(adapter.updateInstanceConfig(alone, { enabled: true }, "default")), ["chat"]);
});

Deno.test("accountsAdapter() keeps the invariants whatever is stored", () => {
  const account = fc.record({
    enabled: fc.boolean(),
    nick: fc.string(),
    botToken: fc.string(),
  }, { requiredKeys: [] });
  const id = fc.stringMatching(/^[a-z0-9_-]{1,6}$/);
  const section = fc.record({
    enabled: fc.boolean(),
    server: fc.string(),
    botToken: fc.string(),
    accounts: fc.dictionary(id, account, { noNullPrototype: true }),
  }, { requiredKeys: [] });
  fc.assert(fc.property(section, id, fc.boolean(), (stored, which, enabled) => {
    fc.pre(which !== "__proto__");
    const before = instancesOf(CHANNEL, stored);
    let next;
    try {
      next = adapter.updateInstanceConfig(stored, { enabled }, which);
    } catch {
      return;
    }
    const after = instancesOf(CHANNEL, next);
    for (const one of before) {
      if (one.instanceId === which) continue;
      const same = after.find(({ instanceId }) => instanceId === one.instanceId)!;
      assertEquals(same, one);
    }
  }));
});
