import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ChannelPackage } from "../channel/channel_package.ts";
import type { ChannelDescriptor } from "../channel/descriptor.ts";
import type { Section } from "../channel/management.ts";
import { openRegistry } from "./open_registry.ts";

function manifest(name: string, more: Partial<ChannelDescriptor> = {}): ChannelDescriptor {
  return {
    name,
    displayName: name,
    runtime: `channels/${name}/runtime.ts:Runtime`,
    dependencies: [],
    setup: { fields: {}, required: [] },
    capabilities: [],
    defaultActivation: false,
    permissions: { hosts: [], paths: [], variables: [] },
    senderVerified: false,
    ...more,
  };
}

function packageOf(
  folder: string,
  exported: unknown = manifest(folder),
  files: readonly string[] = ["runtime.ts"],
): ChannelPackage {
  return {
    folder,
    loadManifest: () => Promise.resolve({ default: exported }),
    modules: Object.fromEntries(files.map((file) => [file, `never:/${folder}/${file}`])),
  };
}

const ADAPTER = { instanceSpecs: () => [], updateInstanceConfig: (section: Section) => section };
const MULTI = { multiInstance: true, adapter: "channels/a/instances.ts:adapter" };

async function problemOf(one: ChannelPackage, load?: (url: string) => Promise<object>) {
  const { usable, broken } = await openRegistry([one, packageOf("other")], {
    load: load as never ?? (() => Promise.reject(new Error("nothing is imported"))),
    loadTimeoutMs: 50,
  });
  assertEquals([...usable.keys()], ["other"], "the other is used");
  assertEquals(broken.length, 1);
  assertEquals(broken[0]!.folder, one.folder);
  return broken[0]!.problem;
}

Deno.test("openRegistry() gives targets as workers load them, and imports none of them (C5, C6)", async () => {
  const { usable, broken } = await openRegistry([
    packageOf(
      "a",
      manifest("a", {
        connector: "channels/a/connect.ts:connector",
        setup: { fields: {}, required: [], validator: "channels/a/check.ts:validate" },
        webui: "webui/index.ts",
      }),
      ["runtime.ts", "connect.ts", "check.ts", "webui/index.ts"],
    ),
  ], { load: () => Promise.reject(new Error("nothing is imported")) });
  assertEquals(broken, []);
  const { folder, runtime, connector, validator, adapter } = usable.get("a")!;
  assertEquals({ folder, runtime, connector, validator, adapter }, {
    folder: "a",
    runtime: { module: "never:/a/runtime.ts", exportName: "Runtime" },
    connector: { module: "never:/a/connect.ts", exportName: "connector" },
    validator: { module: "never:/a/check.ts", exportName: "validate" },
    adapter: undefined,
  });
});

Deno.test("openRegistry() skips a manifest that throws, hangs or is none, and names it (C2)", async () => {
  const throwing = { ...packageOf("a"), loadManifest: () => Promise.reject(new Error("boom")) };
  const at = await problemOf(throwing);
  assertStringIncludes(at, "channels/a/manifest.ts");
  assertStringIncludes(at, "boom");
  const thrower = {
    ...packageOf("a"),
    loadManifest() {
      throw new TypeError("at once");
    },
  };
  assertStringIncludes(await problemOf(thrower), "at once");
  const never = { ...packageOf("a"), loadManifest: () => new Promise<never>(() => {}) };
  assertStringIncludes(await problemOf(never), "not loaded within 50 ms");
  assertStringIncludes(await problemOf(packageOf("a", null)), "channels/a/manifest.ts");
  const nothing = { ...packageOf("a"), loadManifest: () => Promise.resolve({} as never) };
  assertStringIncludes(await problemOf(nothing), "no default export");
  const long = {
    ...packageOf("a"),
    loadManifest: () => Promise.reject(new Error("x".repeat(1e6))),
  };
  assert((await problemOf(long)).length < 1_100);
});

Deno.test("openRegistry() refuses another name than the folder's, and names that are none (C3, C4)", async () => {
  const other = await problemOf(
    packageOf("a", manifest("b", { runtime: "channels/a/runtime.ts:R" })),
  );
  assertStringIncludes(other, 'name is "b" and the folder is "a"');
  for (const name of ["google-chat", "1abc", "", "tëst"]) {
    assertStringIncludes(await problemOf(packageOf(name)), "ASCII");
  }
  const { usable } = await openRegistry([packageOf("a_1")]);
  assert(usable.has("a_1"));
});

Deno.test("openRegistry() refuses targets outside of the package, and files that are missing (C5)", async () => {
  const outside = manifest("a", { runtime: "channels/other/runtime.ts:Runtime" });
  assertStringIncludes(await problemOf(packageOf("a", outside)), "channels/a/runtime.ts:<Class>");
  const missing = await problemOf(packageOf("a", manifest("a"), []));
  assertStringIncludes(missing, "runtime names channels/a/runtime.ts, and there is no such file");
  for (
    const [more, key] of [
      [{ connector: "channels/a/connect.ts:c" }, "connector"],
      [{ webui: "webui/index.ts" }, "webui"],
      [{ management: MULTI }, "management.adapter"],
      [{ connector: "channels/a/constructor.ts:c" }, "connector"],
      [{
        setup: { fields: {}, required: [], validator: "channels/a/v.ts:v" },
      }, "setup.validator"],
    ] as const
  ) {
    const problem = await problemOf(packageOf("a", manifest("a", more)));
    assertStringIncludes(problem, `${key} names channels/a/`);
  }
});

Deno.test("openRegistry() gives accounts to a manifest with several instances and no adapter", async () => {
  const { usable } = await openRegistry([
    packageOf("a", manifest("a", { management: { multiInstance: true } })),
  ]);
  const section = { enabled: true, accounts: { work: {}, old: { enabled: false } } };
  const specs = usable.get("a")!.adapter!.instanceSpecs(section);
  assertEquals(specs.map(({ instanceId }) => instanceId), ["default", "work"]);
});

Deno.test("openRegistry() loads adapters, and refuses what is none", async () => {
  const multi = packageOf("a", manifest("a", { management: MULTI }), [
    "runtime.ts",
    "instances.ts",
  ]);
  const urls: string[] = [];
  const { usable } = await openRegistry([multi], {
    load(url) {
      urls.push(url);
      return Promise.resolve({ adapter: ADAPTER });
    },
  });
  assertEquals(usable.get("a")!.adapter, ADAPTER);
  assertEquals(urls, ["never:/a/instances.ts"]);
  const wrong = (adapter: unknown) => problemOf(multi, () => Promise.resolve({ adapter }));
  for (const adapter of [undefined, null, {}, { ...ADAPTER, runtimeName: "a" }]) {
    assertStringIncludes(
      await wrong(adapter),
      "channels/a/instances.ts: its export adapter is no management adapter",
    );
  }
  const failing = await problemOf(multi, () => Promise.reject(new Error("boom")));
  assertStringIncludes(failing, "channels/a/instances.ts: it fails while it is loaded: boom");
});

Deno.test("openRegistry() leaves a name to whoever has it first (C21)", async () => {
  const { usable, broken } = await openRegistry([packageOf("a"), packageOf("A"), packageOf("a")]);
  assertEquals([...usable.keys()], ["a"]);
  assertEquals(broken.map(({ folder }) => folder), ["A", "a"]);
  assertStringIncludes(broken[0]!.problem, "channels/a has that name already");
});
