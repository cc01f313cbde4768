/**
 * Makes a home of an archive.
 *
 * @module
 */

import { statfs } from "node:fs/promises";
import { judgeAudit } from "../audit/judge.ts";
import { openAudit } from "../audit/log.ts";
import { acquireHome, type HomeLock } from "../authority/home_lock.ts";
import { journalMarkOf } from "../authority/journal_mark.ts";
import { syncFolder } from "../base/atomic_write.ts";
import { ServiceError } from "../base/errors.ts";
import { makePrivateDir } from "../base/private_dir.ts";
import { realPathOf } from "../base/real_path.ts";
import { type HomePaths, resolvePaths } from "../config/paths.ts";
import { type SettledJournal, settleRestored } from "../journal/settle_restored.ts";
import { explain } from "./explain.ts";
import { badBackup, HOME_ENTRY, WORKSPACE_ENTRY } from "./manifest.ts";
import {
  type ArchiveEntry,
  type CheckedArchive,
  openArchive,
  readArchive,
  type ReadOptions,
} from "./read_archive.ts";

/** What is restored where. */
export interface RestoreOptions extends ReadOptions {
  archive: string;
  paths: HomePaths;
  /** Whether a home that isn't empty is moved aside. */
  force: boolean;
  /** Look whether it can be done, and change nothing. */
  dryRun: boolean;
  now?: () => number;
}

/** What was restored. */
export interface Restored extends CheckedArchive {
  home: string;
  /** Where the old home is, or would be. */
  oldHome?: string;
  /** Absent when the archive has no journal, and after a dry run. */
  settled?: SettledJournal;
  /** Why the audit log of the backup doesn't verify; absent when it does. */
  auditProblem?: string;
  /** Number of the record that says that the home was restored. */
  auditSeq?: number;
}

/**
 * Checks the archive, unpacks it beside the home, and gives it the home's name. Throws `home_busy` when a
 * service runs, `conflict` when the home isn't empty, and `invalid_request` for an archive that can't
 * be trusted; the home is then as it was.
 */
export async function restoreHome(options: RestoreOptions): Promise<Restored> {
  const { archive, dryRun } = options;
  const home = realPathOf(options.paths.home);
  using file = await openArchive(archive);
  const { lock, isEmpty } = await takeOldHome(home, options);
  try {
    const checked = await readArchive(file, options);
    await refuseSmallDisk(parentOf(home), checked.bytes);
    const summary: Restored = {
      ...checked,
      home,
      ...!isEmpty && { oldHome: asideName(home, options) },
    };
    if (dryRun) return summary;
    return await explain(
      `Cannot restore to "${home}"`,
      () => makeHome(file, { ...options, summary }),
    );
  } finally {
    lock?.release();
  }
}

/** The lock of a home that would be moved aside; none of an empty one, which it would fill. */
async function takeOldHome(
  home: string,
  { force, paths }: RestoreOptions,
): Promise<{ lock?: HomeLock; isEmpty: boolean }> {
  const names: string[] = await namesIn(home).catch((cause) => {
    if (cause instanceof Deno.errors.NotFound) return [];
    throw new ServiceError(
      "config_invalid",
      `Cannot use "${home}" as a home: ${cause.message}`,
      { param: "SERVICE_HOME" },
      { cause },
    );
  });
  await refuseMountPoint(home);
  if (names.length === 0) return { isEmpty: true };
  const lock = names.includes("run") || force ? await acquireHome(paths) : undefined;
  if (lock !== undefined && "heldBy" in lock) {
    throw new ServiceError(
      "home_busy",
      `A service runs in "${home}" (process ${lock.heldBy ?? "unknown"}). Stop it first`,
    );
  }
  if (force) return { lock, isEmpty: false };
  lock?.release();
  throw new ServiceError(
    "conflict",
    `The home "${home}" isn't empty. Move it aside and restore with: --force`,
  );
}

/** A mount point can't be replaced, and what is beside it is on another disk. */
async function refuseMountPoint(home: string): Promise<void> {
  const device = (path: string) => Deno.stat(path).then(({ dev }) => dev, () => undefined);
  const own = await device(home);
  if (own === undefined || own === await device(parentOf(home))) return;
  throw new ServiceError(
    "config_invalid",
    `Cannot replace "${home}": it is a mount point. Set SERVICE_HOME to a folder in it`,
    { param: "SERVICE_HOME" },
  );
}

async function refuseSmallDisk(folder: string, bytes: number): Promise<void> {
  const disk = await statfs(folder).catch(() => undefined);
  if (disk === undefined || disk.bavail * disk.bsize >= bytes) return;
  const free = disk.bavail * disk.bsize;
  throw new ServiceError(
    "storage_full",
    `The backup needs ${bytes} bytes and "${folder}" has ${free} bytes free`,
  );
}

interface MakeOptions extends RestoreOptions {
  summary: Restored;
}

