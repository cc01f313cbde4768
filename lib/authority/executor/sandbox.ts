/**
 * The operating system's wall around a child: bubblewrap, with nothing bound but what the action may
 * touch and what Deno needs to start (decisions E6). It holds where a permission of Deno does not: a
 * path permission follows symbolic links out of its folder.
 *
 * Cost on the reference machine (2 cores), a cold child end to end: 19 ms bare, 25 ms inside.
 *
 * @module
 */

import type { LockedPackages } from "../../packages/locked_packages.ts";
import { sourcePaths } from "../../layout.ts";
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
  "--unshare-user",
  "--uid",
  "1000",
  "--gid",
  "1000",
  "--unshare-ipc",
  "--unshare-pid",
  "--unshare-uts",
  "--unshare-cgroup-try",
  "--cap-drop",
  "ALL",
  "--disable-userns",
  "--new-session",
  "--die-with-parent",
  "--hostname",
  "sandbox",
];

/** The kernel's files. As they are, those below `/proc/sys` can be written by the uid that root has in there. */
export const PROC: readonly string[] = ["--proc", "/proc", "--remount-ro", "/proc"];

/** What the child sees of the machine beside Deno, its libraries and the sources of the tools. */
export interface SandboxView {
  /** Absolute real paths, bound read-only. */
  readOnly: readonly string[];
  readWrite: readonly string[];
  /** Shares the host's network; only for children of ours whose net permission names each address. */
  network: boolean;
}

/** The programs that confine children on this machine. */
export interface Confinement {
  /** Undefined: no sandbox; `reason` says why. */
  bwrap?: string;
  /** Limits of memory, processor time and open files. */
  prlimit?: string;
  reason: string;
}

/** Finds the programs; starts none. */
export async function findConfinement(os = Deno.build.os): Promise<Confinement> {
  if (os !== "linux") return { reason: `bubblewrap is for Linux, this is ${os}` };
  const [bwrap, prlimit] = await Promise.all([findProgram("bwrap"), findProgram("prlimit")]);
  const reason = bwrap ?? `bwrap is in none of ${PROGRAM_FOLDERS.join(", ")}`;
  return { bwrap, prlimit, reason };
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
export const EXECUTOR_SOURCES = ["lib/authority/executor", "lib/layout.ts"];

/** Folders and files that a child imports from; none in the binary. */
export function childSources(): string[] {
  return sourcePaths([...EXECUTOR_SOURCES, "lib/tools/child"]);
}

/** Arguments of bwrap up to the program, the same for every child: how the system looks inside. */
export async function sandboxBase(execPath: string): Promise<string[]> {
  const args = [...ISOLATION, ...SECCOMP, "--clearenv"];
  for (const folder of LIBRARY_FOLDERS) {
    const info = await Deno.lstat(folder).catch(() => undefined);
    if (info?.isSymlink) args.push("--symlink", await Deno.readLink(folder), folder);
    else if (info?.isDirectory) args.push("--ro-bind", folder, folder);
  }
  args.push(...PROC, "--dev", "/dev");
  args.push("--size", String(64 * 1024 * 1024), "--tmpfs", SANDBOX_CACHE_DIR);
  for (const path of [execPath, ...childSources()]) args.push("--ro-bind", path, path);
  return args;
}

/** Arguments that follow the base: what this one child sees. */
export function sandboxView(
  view: SandboxView,
  env: Record<string, string>,
  packages?: LockedPackages,
): string[] {
  const args = view.network
    ? RESOLVER_FILES.flatMap((path) => ["--ro-bind-try", path, path])
    : ["--unshare-net"];
  for (const path of view.readOnly) args.push("--ro-bind", path, path);
  for (const path of view.readWrite) args.push("--bind", path, path);
  if (packages !== undefined) args.push(...packageMounts(packages));
  for (const [name, value] of Object.entries(env)) args.push("--setenv", name, value);
  // What bwrap made as mount points is a file system of its own; nothing is to be left in it.
  args.push("--remount-ro", "/", "--chdir", "/", "--");
  return args;
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
