import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { rewrite } from "../../config/rewrite.ts";
import { ServiceError } from "../../base/errors.ts";
import type { ManagementAdapter, Section } from "../management.ts";
import { testDescriptor } from "../setup/testing/test_descriptor.ts";
import { accountsAdapter } from "./accounts_adapter.ts";
import { instanceViews } from "./instance_views.ts";
import { switchSection, updateSection } from "./update_section.ts";

const descriptor = testDescriptor();
const SINGLE = { descriptor };
const MULTI = { descriptor, adapter: accountsAdapter(descriptor) };

function errorOf(run: () => unknown): ServiceError {
  return assertThrows(run, ServiceError);
}

Deno.test("updateSection() writes values of the contract alone (C10, C11)", () => {
  const section = { enabled: true, bot_token: "kept", odd: 1 };
  const values = { nick: "n", bot_token: "" };
  assertEquals(updateSection({ channel: SINGLE, section, values }), {
    enabled: true,
    botToken: "kept",
    odd: 1,
    nick: "n",
  });
  const unknown = errorOf(() =>
    updateSection({ channel: MULTI, section, values: { accounts: {} }, instanceId: "work" })
  );
  assertEquals([unknown.code, unknown.details.param], ["invalid_request", "accounts"]);
  const instance = errorOf(() =>
    updateSection({ channel: SINGLE, section, values: {}, instanceId: "work" })
  );
  assertEquals([instance.code, instance.details.param], ["not_found", "instance_id"]);
});

Deno.test("updateSection() keeps what stands in a URL when it is sent back as it is shown (C11)", () => {
  const server = "https://ann:pass@irc.example/?token=t";
  const shown = "https://***@irc.example/?token=***";
  const single = { enabled: true, server, nick: "n" };
  const set = (channel: typeof SINGLE, section: Section, values: Section, instanceId?: string) =>
    updateSection({ channel, section, values, instanceId });
  assertEquals(set(SINGLE, single, { server: shown, nick: "m" }), { ...single, nick: "m" });
  assertEquals(set(SINGLE, single, { server: "b.example" }).server, "b.example");
  const several = { enabled: true, accounts: { work: { server } } };
  assertEquals(set(MULTI, several, { server: shown, nick: "m" }, "work"), {
    enabled: true,
    accounts: { work: { server, nick: "m" } },
  });
  assertEquals(set(SINGLE, { nick: "n" }, { nick: "n", server: shown }).server, shown);
});

Deno.test("switchSection() of one instance leaves the bytes of its siblings (C18)", () => {
  const text = `{
  // Chats of the house.
  "enabled": true, "server": "a.example", "bot_token": "t",
  "accounts": {
    "work":   { "bot_token": "w" , "port": 0x }, // odd on purpose
    "home": {"botToken":"h"}
  }
}`.replace("0x", "7");
  const section = JSON.parse(text.replace(/\/\/.*/g, ""));
  const next = switchSection({ channel: MULTI, section, enabled: false, instanceId: "home" });
  const written = rewrite(text, next);
  const line = text.split("\n")[4]!;
  assertEquals(written, text.replace('{"botToken":"h"}', '{"botToken":"h", "enabled": false}'));
  assertStringIncludes(written, line);
});

Deno.test("switchSection() switches the channel as a whole, and knows its instances", () => {
  const section = { enabled: true, accounts: { work: {} } };
  assertEquals(switchSection({ channel: MULTI, section, enabled: false }), {
    ...section,
    enabled: false,
  });
  const error = errorOf(() =>
    switchSection({ channel: MULTI, section, enabled: true, instanceId: "wrok" })
  );
  assertEquals([error.code, error.details.param], ["not_found", "instance_id"]);
  assertStringIncludes(error.message, "there are default, work");
});

Deno.test("updateSection() fails for a malformed stored instance (C20)", () => {
  const section = { enabled: true, accounts: { work: { nick: "a" }, home: [] } };
  const error = errorOf(() =>
    updateSection({ channel: MULTI, section, values: { nick: "b" }, instanceId: "work" })
  );
  assertEquals(error.code, "config_invalid");
  assertStringIncludes(error.message, "accounts.home is no object");
});

Deno.test("updateSection() refuses what an adapter does to other instances", () => {
  const wrong = (updateInstanceConfig: ManagementAdapter["updateInstanceConfig"]) => ({
    descriptor,
    adapter: { ...MULTI.adapter, updateInstanceConfig },
  });
  const section = { enabled: true, accounts: { work: {}, home: {} } };
  const update = (channel: typeof MULTI) =>
    errorOf(() => updateSection({ channel, section, values: { nick: "b" }, instanceId: "work" }));
  const cases: [(section: Section) => unknown, string][] = [
    [() => ({ enabled: true, accounts: { work: {} } }), "changes home with an update of work"],
    [(given) => ({ ...given, enabled: false }), "changes default with an update of work"],
    [() => undefined, "gives no section"],
    [() => ({ accounts: 3 }), "accounts is no object"],
  ];
  for (const [run, words] of cases) {
    const error = update(wrong((given) => run(given) as Section));
    assertEquals(error.code, "config_invalid");
    assertStringIncludes(error.message, words);
  }
});

Deno.test("instanceViews() shows no secret, and references as they are written (C11)", () => {
  const section = {
    enabled: true,
    server: "a",
    botToken: "t0p-secret",
    accounts: { work: { botToken: "an0ther-secret", nick: "from outside" } },
  };
  const written = { ...section, accounts: { work: { botToken: "${T}", nick: "${NICK}" } } };
  const [top, work] = instanceViews(MULTI, section, written);
  assertEquals(top!.id, "default");
  assertEquals({ ...work!, configuredFields: [], configValues: {} }, {
    id: "work",
    runtimeName: "chat.work",
    enabled: true,
    configured: true,
    missing: [],
    problems: [],
    configuredFields: [],
    configValues: {},
  });
  assertEquals(work!.configValues.nick, "${NICK}");
  assert(work!.configuredFields.includes("botToken"));
  const text = JSON.stringify([top, work]);
  assert(!/secret|outside/.test(text), text);
  assertEquals(instanceViews(SINGLE, section, section)[0]!.id, "default");
});

Deno.test("instanceViews() lets a presentation say names and pictures, and no state (C19)", () => {
  const section = { enabled: false, server: "a" };
  const views = (shown: unknown) =>
    instanceViews(
      { descriptor, adapter: { ...MULTI.adapter, featureInstances: () => shown as never } },
      section,
      section,
    );
  const [top] = views([
    { id: "default", name: "n", displayName: "The chat", avatarUrl: "https://a.example/x.png" },
    { id: "nobody", name: "x" },
  ]);
  assertEquals([top!.displayName, top!.enabled, top!.configured], ["The chat", false, false]);
  for (
    const wrong of [
      [{ id: "default", enabled: true }],
      [{ id: "default", runtimeName: "email" }],
      [{ id: "default", configured: true }],
      [{ name: "n" }],
      [{ id: "default", name: 7 }],
      [{ id: "default", avatarUrl: "javascript:alert(1)" }],
      [{ id: "default", name: "x".repeat(3_000) }],
      {},
    ]
  ) assertStringIncludes(errorOf(() => views(wrong)).message, "featureInstances of its adapter");
});
