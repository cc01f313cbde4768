/**
 * The wall around a command: bubblewrap with the system read-only, the workspace, a `/tmp` of its own,
 * no network and nothing else.
 *
 * @module
 */

import { isInside } from "../base/inside.ts";
import { COMMAND_PATH } from "../policy/resolve/resolve_command.ts";
import { networkSandbox } from "./network/network_sandbox.ts";
import { type MountCheck, mountCheck } from "./mount_check.ts";
import {
  becomeUser,
  type ChildUser,
  isolation,
  memoryFolder,
  openParents,
  PROC,
  systemMounts,
} from "./sandbox.ts";
import type { Guard } from "./workspace_guards.ts";

/** Programs and libraries, as they are laid out here: folders are bound, links are made again. */
const SYSTEM_FOLDERS = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/nix/store",
];

/**
 * What programs read of `/etc`. Not the whole: it holds keys and the hashes of passwords; and not more
 * than is needed, as each mount costs 0.15 ms: files are copied, each by a descriptor from 3 to 8.
 */
const ETC_FOLDERS = ["/etc/alternatives", "/etc/fonts", "/etc/ssl/certs"];
const ETC_FILES = [
  "/etc/group",
  "/etc/ld.so.cache",
  "/etc/mime.types",
  "/etc/nsswitch.conf",
  "/etc/passwd",
  "/etc/ssl/openssl.cnf",
];
const LOCAL_TIME = "/etc/localtime";

const MIB = 1024 * 1024;
const TMP_BYTES = 256 * MIB;
const SHM_BYTES = 64 * MIB;

/** Everything that a command has in its environment, in the sandbox and without one. */
export const COMMAND_ENV: Readonly<Record<string, string>> = {
  HOME: "/tmp",
  LANG: "C.UTF-8",
  PATH: COMMAND_PATH.join(":"),
  TERM: "dumb",
  TMPDIR: "/tmp",
  USER: "agent",
};

/** What a command sees of the machine beside the system. */
export interface CommandView {
  /** Real path, bound with writing. */
  workspace: string;
  /** Real path in the workspace. */
  cwd: string;
  /** Parents before what is in them. */
  guards: readonly Guard[];
  /** File of names that git is not to add: those that stand for files which a command must not make. */
  gitIgnore?: string;
  /** Further places, as arguments of bwrap; they lie over everything else. */
  mounts?: readonly string[];
  /** What bwrap itself has in its environment is for the command. */
  passEnv?: boolean;
  /** The socket of its proxy; without one it has no network. */
  networkSocket?: string;
  /** Another one than ours. */
  user?: ChildUser;
}

/** How a command's sandbox is started. */
export interface CommandSandbox {
  /** What the script begins with that starts bwrap: opens the files that are copied. */
  open: string;
  /** Arguments of bwrap up to the first shell in there. */
  args: string[];
  /** What that one compares before it goes on. */
  check: MountCheck;
}

/** Found once, as in every other sandbox. */
let systemFolders: Promise<string[]> | undefined;

/** The sandbox of one command. */
export async function commandSandbox(view: CommandView): Promise<CommandSandbox> {
  const { workspace, cwd, guards, gitIgnore, mounts = [], networkSocket, user } = view;
  const network = networkSocket === undefined
    ? undefined
    : await networkSandbox(networkSocket, { user });
  const args = isolation(user);
  if (!view.passEnv) args.push("--clearenv");
  // Where something is around it, that has a loopback alone already.
  if (network === undefined || network.outer.length === 0) args.push("--unshare-net");
  const workspaceArgs = ["--bind", workspace, workspace, ...guards.flatMap(guardArgs)];
  // What comes later lies over it, so the look at the mounts may end where nothing but the system comes.
  const isFirst = mounts.length === 0 && network === undefined &&
    workspaceProblem(workspace) === undefined &&
    !SYSTEM_FOLDERS.some((folder) => isInside(workspace, folder));
  args.push(...memoryFolder("/tmp", TMP_BYTES), "--symlink", "/tmp", "/var/tmp");
  if (gitIgnore !== undefined) {
    for (const folder of ["/tmp/.config", "/tmp/.config/git"]) {
      args.push("--perms", "1777", "--dir", folder);
    }
    args.push("--ro-bind", gitIgnore, "/tmp/.config/git/ignore");
  }
  if (isFirst) args.push(...workspaceArgs);
  args.push(...await (systemFolders ??= systemMounts(SYSTEM_FOLDERS)));
  const etc = await etcFiles();
  args.push(...etc.args);
  args.push(...PROC, "--dev", "/dev");
  // Without a size of their own these would be as large as half the machine's memory.
  args.push(...memoryFolder("/dev/shm", SHM_BYTES), "--remount-ro", "/dev");
  if (!isFirst) args.push(...workspaceArgs);
  args.push(...mounts, ...(network?.mounts ?? []));
  for (const [name, value] of Object.entries(COMMAND_ENV)) args.push("--setenv", name, value);
  args.push("--remount-ro", "/", "--chdir", cwd);
  const inside = [
    ...(network?.outer ?? []),
    ...openParents(args, user),
    ...["--", ...becomeUser(user)],
  ];
  const check = mountCheck({ workspace, guards, isFirst });
  const { open } = etc;
  if (network === undefined) return { open, args: inside, check };
  // Before the relay.
  inside.push("/bin/sh", "-c", `${check.script}exec "$@"`, "sandbox", ...check.args);
  const none = mountCheck({ workspace, guards: [] });
  return { open, args: [...inside, ...network.start], check: none };
}

/** Why a folder cannot be a command's workspace, if it cannot. */
export function workspaceProblem(workspace: string): string | undefined {
  const inSystem = ["/etc", "/proc", "/dev", "/sys"].find((folder) => isInside(workspace, folder));
  const system = inSystem ??
    [...SYSTEM_FOLDERS, "/etc", "/proc", "/dev"].find((folder) => isInside(folder, workspace));
  if (system === undefined) return undefined;
  return `the workspace "${workspace}" and the system's "${system}" lie in each other`;
}

/** Folders first: what is above them is made open to everybody (`openParents`). */
async function etcFiles(): Promise<Pick<CommandSandbox, "open" | "args">> {
  const [localTime, ...areReadable] = await Promise.all([
    Deno.realPath(LOCAL_TIME).catch(() => LOCAL_TIME),
    ...ETC_FILES.map((path) =>
      Deno.open(path).then((file) => file.close()).then(() => true, () => false)
    ),
  ]);
  const files = ETC_FILES.filter((_, at) => areReadable[at]);
  return {
    open: files.map((path, at) => `exec ${at + 3}< ${path}; `).join(""),
    args: [
      ...ETC_FOLDERS.flatMap((path) => ["--ro-bind-try", path, path]),
      ...isInside(localTime, "/usr")
        ? ["--symlink", localTime, LOCAL_TIME]
        : ["--ro-bind-try", LOCAL_TIME, LOCAL_TIME],
      ...files.flatMap((path, at) => ["--perms", "0644", "--file", String(at + 3), path]),
    ],
  };
}

function guardArgs({ path, how }: Guard): string[] {
  switch (how) {
    case "pin":
      return ["--bind", path, path];
    case "readOnly":
      return ["--ro-bind", path, path];
    case "hideFile":
      // Devices do not open in a sandbox, so this one says that the permission is missing.
      return ["--ro-bind", "/dev/null", path];
    case "hideFolder":
      return ["--perms", "0000", "--size", "4096", "--tmpfs", path, "--remount-ro", path];
  }
}
