/** What a first start fetches: what the main job imports, and not much of it. */

import { assert, assertEquals } from "@std/assert";
import { toFileUrl } from "@std/path";
import { CHANNELS } from "../channels/mod.ts";
import { openRegistry } from "../lib/registry/open_registry.ts";
import { sizeOf } from "../lib/packages/fetch_packages.ts";
import { moduleGraph } from "../lib/channel/testing/load_alone.ts";
import { ENTRIES } from "../lib/base/entries.ts";
import { MAIN_JOB, MCP } from "../lib/packages/wanted_packages.ts";
import { MAIN_JOB_PACKAGES } from "./support/bare_home.ts";
import { folderOf } from "./support/deno_directory.ts";

const ROOT = new URL("../", import.meta.url);
const MAX_PACKAGES = 99;
const MAX_MIB = 100;

const { usable } = await openRegistry(CHANNELS);
const channels = [...usable.values()];
const isInService = ({ descriptor }: typeof channels[number]) =>
  descriptor.capabilities.includes("in_service");

/** Modules that the program starts: its own, and channels in the service. */
function entries(): string[] {
  const own = Object.values(ENTRIES).map((path) => new URL(path, ROOT).href);
  return [...own, ...channels.filter(isInService).map(({ runtime }) => runtime.module)];
}

Deno.test("the main job imports what a first start fetches, and what tool servers have fetched", async () => {
  const all = entries();
  const dir = await Deno.makeTempDir();
  try {
    const program = toFileUrl(`${dir}/all.ts`);
    await Deno.writeTextFile(program, all.map((url) => `import "${url}";\n`).join(""));
    const packages = new Set(
      (await moduleGraph(program)).flatMap((specifier) => {
        const found = /^npm:\/?(@?[^@]+@[^/]+)/.exec(specifier);
        return found === null ? [] : [`npm:${found[1]}`];
      }),
    );
    // A list that differs is lib/packages/wanted_packages.ts.
    assertEquals([...packages].sort(), [...MAIN_JOB, ...MCP].sort());
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("a first start fetches fewer than 100 packages, under 100 MiB", () => {
  const sizes = MAIN_JOB_PACKAGES
    .map((id) => ({ id, mib: sizeOf(folderOf(id)) / 2 ** 20 }))
    .sort((a, b) => b.mib - a.mib);
  const shown = sizes.map(({ id, mib }) => `${id} ${mib.toFixed(1)} MiB`).join("\n");
  assert(sizes.length > MAIN_JOB.length, shown);
  assert(sizes.length <= MAX_PACKAGES, `${sizes.length} packages:\n${shown}`);
  const total = sizes.reduce((sum, { mib }) => sum + mib, 0);
  assert(total < MAX_MIB, `${total.toFixed(1)} MiB:\n${shown}`);
});

Deno.test("a first start fetches no test tools, no makers of documents and no SDK of a channel", () => {
  const ofChannels = channels.filter((channel) => !isInService(channel))
    .flatMap(({ descriptor }) => descriptor.dependencies)
    .map((dependency) => dependency.slice("npm:".length));
  assert(ofChannels.length > 8);
  const others =
    /^(docx|pptxgenjs|pdf-lib|playwright-core|openai|ai|fast-check|@sinonjs\/.*|@langchain\/.*|@modelcontextprotocol\/.*)@/;
  // What reads pages reads mails and Markdown too, and the terminal renders Markdown.
  const shared = ["entities@7.0.1", "htmlparser2@10.1.0", "marked@18.2.1"];
  assertEquals(
    MAIN_JOB_PACKAGES.filter((id) => others.test(id) || ofChannels.includes(id)).toSorted(),
    shared,
  );
});
