/** A start needs no package of a channel that is off, and none that tests alone use (decisions D1, D2). */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { CHANNELS } from "../channels/mod.ts";
import { openRegistry } from "../lib/channel/registry/open_registry.ts";
import { denoDirectory } from "./support/deno_directory.ts";

const ROOT = new URL("../", import.meta.url).pathname;

Deno.test("a machine without the packages of channels that are off starts, and lists them", async () => {
  const { usable } = await openRegistry(CHANNELS);
  const missing = [...usable.values()]
    .filter(({ descriptor }) => !descriptor.capabilities.includes("in_service"))
    .flatMap(({ descriptor }) =>
      descriptor.dependencies.map((one) => one.slice(4, one.lastIndexOf("@")))
    );
  assert(missing.length > 0);
  const home = await Deno.makeTempDir();
  try {
    const denoDir = `${home}/deno`;
    await denoDirectory(denoDir, [...new Set(missing), "playwright-core"]);
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-q", "--no-prompt", "--cached-only", "--frozen", "-P=service", "cli/main.ts"]
        .concat("plugins", "list"),
      cwd: ROOT,
      env: { SERVICE_HOME: home, DENO_DIR: denoDir, NO_COLOR: "1" },
    }).output();
    const text = new TextDecoder();
    assertEquals(code, 0, text.decode(stderr));
    for (const name of usable.keys()) assertStringIncludes(text.decode(stdout), `${name} `);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
