import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { checkDescriptor } from "../lib/channel/check_descriptor.ts";
import { BaseChannel } from "../lib/channel/base_channel.ts";
import { channelsModule, readChannelFolders } from "./generate_mod.ts";
import { type ChannelName, CHANNELS, runtimeUrl } from "./mod.ts";

const HERE = new URL("./", import.meta.url);

Deno.test("channels/mod.ts is what the folders give; deno task generate writes it anew", async () => {
  assertEquals(
    await Deno.readTextFile(new URL("mod.ts", HERE)),
    channelsModule(await readChannelFolders(HERE)),
  );
});

Deno.test("channelsModule() lists folders with a manifest alone, and refuses names that are none (C1, C3)", () => {
  const text = channelsModule([
    { name: "b_1", files: ["runtime.ts", "manifest.ts"] },
    { name: "loose", files: ["runtime.ts"] },
    { name: "a", files: ["manifest.ts", "runtime.ts"] },
  ]);
  assertStringIncludes(
    text,
    'import a from "./a/manifest.ts";\nimport b_1 from "./b_1/manifest.ts";\n',
  );
  assert(!text.includes("loose"));
  for (const name of ["google-chat", "1abc", "", "tëst"]) {
    assertThrows(
      () => channelsModule([{ name, files: ["manifest.ts", "runtime.ts"] }]),
      Error,
      "cannot be a channel",
    );
  }
  assertThrows(() => channelsModule([{ name: "a", files: ["manifest.ts"] }]), Error, "runtime.ts");
});

Deno.test("CHANNELS holds descriptors, and each runtime has the class that its descriptor names", async () => {
  for (const [name, { manifest }] of Object.entries(CHANNELS)) {
    const { runtime } = checkDescriptor(manifest, name);
    const module = await import(runtimeUrl(name as ChannelName));
    const channel = module[runtime.split(":")[1]!];
    assert(channel?.prototype instanceof BaseChannel, runtime);
  }
});

Deno.test("manifests name the versions that deno.json has", async () => {
  const { imports } = JSON.parse(await Deno.readTextFile(new URL("../deno.json", HERE)));
  const known = new Set(Object.values(imports));
  for (const { manifest } of Object.values(CHANNELS)) {
    for (const dependency of manifest.dependencies) assert(known.has(dependency), dependency);
  }
});
