/**
 * The package that is tested: what lies in its folder, loaded where a check needs it.
 *
 * @module
 */

import type { ChannelPackage } from "../channel_package.ts";
import type { ChannelDescriptor } from "../descriptor.ts";
import type { Section } from "../management.ts";
import { loadExport, type RuntimeClass } from "../../channel_worker/load_export.ts";
import type { UsableChannel } from "../../registry/channel_registry.ts";
import { openRegistry } from "../../registry/open_registry.ts";
import { Broken, wordsOf } from "./channel_check.ts";
import type { ChannelPlatform } from "./channel_platform.ts";
import { Patience } from "./patience.ts";

/** What a subject is made of. */
export interface SubjectOptions {
  /** Of the package, with a slash at its end. */
  folder: URL;
  /** Opens a platform; absent for a channel that runs in the service itself. */
  openPlatform?: () => Promise<ChannelPlatform>;
  instances: InstanceExamples;
  /** How long is waited for what the platform or the channel does, milliseconds. */
  patienceMs: number;
}

/** Sections that the adapter of instances is tried on. */
export interface InstanceExamples {
  sections: readonly Section[];
  /** Ones that it has to throw for. */
  malformed: readonly Section[];
}

export class ChannelSubject {
  readonly folder: URL;
  readonly instances: InstanceExamples;
  readonly patience: Patience;
  readonly #open: (() => Promise<ChannelPlatform>) | undefined;
  #usable: Promise<UsableChannel> | undefined;

  constructor({ folder, openPlatform, instances, patienceMs }: SubjectOptions) {
    this.instances = instances;
    this.folder = folder;
    this.patience = new Patience(patienceMs);
    this.#open = openPlatform;
  }

  /** Its folder's name. */
  get name(): string {
    return folderName(this.folder);
  }

  /** The package as the registry has it. Rejects with {@linkcode Broken}: in the registry's words. */
  usable(): Promise<UsableChannel> {
    return this.#usable ??= this.#load();
  }

  async descriptor(): Promise<ChannelDescriptor> {
    return (await this.usable()).descriptor;
  }

  /** Its runtime. Rejects with {@linkcode Broken}: in the words of a worker. */
  async runtime(): Promise<RuntimeClass> {
    const { runtime } = await this.usable();
    const loaded = await loadExport({ ...runtime, kind: "runtime" }, LOADING).catch(broken);
    return loaded.kind === "runtime" ? loaded.Runtime : broken("no runtime");
  }

  openPlatform(): Promise<ChannelPlatform> {
    if (this.#open === undefined) throw new Error("Cannot open a platform: none was given");
    return this.#open();
  }

  async #load(): Promise<UsableChannel> {
    const { usable, broken: faults } = await openRegistry([await packageIn(this.folder)]);
    const [channel] = usable.values();
    return channel ?? broken(faults[0]?.problem ?? "there is no channel in the folder");
  }
}

/** How a worker loads modules and says what went wrong. */
export const LOADING = { load: (module: string) => import(module), words: wordsOf };

function broken(error: unknown): never {
  throw new Broken(wordsOf(error));
}

/** The last part of a folder's URL. */
export function folderName(folder: URL): string {
  return decodeURIComponent(folder.pathname.replace(/\/+$/, "").split("/").pop() ?? "");
}

/** A folder as the static map of channels would have it. */
async function packageIn(folder: URL): Promise<ChannelPackage> {
  const modules: Record<string, string> = {};
  let hasManifest = false;
  for (const file of await filesIn(folder)) {
    if (file === "manifest.ts") hasManifest = true;
    else modules[file] = new URL(file, folder).href;
  }
  if (!hasManifest) {
    throw new Broken(
      `there is no manifest.ts in ${folder.pathname}: a folder without is no channel`,
    );
  }
  const manifest = new URL("manifest.ts", folder).href;
  return {
    folder: folderName(folder),
    loadManifest: () => import(manifest),
    modules,
    locales: await localesIn(folder),
  };
}

async function localesIn(folder: URL): Promise<NonNullable<ChannelPackage["locales"]>> {
  const locales: Record<string, () => Promise<{ default: unknown }>> = {};
  const dir = new URL("locales/", folder);
  if (!await Deno.stat(dir).then(({ isDirectory }) => isDirectory, () => false)) return locales;
  for await (const { name, isFile } of Deno.readDir(dir)) {
    const [, tag] = /^(.+)\.json$/.exec(name) ?? [];
    if (!isFile || tag === undefined) continue;
    locales[tag] = async () => ({
      default: JSON.parse(await Deno.readTextFile(new URL(name, dir))),
    });
  }
  return locales;
}

async function filesIn(folder: URL): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (isFile && name.endsWith(".ts") && !name.endsWith("_test.ts")) files.push(name);
  }
  for (const page of ["webui/index.ts", "webui/index.tsx"]) {
    if (await Deno.stat(new URL(page, folder)).then(() => true, () => false)) files.push(page);
  }
  return files;
}
