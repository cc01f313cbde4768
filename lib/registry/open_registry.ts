/**
 * Loads every channel's manifest, and the adapters that manifests name; never a runtime. Each is judged
 * for itself.
 *
 * @module
 */

import { toErrorData } from "../base/errors.ts";
import type { ChannelPackage } from "../channel/channel_package.ts";
import { checkDescriptor } from "../channel/check_descriptor.ts";
import type { ManagementAdapter } from "../channel/management.ts";
import { accountsAdapter } from "../channel/management/accounts_adapter.ts";
import type {
  BrokenChannel,
  ChannelRegistry,
  UsableChannel,
  WorkerTarget,
} from "./channel_registry.ts";

/** Milliseconds in which a manifest, or an adapter, has to be loaded. */
const LOAD_TIMEOUT_MS = 10_000;

/** How packages are loaded. */
export interface RegistryOptions {
  loadTimeoutMs?: number;
  /** Imports a module of {@linkcode ChannelPackage.modules}. */
  load?: (url: string) => Promise<Record<string, unknown>>;
}

/**
 * What can be used of the packages, and what is broken. Never rejects: a package that cannot be used is
 * told of in words that say what to change in which file.
 */
export async function openRegistry(
  packages: readonly ChannelPackage[],
  { loadTimeoutMs = LOAD_TIMEOUT_MS, load = (url) => import(url) }: RegistryOptions = {},
): Promise<ChannelRegistry> {
  const loader: Loader = {
    inTime: (file, loading) => inTime(file, loading, loadTimeoutMs),
    load,
  };
  const judged = await Promise.all(packages.map((each) => judge(each, loader)));
  const usable = new Map<string, UsableChannel>();
  const broken: BrokenChannel[] = [];
  /** In small letters, since folders of instances may lie on a disk that does not tell them apart. */
  const taken = new Map<string, string>();
  for (const one of judged) {
    const other = taken.get(one.folder.toLowerCase());
    if ("problem" in one) broken.push(one);
    else if (other !== undefined) {
      broken.push({
        folder: one.folder,
        problem: `Cannot use channels/${one.folder}: channels/${other} has that name already; ` +
          "rename one of them",
      });
    } else {
      taken.set(one.folder.toLowerCase(), one.folder);
      usable.set(one.descriptor.name, one);
    }
  }
  return { usable, broken };
}

interface Loader {
  inTime<T>(file: string, loading: Promise<T>): Promise<T>;
  load(url: string): Promise<Record<string, unknown>>;
}

async function judge(
  { folder, loadManifest, modules, locales }: ChannelPackage,
  loader: Loader,
): Promise<UsableChannel | BrokenChannel> {
  try {
    const file = `channels/${folder}/manifest.ts`;
    // An import that throws at once and one that rejects are the same here.
    const loading = Promise.resolve().then(loadManifest);
    const descriptor = checkDescriptor((await loader.inTime(file, loading)).default, folder);
    const { runtime, setup, connector, management, webui } = descriptor;
    const target = (key: string, text: string) => findTarget(folder, modules, key, text);
    if (webui !== undefined) requireFile(folder, modules, "webui", webui);
    return {
      folder,
      descriptor,
      runtime: target("runtime", runtime),
      ...locales !== undefined && { locales },
      ...connector !== undefined && { connector: target("connector", connector) },
      ...setup.validator !== undefined &&
        { validator: target("setup.validator", setup.validator) },
      ...management?.multiInstance && {
        adapter: management.adapter === undefined
          ? accountsAdapter(descriptor)
          : await loadAdapter(folder, target("management.adapter", management.adapter), loader),
      },
    };
  } catch (error) {
    const { message } = toErrorData(error);
    return { folder, problem: shortened(message) };
  }
}

/** A target that was checked, as a worker loads it. The file is looked up and not imported. */
function findTarget(
  folder: string,
  modules: ChannelPackage["modules"],
  key: string,
  target: string,
): WorkerTarget {
  const [path = "", exportName = ""] = target.split(":");
  const file = path.slice(`channels/${folder}/`.length);
  return { module: requireFile(folder, modules, key, file), exportName };
}

function requireFile(
  folder: string,
  modules: ChannelPackage["modules"],
  key: string,
  file: string,
): string {
  const url = Object.hasOwn(modules, file) ? modules[file] : undefined;
  if (url !== undefined) return url;
  throw new Error(
    `Cannot use channels/${folder}/manifest.ts: ${key} names channels/${folder}/${file}, and there is no ` +
      "such file; add it and run deno task generate, or name another",
  );
}

async function loadAdapter(
  folder: string,
  { module, exportName }: WorkerTarget,
  loader: Loader,
): Promise<ManagementAdapter> {
  const file = `channels/${folder}/${module.slice(module.lastIndexOf("/") + 1)}`;
  const exported = (await loader.inTime(file, loader.load(module)))[exportName];
  if (!isAdapter(exported)) {
    throw new Error(
      `Cannot use ${file}: its export ${exportName} is no management adapter; expected an object with the ` +
        "functions instanceSpecs and updateInstanceConfig",
    );
  }
  return exported;
}

const OPTIONAL = ["defaultConfig", "runtimeName", "featureInstances", "localStatePresent"] as const;

function isAdapter(value: unknown): value is ManagementAdapter {
  if (typeof value !== "object" || value === null) return false;
  const adapter = value as Partial<Record<keyof ManagementAdapter, unknown>>;
  return typeof adapter.instanceSpecs === "function" &&
    typeof adapter.updateInstanceConfig === "function" &&
    OPTIONAL.every((key) => adapter[key] === undefined || typeof adapter[key] === "function");
}

async function inTime<T>(file: string, loading: Promise<T>, timeoutMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`it was not loaded within ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    return await Promise.race([loading, late.promise]);
  } catch (error) {
    throw new Error(
      `Cannot use ${file}: it fails while it is loaded: ${toErrorData(error).message}`,
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
  }
}

/** What a package throws may be of any length. */
function shortened(message: string): string {
  return message.length > 1_000 ? `${message.slice(0, 1_000)}…` : message;
}