async function makeHome(file: Deno.FsFile, options: MakeOptions): Promise<Restored> {
  const { summary } = options;
  const { home } = summary;
  await Deno.mkdir(parentOf(home), { recursive: true });
  await removeLeftovers(home);
  const staging = `${home}.restore-${crypto.randomUUID().slice(0, 8)}`;
  await Deno.mkdir(staging, { mode: 0o700 });
  const paths = homePathsOf(staging);
  try {
    // The lock of the new home from its first moment on.
    const lock = await acquireHome(paths);
    try {
      await unpack(file, staging, options);
      const settled = await settle(paths, options);
      const audit = await recordRestore(paths, options);
      await replaceHome(staging, summary);
      return { ...summary, settled, ...audit };
    } finally {
      if ("release" in lock) lock.release();
    }
  } catch (error) {
    await Deno.remove(staging, { recursive: true }).catch(() => {});
    throw error;
  }
}

/** What restores leave that were killed. */
async function removeLeftovers(home: string): Promise<void> {
  const folder = parentOf(home);
  const prefix = `${home.slice(home.lastIndexOf("/") + 1)}.restore-`;
  for (const name of await namesIn(folder)) {
    if (!name.startsWith(prefix) || !/^[0-9a-f]{8}$/.test(name.slice(prefix.length))) continue;
    const lock = await acquireHome(homePathsOf(`${folder}/${name}`)).catch(() => undefined);
    if (lock === undefined || "heldBy" in lock) continue;
    await Deno.remove(`${folder}/${name}`, { recursive: true });
    lock.release();
  }
}

/** Everything is on the disk when it resolves. */
async function unpack(
  file: Deno.FsFile,
  staging: string,
  { signal }: MakeOptions,
): Promise<void> {
  let folder = staging;
  await readArchive(file, { signal }, async (entry) => {
    // Below the home, and the workspace in it; see faultOf in read_archive.ts.
    const path = `${staging}/${
      entry.path.startsWith(`${WORKSPACE_ENTRY}/`)
        ? entry.path
        : entry.path.slice(HOME_ENTRY.length + 1)
    }`;
    const wanted = entry.isFolder ? path : parentOf(path);
    try {
      if (wanted !== folder) await Deno.mkdir(wanted, { recursive: true, mode: 0o700 });
      folder = wanted;
      if (!entry.isFolder) await writeEntry(path, entry);
    } catch (cause) {
      const isThere = cause instanceof Deno.errors.AlreadyExists ||
        cause instanceof Deno.errors.NotADirectory;
      throw isThere ? badBackup(`"${entry.path}" is there twice`, { cause }) : cause;
    }
  });
  await syncFolders(staging);
}

async function writeEntry(path: string, { bytes, mode }: ArchiveEntry): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode: mode & 0o700 });
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length;) at += await file.write(chunk.subarray(at));
  }
  await file.sync();
}

/** Puts the names in a folder, and in all below it, on the disk. */
async function syncFolders(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) await syncFolders(`${folder}/${name}`);
  }
  await syncFolder(`${folder}/`);
}

async function settle(
  paths: HomePaths,
  { now = Date.now }: RestoreOptions,
): Promise<SettledJournal | undefined> {
  const hasJournal = await Deno.stat(paths.database).then(() => true, () => false);
  if (!hasJournal) return undefined;
  const settled = settleRestored(paths.database, now());
  // The home knows that it had a journal, and that this file isn't the one it closed.
  await makePrivateDir(paths.keysDir);
  await Deno.writeTextFile(journalMarkOf(paths), "{}", { mode: 0o600, createNew: true });
  return settled;
}

/** Puts the restore on record, where the audit log verifies. */
async function recordRestore(
  { auditDir: dir, keysDir }: HomePaths,
  { summary: { createdAt, version }, now }: MakeOptions,
): Promise<Pick<Restored, "auditProblem" | "auditSeq">> {
  try {
    const verdict = await judgeAudit({
      dir,
      keysDir,
      publicKeys: [],
      mirror: "",
      knownLosses: new Set(),
    });
    // What is wrong with it stays as it is in the backup.
    if (!verdict.ok) return { auditProblem: verdict.message };
    const found = (verdict.firstSeq ?? 1) + (verdict.records ?? 0) - 1;
    const audit = await openAudit({ dir, keysDir, log: SILENT, now });
    try {
      const { seq } = await audit.append("home.restored", { createdAt, version, found });
      return { auditSeq: seq };
    } finally {
      await audit.close();
    }
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    return { auditProblem: (error as Error).message };
  }
}

/** What is odd about the audit is in the answer. */
const SILENT = { debug() {}, info() {}, warning() {}, error() {} };

async function replaceHome(staging: string, { home, oldHome }: Restored): Promise<void> {
  if (oldHome !== undefined) await Deno.rename(home, oldHome);
  try {
    await Deno.rename(staging, home);
  } catch (error) {
    if (oldHome !== undefined) await Deno.rename(oldHome, home);
    throw error;
  }
  await syncFolder(home);
}

function asideName(home: string, { now = Date.now }: RestoreOptions): string {
  return `${home}.before-restore-${new Date(now()).toISOString().replace(/[-:]|\.\d+/g, "")}`;
}

function homePathsOf(home: string): HomePaths {
  return resolvePaths({ env: (name) => name === "SERVICE_HOME" ? home : undefined, homeDir: home });
}

async function namesIn(folder: string): Promise<string[]> {
  return await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
