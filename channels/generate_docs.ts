/**
 * Writes the tables of channels in `docs/channels.md` anew: `deno task generate`.
 *
 * @module
 */

import { type DocumentedChannel, withChannelTables } from "../lib/channel/docs/channel_tables.ts";
import { checkDescriptor } from "../lib/channel/check_descriptor.ts";
import type { ChannelPackage } from "../lib/channel/channel_package.ts";
import { CHANNELS } from "./mod.ts";

const DOCS = new URL("../docs/", import.meta.url);

/** The page with the tables of some channels. Throws for a manifest that is wrong. */
export async function channelsPage(
  page: string,
  channels: readonly ChannelPackage[],
): Promise<string> {
  return withChannelTables(page, await Promise.all(channels.map(documented)));
}

async function documented({ folder, loadManifest }: ChannelPackage): Promise<DocumentedChannel> {
  const descriptor = checkDescriptor((await loadManifest()).default, folder);
  for (const page of [`channels/${folder}.md`, `${folder}.md`]) {
    if (await isFile(new URL(page, DOCS))) return { descriptor, page };
  }
  return { descriptor };
}

function isFile(url: URL): Promise<boolean> {
  return Deno.stat(url).then(({ isFile }) => isFile, () => false);
}

if (import.meta.main) {
  const page = new URL("channels.md", DOCS);
  await Deno.writeTextFile(page, await channelsPage(await Deno.readTextFile(page), CHANNELS));
}
