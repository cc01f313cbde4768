/**
 * The files of the browser app, built where they are missing.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { ServiceError } from "../base/errors.ts";
import { IS_BUILT, ROOT } from "../base/layout.ts";
import type { Log } from "../base/log.ts";
import { APP_FOLDER, APP_SOURCES, buildApp, GZIP_SUFFIX } from "./build_app.ts";

/** One file as it is sent. */
export interface AppFile {
  /** Such as `main-1f2e3d4c5b.js`. */
  name: string;
  /** Its content, compressed. */
  gzip: Uint8Array<ArrayBuffer>;
}

/** What finding them needs. */
export interface AppFilesOptions {
  /** Deno's own folder, where builds are kept; undefined: nothing can be built. */
  denoDir: string | undefined;
  log: Pick<Log, "warning">;
  /** Default: this program. */
  root?: URL;
  isBuilt?: boolean;
}

/** Builds that are kept: of other checkouts, and of versions that a person goes back to. */
const MAX_BUILDS = 8;

/**
 * Gives the files, each time anew; those who ask while they are built share the build. Rejects with
 * `not_enabled` that says why they can't be built.
 */
export function appFiles(
  { denoDir, log, root = ROOT, isBuilt = IS_BUILT }: AppFilesOptions,
): () => Promise<AppFile[]> {
  let building: Promise<string> | undefined;
  return async () => {
    if (isBuilt) return await readFiles(new URL(APP_FOLDER, root));
    building ??= builtFolder(root, denoDir).finally(() => building = undefined);
    try {
      return await readFiles(await building);
    } catch (error) {
      const { message } = error as Error;
      log.warning("The browser app can't be built", { reason: message });
      throw new ServiceError("not_enabled", `The browser app can't be built: ${message}`);
    }
  };
}

/** Folder of the build of the sources as they are. */
async function builtFolder(root: URL, denoDir: string | undefined): Promise<string> {
  if (root.protocol !== "file:" || denoDir === undefined) {
    throw new Error("this program has no sources on this machine, or Deno has no cache folder");
  }
  const builds = join(denoDir, "service-webui");
  const folder = join(builds, await digestOf(root));
  if (await Deno.stat(folder).then(() => true, () => false)) return folder;
  await Deno.mkdir(builds, { recursive: true });
  const made = await Deno.makeTempDir({ dir: builds, prefix: ".build-" });
  try {
    await buildApp(made, root);
    await Deno.rename(made, folder);
  } catch (error) {
    await Deno.remove(made, { recursive: true }).catch(() => {});
    // Another process has built the same meanwhile.
    if (!(await Deno.stat(folder).then(() => true, () => false))) throw error;
  }
  await removeOld(builds);
  return folder;
}

/** Of all that the app is made of, and of the bundler. */
async function digestOf(root: URL): Promise<string> {
  const digest = createHash("sha256").update(Deno.version.deno);
  for (const source of [...APP_SOURCES, ...await packageFolders(root)]) {
    for (const url of await filesBelow(new URL(source, root))) {
      digest.update(url.href.slice(root.href.length)).update("\0").update(await Deno.readFile(url));
    }
  }
  return digest.digest("hex").slice(0, 32);
}

/** Folders of the pages that channel packages bring along. */
async function packageFolders(root: URL): Promise<string[]> {
  const channels = await Array.fromAsync(Deno.readDir(new URL("channels/", root)))
    .catch(() => []);
  const folders = channels.map(({ name }) => `channels/${name}/${APP_FOLDER}`).sort();
  const isThere = await Promise.all(
    folders.map((folder) => Deno.stat(new URL(folder, root)).then(() => true, () => false)),
  );
  return folders.filter((_, at) => isThere[at]);
}

async function filesBelow(url: URL): Promise<URL[]> {
  if (!url.href.endsWith("/")) return [url];
  const entries = (await Array.fromAsync(Deno.readDir(url)))
    .filter(({ name }) => !name.endsWith("_test.ts"))
    .toSorted((a, b) => a.name < b.name ? -1 : 1);
  const found = await Promise.all(
    entries.map(({ name, isDirectory }) =>
      filesBelow(new URL(encodeURIComponent(name) + (isDirectory ? "/" : ""), url))
    ),
  );
  return found.flat();
}

async function removeOld(builds: string): Promise<void> {
  const found = [];
  for await (const { name } of Deno.readDir(builds)) {
    const stat = await Deno.stat(join(builds, name)).catch(() => undefined);
    if (stat) found.push({ path: join(builds, name), madeAt: stat.mtime?.getTime() ?? 0 });
  }
  const old = found.toSorted((a, b) => b.madeAt - a.madeAt).slice(MAX_BUILDS);
  for (const { path } of old) await Deno.remove(path, { recursive: true }).catch(() => {});
}

async function readFiles(folder: URL | string): Promise<AppFile[]> {
  const files: AppFile[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith(GZIP_SUFFIX)) continue;
    const path = typeof folder === "string" ? join(folder, name) : new URL(name, folder);
    files.push({ name: name.slice(0, -GZIP_SUFFIX.length), gzip: await Deno.readFile(path) });
  }
  return files;
}
