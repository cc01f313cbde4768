/**
 * The operating system's wall around a child: bubblewrap, with nothing bound but what the action may
 * touch and what Deno needs to start. It holds where a permission of Deno does not: a
 * path permission follows symbolic links out of its folder.
 *
 * Cost on the reference machine (2 cores), a cold child end to end: 19 ms bare, 25 ms inside.
 *
 * @module
 */

import type { LockedPackages } from "../packages/locked_packages.ts";
import { sourcePaths } from "../base/layout.ts";
import { dirname } from "@std/path";
import { SECCOMP } from "./seccomp_filter.ts";

/** Where helper programs are looked for. Not PATH: an environment is no authority. */
export const PROGRAM_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/** System libraries, as they are laid out here: folders are bound, links are made again. */
const LIBRARY_FOLDERS = ["/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib64", "/nix/store"];

/** What name resolution reads. */
const RESOLVER_FILES = [
  "/etc/hosts",
  "/etc/resolv.conf",
  "/etc/nsswitch.conf",
  "/etc/host.conf",
  "/etc/gai.conf",
];

/** Deno's folder of derived files inside the sandbox: empty, private, gone with the child. */
export const SANDBOX_CACHE_DIR = "/.deno";

/** Namespaces of its own, no capability, no way to more of either; as root too. */
export const ISOLATION: readonly string[] = [
  ...["--unshare-user", "--uid", "1000", "--gid", "1000", "--disable-userns"],
  ...apart(),
];

/** The same for children of another user than ours; the seccomp filter refuses namespaces of users. */
const USER_ISOLATION: readonly string[] = [
  ...apart(),
  // For setpriv, which gives up all of them; the last one to enter a workspace that is its owner's alone.
  ...["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"],
  ...["--cap-add", "CAP_DAC_READ_SEARCH"],
];

/**
 * The same for children that stay root, where the service is: files of any user can be shown to them, which
 * a namespace of users keeps from root too, and they can serve ports below 1,024. No other right is left.
 */
const ROOT_ISOLATION: readonly string[] = [...apart(), "--cap-add", "CAP_NET_BIND_SERVICE"];

function apart(): string[] {
  return [
    ...["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"],
    ...["--cap-drop", "ALL", "--new-session", "--die-with-parent", "--hostname", "sandbox"],
  ];
}

/** A user that children are instead of ours (`child_user.ts`). */
export interface ChildUser {
  uid: number;
  gid: number;
  /** Path of the program that makes them so, inside as outside. */
  setpriv: string;
}

/** Who children are: that user, or root that stays so; else the service's user in a namespace of its own. */
export type ChildRights = ChildUser | "root" | undefined;

/** First arguments of bwrap for children of these rights. */
export function isolation(rights: ChildRights): string[] {
  if (rights === "root") return [...ROOT_ISOLATION, ...SECCOMP];
  return [...rights === undefined ? ISOLATION : USER_ISOLATION, ...SECCOMP];
}

