import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import type { ChannelInstanceSpec, ManagementAdapter } from "../management.ts";
import { testDescriptor } from "../setup/testing/test_descriptor.ts";
import { instancesOf } from "./instances_of.ts";

const descriptor = testDescriptor();

function adapterOf(
  specs: readonly unknown[],
  more: Partial<ManagementAdapter> = {},
): ManagementAdapter {
  return {
    instanceSpecs: () => specs as ChannelInstanceSpec[],
    updateInstanceConfig: (section) => section,
    ...more,
  };
}

function problem(adapter: ManagementAdapter, section = {}): string {
  const error = assertThrows(() => instancesOf({ descriptor, adapter }, section), ServiceError);
  assertEquals(error.code, "config_invalid");
  assertStringIncludes(error.message, "Cannot use channels.chat: ");
  return error.message;
}

Deno.test("instancesOf() gives a channel without an adapter one instance, named like itself", () => {
  const one = (section: object) => instancesOf({ descriptor }, { ...section });
  assertEquals(one({ enabled: "yes" }), [
    { runtimeName: "chat", section: { enabled: "yes" }, enabled: true },
  ]);
  assertEquals(one({})[0]!.enabled, false);
  const usual = { descriptor: { ...descriptor, defaultActivation: true } };
  assertEquals(instancesOf(usual, {})[0]!.enabled, true);
});

Deno.test("instancesOf() routes two instances apart (C16)", () => {
  const specs = [
    { instanceId: "default", config: { nick: "a" } },
    { instanceId: "work", config: { nick: "b" } },
  ];
  const adapter = adapterOf(specs, {
    instanceSpecs: (_section, enabledOnly = true) => enabledOnly ? specs.slice(1) : specs,
  });
  assertEquals(instancesOf({ descriptor, adapter }, {}), [
    { instanceId: "default", runtimeName: "chat", section: { nick: "a" }, enabled: false },
    { instanceId: "work", runtimeName: "chat.work", section: { nick: "b" }, enabled: true },
  ]);
});

Deno.test("instancesOf() refuses what breaks an invariant, and says which (C17)", () => {
  const a = { instanceId: "a", config: {} };
  const b = { instanceId: "b", config: {} };
  const named = (name: unknown) => adapterOf([a], { runtimeName: () => name as string });
  const cases: [ManagementAdapter, string][] = [
    [adapterOf([a, { ...a }]), 'the instanceId "a" twice'],
    [adapterOf([{ instanceId: "  ", config: {} }]), "instance 0 a blank instanceId"],
    [adapterOf([{ instanceId: 7, config: {} }]), "instance 0 a blank instanceId"],
    [adapterOf([{ instanceId: "a" }]), 'the instance "a" no config'],
    [adapterOf([{ ...a, enabled: true }]), 'the instance "a" the key "enabled"'],
    [adapterOf([null]), "as instance 0 what is no object"],
    [adapterOf([a, b], { runtimeName: () => "chat" }), 'the same runtime name "chat"'],
    [
      adapterOf([a, b], { runtimeName: (name, id) => `${name}.${id === "a" ? "x" : "X"}` }),
      "the same runtime name",
    ],
    [named("email"), 'the runtime name "email": expected "chat", or one that begins with "chat."'],
    [named("chat-2"), 'begins with "chat."'],
    [named("chatter"), 'begins with "chat."'],
    [named("chat."), "expected A-Z"],
    [named("chat.a.b"), "expected A-Z"],
    [named("chat.../../keys"), "expected A-Z"],
    [named(`chat.${"x".repeat(200)}`), "at most 128"],
    [named(undefined), "no text as runtime name"],
    [adapterOf("ab" as never), "no list of instances"],
    [
      adapterOf([], { instanceSpecs: (_section, on = true) => on ? [a] : [] }),
      "switched on and not among all",
    ],
    [
      adapterOf(Array.from({ length: 1_001 }, (_, at) => ({ instanceId: `i${at}`, config: {} }))),
      "at most 1000",
    ],
  ];
  for (const [adapter, words] of cases) assertStringIncludes(problem(adapter), words);
});

Deno.test("instancesOf() tells what an adapter throws as the channel's, and lets it change nothing", () => {
  const throwing = adapterOf([], {
    instanceSpecs() {
      throw new Error("accounts.a is a list: expected an object");
    },
  });
  assertStringIncludes(problem(throwing), "accounts.a is a list: expected an object");
  const section = { accounts: { a: { nick: "x" } } };
  const writing = adapterOf([], {
    instanceSpecs(given) {
      (given.accounts as Record<string, Record<string, string>>).a!.nick = "y";
      return [];
    },
  });
  assertStringIncludes(problem(writing, section), "instanceSpecs of its adapter says");
  assertEquals(section.accounts.a.nick, "x");
});
