/**
 * Writes `channels/mod.ts` and `webui/channels/package_pages.ts` from the folders beside it:
 * `deno task generate`.
 *
 * @module
 */

/** A folder of `channels/`, by what lies in it. */
export interface ChannelFolder {
  name: string;
  /** Paths in the folder. */
  files: readonly string[];
}

const HEAD = `/**
 * Every channel: a manifest that is loaded when it is asked for, and the modules that a manifest may
 * name, by their URLs. Nothing is imported here, so that one that is broken hurts no other and a start
 * loads the packages of no channel but those that it starts. Written by
 * \`deno task generate\`.
 *
 * @module
 */
`;

const PAGES_HEAD = `/**
 * Parts of the settings page that channel packages bring along, each loaded when its channel is shown.
 * Written by \`deno task generate\`.
 *
 * @module
 */
`;

const LOCALE = /^locales\/([A-Za-z][A-Za-z0-9-]*)\.json$/;

/** The module's text. A folder without a manifest is no channel. */
export function channelsModule(folders: readonly ChannelFolder[]): string {
  const channels = folders.filter(({ files }) => files.includes("manifest.ts"))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name } of channels) {
    if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) {
      throw new Error(
        `channels/${name} cannot be a channel: expected a letter, then letters, digits and _`,
      );
    }
  }
  return `${HEAD}
import type { ChannelPackage } from "../lib/channel/channel_package.ts";
import { moduleUrl } from "../lib/base/layout.ts";

/** The channels, in the order of their folders. */
export const CHANNELS: readonly ChannelPackage[] = [
${channels.map(entry).join("")}];
`;
}

function entry({ name, files }: ChannelFolder): string {
  const modules = files.filter(mayBeNamed).toSorted().map((file) =>
    `      "${file}": moduleUrl("channels/${name}/${file}").href,\n`
  );
  return `  {
    folder: "${name}",
    loadManifest: () => import("./${name}/manifest.ts"),
    modules: {
${modules.join("")}    },
${localesOf({ name, files })}  },
`;
}

function localesOf({ name, files }: ChannelFolder): string {
  const tags = files.flatMap((file) => LOCALE.exec(file)?.[1] ?? []).toSorted();
  if (tags.length === 0) return "";
  const loads = tags.map((tag) =>
    `      "${tag}": () => import("./${name}/locales/${tag}.json", { with: { type: "json" } }),\n`
  );
  return `    locales: {\n${loads.join("")}    },\n`;
}

/** Whether a manifest may name a file: a module of the folder itself, or its part of the settings page. */
function mayBeNamed(file: string): boolean {
  if (/^webui\/index\.tsx?$/.test(file)) return true;
  return /^\w[\w-]*\.ts$/.test(file) && file !== "manifest.ts" && !file.endsWith("_test.ts");
}

/** The module of the pages that packages add to the browser app; one that no manifest names isn't in it. */
export function packagePagesModule(
  pages: readonly { name: string; webui?: string }[],
): string {
  const named = pages.filter(({ webui }) => webui !== undefined)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const entries = named.map(({ name, webui }) =>
    `  ${name}: () => import("../../channels/${name}/${webui}"),\n`
  );
  return `${PAGES_HEAD}
import type { PackagePage } from "./package_page.ts";

/** By the name of the channel. */
export const PACKAGE_PAGES: Readonly<Record<string, () => Promise<PackagePage>>> = {
${entries.join("")}};
`;
}

/** The folders of `channels/`. */
export async function readChannelFolders(channels: URL): Promise<ChannelFolder[]> {
  const folders: ChannelFolder[] = [];
  for await (const { name, isDirectory } of Deno.readDir(channels)) {
    if (!isDirectory) continue;
    const files = await filesIn(new URL(`${encodeURIComponent(name)}/`, channels));
    if (files.includes("manifest.ts")) folders.push({ name, files });
  }
  return folders;
}

/** Its files, and those of its `webui` and `locales`. */
async function filesIn(folder: URL): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isFile, isDirectory } of Deno.readDir(folder)) {
    if (isFile) files.push(name);
    if (!isDirectory || (name !== "webui" && name !== "locales")) continue;
    for await (const inner of Deno.readDir(new URL(`${name}/`, folder))) {
      if (inner.isFile) files.push(`${name}/${inner.name}`);
    }
  }
  return files;
}

/** What each manifest names as its part of the settings page. */
export function readPages(
  channels: URL,
  folders: readonly ChannelFolder[],
): Promise<{ name: string; webui?: string }[]> {
  return Promise.all(folders.map(async ({ name }) => {
    const { default: { webui } } = await import(new URL(`${name}/manifest.ts`, channels).href);
    return { name, webui };
  }));
}

if (import.meta.main) {
  const here = new URL("./", import.meta.url);
  const folders = await readChannelFolders(here);
  await Deno.writeTextFile(new URL("mod.ts", here), channelsModule(folders));
  await Deno.writeTextFile(
    new URL("../webui/channels/package_pages.ts", here),
    packagePagesModule(await readPages(here, folders)),
  );
}