/** What stands in front of a program in the sandbox to make it that user, without any right left. */
export function becomeUser(user: ChildUser | undefined): string[] {
  if (user === undefined) return [];
  const { uid, gid, setpriv } = user;
  return [
    ...[setpriv, `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"],
    ...["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--"],
  ];
}

/**
 * Arguments of bwrap with the folders above each mount open to that user: it makes them for its own, which
 * is root. What lies in a mount is never made.
 */
export function openParents(args: readonly string[], user: ChildUser | undefined): string[] {
  if (user === undefined) return [...args];
  const made = new Set(["/"]);
  const mounted = new Set<string>();
  return args.flatMap((arg, at) => {
    if (!["--bind", "--ro-bind", "--ro-bind-try"].includes(arg)) return [arg];
    const place = args[at + 2]!;
    const above: string[] = [];
    let path = dirname(place);
    for (; !made.has(path) && !mounted.has(path); path = dirname(path)) above.unshift(path);
    mounted.add(place);
    if (mounted.has(path)) return [arg];
    above.forEach((path) => made.add(path));
    return [...above.flatMap((path) => ["--perms", "0755", "--dir", path]), arg];
  });
}

/** A folder of so many bytes in memory, for whoever the children are. */
export function memoryFolder(path: string, maxBytes: number): string[] {
  return ["--perms", "1777", "--size", String(maxBytes), "--tmpfs", path];
}

/** The kernel's files. As they are, those below `/proc/sys` can be written by the uid that root has in there. */
export const PROC: readonly string[] = ["--proc", "/proc", "--remount-ro", "/proc"];

/** What the child sees of the machine beside Deno, its libraries and the sources of the tools. */
export interface SandboxView {
  /** Absolute real paths, bound read-only. */
  readOnly: readonly string[];
  readWrite: readonly string[];
  /** Shares the host's network; only for children of ours whose net permission names each address. */
  network: boolean;
  /**
   * What Deno derives from the sources is kept here, for one that starts again and again; no other child may
   * have it, since whoever takes this one over can write to it. Default: a folder in memory.
   */
  cacheDir?: string;
}

/** The programs that confine children on this machine. */
export interface Confinement {
  /** Undefined: no sandbox; `reason` says why. */
  bwrap?: string;
  reason: string;
}

/** What people call systems that have no bubblewrap. */
const NAMES: Partial<Record<typeof Deno.build.os, string>> = {
  darwin: "macOS",
  windows: "Windows",
};

/** Finds the programs; starts none. */
export async function findConfinement(os = Deno.build.os): Promise<Confinement> {
  if (os !== "linux") return { reason: `bubblewrap is for Linux, this is ${NAMES[os] ?? os}` };
  const bwrap = await findProgram("bwrap");
  return { bwrap, reason: bwrap ?? `bwrap is in none of ${PROGRAM_FOLDERS.join(", ")}` };
}

/** A program in one of the folders of the system. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of PROGRAM_FOLDERS) {
    const path = `${folder}/${name}`;
    const isFile = await Deno.stat(path).then((info) => info.isFile, () => false);
    if (isFile) return path;
  }
}

/** What every child imports from. */
export const EXECUTOR_SOURCES = [
  "lib/executor",
  "lib/rpc",
  "lib/base/entries.ts",
  "lib/base/layout.ts",
  "lib/base/protected_names.ts",
];

/** Folders and files that a child imports from; none in the binary. */
export function childSources(): string[] {
  return sourcePaths([...EXECUTOR_SOURCES, "lib/tools/child"]);
}

/** Arguments of bwrap up to the program, the same for every child: how the system looks inside. */
export async function sandboxBase(execPath: string, rights?: ChildRights): Promise<string[]> {
  const user = rights === "root" ? undefined : rights;
  const args = [...isolation(rights), "--clearenv"];
  args.push(...await systemMounts(LIBRARY_FOLDERS));
  args.push(...PROC, "--dev", "/dev");
  args.push(...memoryFolder(SANDBOX_CACHE_DIR, 64 * 1024 * 1024));
  const setpriv = user === undefined ? [] : [user.setpriv];
  for (const path of [execPath, ...setpriv, ...childSources()]) args.push("--ro-bind", path, path);
  return openParents(args, user);
}

/** Arguments of bwrap for folders of the system, as they are laid out here. */
export async function systemMounts(folders: readonly string[]): Promise<string[]> {
  const args: string[] = [];
  for (const folder of folders) {
    const info = await Deno.lstat(folder).catch(() => undefined);
    if (info?.isSymlink) args.push("--symlink", await Deno.readLink(folder), folder);
    else if (info?.isDirectory) args.push("--ro-bind", folder, folder);
  }
  return args;
}

/** Arguments that follow the base: what this one child sees. */
export function sandboxView(
  view: SandboxView,
  env: Record<string, string>,
  { packages, user }: { packages?: LockedPackages; user?: ChildUser } = {},
): string[] {
  const args = view.network
    ? RESOLVER_FILES.flatMap((path) => ["--ro-bind-try", path, path])
    : ["--unshare-net"];
  for (const path of view.readOnly) args.push("--ro-bind", path, path);
  for (const path of view.readWrite) args.push("--bind", path, path);
  if (view.cacheDir !== undefined) args.push("--bind", view.cacheDir, SANDBOX_CACHE_DIR);
  if (packages !== undefined) args.push(...packageMounts(packages));
  for (const [name, value] of Object.entries(env)) args.push("--setenv", name, value);
  // What bwrap made as mount points is a file system of its own; nothing is to be left in it.
  args.push("--remount-ro", "/", "--chdir", "/");
  return [...openParents(args, user), "--", ...becomeUser(user)];
}

/** Arguments that show a child its packages. */
export function packageMounts(
  { configFile, importMap, lockFile, denoDir }: LockedPackages,
): string[] {
  return [
    ...[configFile, importMap, lockFile].flatMap((path) => ["--ro-bind", path, path]),
    ...["--ro-bind", `${denoDir}/npm`, `${SANDBOX_CACHE_DIR}/npm`],
  ];
}
