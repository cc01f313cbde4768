/**
 * Writes `channels/mod.ts` from the folders beside it: `deno task generate`.
 *
 * @module
 */

/** A folder of `channels/`, by what lies in it. */
export interface ChannelFolder {
  name: string;
  files: readonly string[];
}

const HEAD = `/**
 * Every channel: manifests as they are, runtimes by their paths, so that a start loads the packages of no
 * channel but those that it starts (decisions D1). Written by \`deno task generate\`.
 *
 * @module
 */
`;

/** The module's text. A folder without a manifest is no channel (case C1). */
export function channelsModule(folders: readonly ChannelFolder[]): string {
  const channels = folders.filter(({ files }) => files.includes("manifest.ts"))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, files } of channels) {
    if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) {
      throw new Error(
        `channels/${name} cannot be a channel: expected a letter, then letters, digits and _`,
      );
    }
    if (!files.includes("runtime.ts")) throw new Error(`channels/${name} has no runtime.ts`);
  }
  const imports = channels.map(({ name }) => `import ${name} from "./${name}/manifest.ts";\n`);
  const entries = channels.map(({ name }) =>
    `  ${name}: { manifest: ${name}, runtimePath: "./${name}/runtime.ts" },\n`
  );
  return `${HEAD}
import type { ChannelDescriptor } from "../lib/channel/descriptor.ts";
${imports.join("")}
/** A channel, before anything of it runs. */
export interface ChannelEntry {
  manifest: ChannelDescriptor;
  /** From here; import it by {@linkcode runtimeUrl} alone. */
  runtimePath: string;
}

/** The channels by their names. */
export const CHANNELS = {
${entries.join("")}} as const satisfies Readonly<Record<string, ChannelEntry>>;

/** Name of a channel. */
export type ChannelName = keyof typeof CHANNELS;

/** Where the runtime of a channel is imported from. */
export function runtimeUrl(name: ChannelName): string {
  return new URL(CHANNELS[name].runtimePath, import.meta.url).href;
}
`;
}

/** The folders of `channels/`. */
export async function readChannelFolders(channels: URL): Promise<ChannelFolder[]> {
  const folders: ChannelFolder[] = [];
  for await (const { name, isDirectory } of Deno.readDir(channels)) {
    if (!isDirectory) continue;
    const files: string[] = [];
    for await (const file of Deno.readDir(new URL(`${name}/`, channels))) {
      if (file.isFile) files.push(file.name);
    }
    folders.push({ name, files });
  }
  return folders;
}

if (import.meta.main) {
  const here = new URL("./", import.meta.url);
  await Deno.writeTextFile(
    new URL("mod.ts", here),
    channelsModule(await readChannelFolders(here)),
  );
}
