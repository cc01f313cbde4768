/**
 * A child of ours in the sandbox of commands: what has to be there beside what a command sees, and what
 * the operator adds to that.
 *
 * @module
 */

import { isInside } from "../base/inside.ts";
import { type ChildCommand, childCommand, type ChildPermissions } from "./command.ts";
import { EXECUTOR_SOURCES, memoryFolder, packageMounts, SANDBOX_CACHE_DIR } from "./sandbox.ts";
import type { SessionBegin, SessionEndpoint } from "./child_session.ts";
import type { Endpoint } from "../rpc/endpoint.ts";
import type { LockedPackages } from "../packages/locked_packages.ts";
import { type EntryName, entryUrl } from "../base/entries.ts";
import { sourcePaths } from "../base/layout.ts";

/** A child that lives on in the sandbox of commands. */
export type CommandSessionJob<Authority extends Endpoint, Child extends SessionEndpoint> =
  & SessionBegin<Authority, Child>
  & CommandSessionNeeds;

/** What it is started with, and what it is let do. */
export interface CommandSessionNeeds {
  /** What Deno lets it do; the sandbox holds it and what it starts beside that. */
  permissions: ChildPermissions;
  /** Folders that it imports from beside the executor's own, relative to the program's. */
  sources: readonly string[];
  packages?: LockedPackages;
  /** Absolute paths outside of the workspace that it sees, and those that it may write to. */
  readOnly: readonly string[];
  readWrite: readonly string[];
  /** Real path in the workspace. */
  cwd: string;
  /** Added to its environment, which what it starts has too if it passes it on. */
  env?: Readonly<Record<string, string>>;
  /** The socket of its proxy; without one it has no network. */
  networkSocket?: string;
  /** V8's heap. Default 256. */
  maxHeapMiB?: number;
}

const DEFAULT_MAX_HEAP_MIB = 256;
const CACHE_BYTES = 64 * 1024 * 1024;
/** What no sandbox shows, whoever asks for it: processes, devices and the kernel's own. */
const NEVER = ["/proc", "/dev", "/sys"];

/** Its command line and what Deno needs in its environment, which holds no secret. */
export async function sessionCommand(
  job: CommandSessionNeeds & Pick<SessionBegin<Endpoint, SessionEndpoint>, "name" | "entry">,
  /** Where there is no sandbox: Deno's folder for what it derives. */
  cacheDir?: string,
): Promise<ChildCommand> {
  const packages = Deno.build.standalone ? undefined : job.packages;
  return childCommand({
    tool: job.name,
    entry: job.entry ?? entryUrl(job.name as EntryName),
    permissions: job.permissions,
    packages,
    maxHeapMiB: job.maxHeapMiB ?? DEFAULT_MAX_HEAP_MIB,
    cacheDir: cacheDir === undefined ? SANDBOX_CACHE_DIR : packages?.denoDir ?? cacheDir,
    execPath: await Deno.realPath(Deno.execPath()),
  });
}

/**
 * Arguments of bwrap for what it needs to start and what it is given. Throws an Error that names a path
 * which it cannot be given.
 */
export async function sessionMounts(
  job: CommandSessionNeeds,
  { workspace, hidden }: { workspace: string; hidden: readonly string[] },
): Promise<string[]> {
  const args: string[] = [];
  const readWrite = await Promise.all(job.readWrite.map((path) => judge(path, workspace, hidden)));
  const readOnly = await Promise.all(job.readOnly.map((path) => judge(path, workspace, hidden)));
  for (const { path, real } of readOnly) {
    // Else whoever may write there could put a link to anything in its place.
    const above = readWrite.find((one) => one.real !== real && isInside(real, one.real));
    if (above !== undefined) {
      throw new Error(`"${path}" lies in "${above.path}", which it may write to`);
    }
  }
  // Parents first: what is mounted later lies over what was there.
  const given = [
    ...readOnly.map(({ real }) => ({ real, how: "--ro-bind" })),
    ...readWrite.map(({ real }) => ({ real, how: "--bind" })),
  ].sort((a, b) => a.real.length - b.real.length);
  for (const { real, how } of given) args.push(how, real, real);

  args.push(...memoryFolder(SANDBOX_CACHE_DIR, CACHE_BYTES));
  const execPath = await Deno.realPath(Deno.execPath());
  args.push("--ro-bind", execPath, execPath);
  if (Deno.build.standalone) return args;
  for (const path of sourcePaths([...EXECUTOR_SOURCES, ...job.sources])) {
    args.push("--ro-bind", path, path);
  }
  if (job.packages !== undefined) args.push(...packageMounts(job.packages));
  return args;
}

/** A path that it is to be given, where it really leads. */
async function judge(
  path: string,
  workspace: string,
  hidden: readonly string[],
): Promise<{ path: string; real: string }> {
  let real: string;
  try {
    real = await Deno.realPath(path);
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound ? "is not there" : (error as Error).message;
    throw new Error(`"${path}", which it is to be given, ${why}`);
  }
  const refuse = (why: string) => new Error(`"${path}" cannot be given to it: ${why}`);
  const meet = (other: string) => isInside(real, other) || isInside(other, real);
  if (meet(workspace)) throw refuse("it and the workspace lie in each other");
  const own = hidden.find(meet);
  if (own !== undefined) throw refuse("the service's own files are there");
  const system = NEVER.find(meet);
  if (system !== undefined) throw refuse(`${system} is never given`);
  return { path, real };
}
