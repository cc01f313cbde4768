import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import type { ChannelDescriptor } from "../lib/channel/descriptor.ts";
import { channelsPage } from "./generate_docs.ts";
import { CHANNELS } from "./mod.ts";

const EMPTY = ["capabilities", "permissions"]
  .map((name) => `<!-- ${name}: written by \`deno task generate\` -->\n\n<!-- end of ${name} -->\n`)
  .join("\n");

Deno.test("the tables of docs/channels.md are what the manifests say; deno task generate writes them anew", async () => {
  const page = await Deno.readTextFile(new URL("../docs/channels.md", import.meta.url));
  assertEquals(page, await channelsPage(page, CHANNELS));
});

Deno.test("each channel has a page with the steps to set it up, to which the table leads", async () => {
  const page = await Deno.readTextFile(new URL("../docs/channels.md", import.meta.url));
  for (const { folder } of CHANNELS) {
    const head = page.split("\n").find((line) => line.startsWith("|") && line.includes(".md)"));
    assert(
      head?.includes(`](channels/${folder}.md)`) || head?.includes(`](${folder}.md)`),
      `docs/channels/${folder}.md`,
    );
  }
});

Deno.test("channelsPage() has a row for each manifest, and says what is wrong with one", async () => {
  const descriptor: ChannelDescriptor = {
    name: "pager",
    displayName: "Pager | old",
    runtime: "channels/pager/runtime.ts:PagerChannel",
    dependencies: [],
    setup: { fields: { host: { kind: "string" } }, required: [] },
    capabilities: ["media"],
    defaultActivation: false,
    permissions: { hosts: ["{host}:80"], paths: [], variables: [] },
    senderVerified: true,
  };
  const page = (value: unknown) =>
    channelsPage(EMPTY, [{
      folder: "pager",
      loadManifest: () => Promise.resolve({ default: value }),
      modules: {},
    }]);
  const text = await page(descriptor);
  assertStringIncludes(text, "| Pager \\| old |");
  assertStringIncludes(text, "| `pager` ");
  assertMatch(text, /^\| Files +\| yes /m);
  assertMatch(text, /^\| Streams +\| {2,}/m);
  assertMatch(text, /^\| Approves +\| yes /m);
  assertStringIncludes(text, "- **Files**: come in and go out.");
  assertStringIncludes(text, "`{host}:80`");
  await assertRejects(() => page({ ...descriptor, name: "other" }), Error, "rename one of them");
});
