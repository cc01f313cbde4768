import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { Channel } from "../lib/channel/channel.ts";
import { openRegistry } from "../lib/registry/open_registry.ts";
import {
  channelsModule,
  packagePagesModule,
  readChannelFolders,
  readPages,
} from "./generate_mod.ts";
import { CHANNELS } from "./mod.ts";
import { lockedFlags } from "../lib/packages/locked_packages.ts";

const HERE = new URL("./", import.meta.url);
const ROOT = new URL("../", HERE);

Deno.test("channels/mod.ts is what the folders give; deno task generate writes it anew", async () => {
  assertEquals(
    await Deno.readTextFile(new URL("mod.ts", HERE)),
    channelsModule(await readChannelFolders(HERE)),
  );
});

Deno.test("the browser app has the pages that manifests name, and no others", async () => {
  assertEquals(
    await Deno.readTextFile(new URL("webui/channels/package_pages.ts", ROOT)),
    packagePagesModule(await readPages(HERE, await readChannelFolders(HERE))),
  );
  const text = packagePagesModule([{ name: "b", webui: "webui/index.tsx" }, { name: "a" }]);
  assertEquals(text.match(/channels\/\w+\/.*(?=")/g), ["channels/b/webui/index.tsx"]);
});

Deno.test("channelsModule() lists folders with a manifest alone, and refuses names that are none (C1, C3)", () => {
  const files = ["runtime.ts", "manifest.ts", "runtime_test.ts", "webui/index.tsx", "README.md"];
  const text = channelsModule([
    { name: "b_1", files },
    { name: "loose", files: ["runtime.ts"] },
    {
      name: "a",
      files: ["manifest.ts", "runtime.ts", "connect.ts", "locales/de.json", "locales/README.md"],
    },
  ]);
  assertStringIncludes(
    text,
    '      "de": () => import("./a/locales/de.json", { with: { type: "json" } }),\n',
  );
  const loads = [...text.matchAll(/import\([^,]*\)/g)].map(([found]) => found);
  assertEquals(loads, ['import("./a/manifest.ts")', 'import("./b_1/manifest.ts")']);
  const modules = [...text.matchAll(/^ {6}"(.*)": moduleUrl\("channels\/(.*)"\)/gm)]
    .map(([, file, url]) => [file, url]);
  assertEquals(modules, [
    ["connect.ts", "a/connect.ts"],
    ["runtime.ts", "a/runtime.ts"],
    ["runtime.ts", "b_1/runtime.ts"],
    ["webui/index.tsx", "b_1/webui/index.tsx"],
  ]);
  for (const name of ["google-chat", "1abc", "", "tëst"]) {
    assertThrows(() => channelsModule([{ name, files }]), Error, "cannot be a channel");
  }
});

Deno.test("readChannelFolders() lists no loose module and no folder without a manifest (C1)", async () => {
  const dir = await Deno.makeTempDir();
  try {
    for (const folder of ["chat/webui", "chat/locales", "empty"]) {
      await Deno.mkdir(`${dir}/${folder}`, { recursive: true });
    }
    for (
      const file of [
        "manifest.ts",
        "chat/manifest.ts",
        "chat/locales/de.json",
        "chat/webui/index.ts",
        "empty/runtime.ts",
      ]
    ) {
      await Deno.writeTextFile(`${dir}/${file}`, "throw new Error('imported');");
    }
    const folders = await readChannelFolders(new URL(`file://${dir}/`));
    assertEquals(folders.map(({ name, files }) => [name, files.toSorted()]), [
      ["chat", ["locales/de.json", "manifest.ts", "webui/index.ts"]],
    ]);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("each channel is usable, and its runtime has the class that its descriptor names", async () => {
  const { usable, broken } = await openRegistry(CHANNELS);
  assertEquals(broken, []);
  for (const { runtime: { module, exportName } } of usable.values()) {
    const channel = (await import(module))[exportName];
    assert(channel?.prototype instanceof Channel, module);
  }
});

Deno.test("manifests name the versions that imports.json has", async () => {
  const { imports } = JSON.parse(await Deno.readTextFile(new URL("imports.json", ROOT)));
  const known = new Set(Object.values(imports));
  const { usable } = await openRegistry(CHANNELS);
  for (const { descriptor } of usable.values()) {
    for (const dependency of descriptor.dependencies) assert(known.has(dependency), dependency);
  }
});

Deno.test("what a manifest names is what a worker would load, and nothing starts unasked", async () => {
  const { usable } = await openRegistry(CHANNELS);
  for (const { folder, descriptor, validator, connector } of usable.values()) {
    // Only the port that the service itself serves is there where nothing is configured.
    assertEquals(descriptor.defaultActivation, descriptor.capabilities.includes("in_service"));
    if (validator !== undefined) {
      const check = (await import(validator.module))[validator.exportName];
      assertEquals(typeof check, "function", folder);
    }
    if (connector !== undefined) {
      const { handle } = (await import(connector.module))[connector.exportName];
      assertEquals(typeof handle, "function", folder);
    }
    for (const [name, field] of Object.entries(descriptor.setup.fields)) {
      if (field.kind !== "int" && field.kind !== "enum") continue;
      const required = descriptor.setup.required.some(({ fields }) => fields.includes(name));
      assert(field.default !== undefined || required, `${folder}: ${name} has no default`);
    }
  }
});

Deno.test("manifests and adapters bring no runtime and no package with them, by the module graph (C6)", async () => {
  const { usable } = await openRegistry(CHANNELS);
  const entries = [new URL("mod.ts", HERE).href];
  for (const { folder, descriptor: { management } } of usable.values()) {
    const file = management?.adapter?.split(":")[0];
    if (file !== undefined) entries.push(new URL(file, ROOT).href);
    entries.push(new URL(`${folder}/manifest.ts`, HERE).href);
  }
  for (const entry of entries) {
    const modules = await graphOf(entry);
    assert(modules.includes(entry));
    const strangers = modules.filter((one) =>
      !one.startsWith("file:") || /^\w+:.*\/runtime\.ts$/.test(one)
    );
    assertEquals(strangers, [], entry);
  }
});

Deno.test("what a worker loads brings no package that its manifest does not name, but the service's own (C9)", async () => {
  const { usable } = await openRegistry(CHANNELS);
  const own = (await Promise.all(
    ["cli/main.ts", "lib/channel/mod.ts"].map(async (file) =>
      packagesIn(await graphOf(new URL(file, ROOT).href))
    ),
  )).flat();
  for (const { descriptor, runtime, validator, connector } of usable.values()) {
    for (const target of [runtime, validator, connector]) {
      if (target === undefined) continue;
      const strangers = packagesIn(await graphOf(target.module)).filter((one) =>
        !own.includes(one) && !descriptor.dependencies.includes(one)
      );
      assertEquals(strangers, [], target.module);
    }
  }
});

/** `npm:<package>@<version>` of each. */
function packagesIn(modules: readonly string[]): string[] {
  return modules.flatMap((one) => {
    const [, name] = /^npm:\/?((?:@[^/]+\/)?[^/]+)/.exec(one) ?? [];
    return name === undefined ? [] : [`npm:${name}`];
  });
}

Deno.test("manifests and adapters are loaded with nothing allowed but to read the folder (C6)", async () => {
  const program = `
    const { openRegistry } = await import(${JSON.stringify(registryUrl())});
    const { CHANNELS } = await import(${JSON.stringify(new URL("mod.ts", HERE).href)});
    const { usable, broken } = await openRegistry(CHANNELS);
    console.log(JSON.stringify({ usable: [...usable.keys()], broken }));`;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--cached-only",
      ...lockedFlags(),
      "--no-check",
      `--allow-read=${ROOT.pathname}`,
      `data:text/javascript,${encodeURIComponent(program)}`,
    ],
    cwd: ROOT.pathname,
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  const { usable, broken } = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals(broken, []);
  assertEquals(usable, CHANNELS.map(({ folder }) => folder));
});

function registryUrl(): string {
  return new URL("lib/registry/open_registry.ts", ROOT).href;
}

/** What a module brings with it when it runs, by `deno info`; literal `import()`s too. */
async function graphOf(entry: string): Promise<string[]> {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", ...lockedFlags(), entry],
    cwd: ROOT.pathname,
  }).output();
  assert(success);
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as {
    modules: { specifier: string; dependencies?: { code?: { specifier: string } }[] }[];
  };
  const bySpecifier = new Map(modules.map((module) => [module.specifier, module]));
  const seen = new Set([entry]);
  for (const specifier of seen) {
    for (const { code } of bySpecifier.get(specifier)?.dependencies ?? []) {
      if (code !== undefined) seen.add(code.specifier);
    }
  }
  return [...seen];
}

Deno.test("graphOf() would see a package and a runtime", async () => {
  const modules = await graphOf(new URL("websocket/runtime.ts", HERE).href);
  assert(modules.some((one) => one.startsWith("npm:ws@")), modules.join("\n"));
  assertStringIncludes(modules.join("\n"), "/websocket/runtime.ts");
});
