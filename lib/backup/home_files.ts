/**
 * Which files of a home belong in a backup, and how each is read while the service may write it.
 *
 * @module
 */

import { type HomePaths, policyTestFile } from "../config/paths.ts";
import { HOME_ENTRY, WORKSPACE_ENTRY } from "./manifest.ts";

/** How a file is read. */
export type FileKind =
  /** Never changed in place, or by nobody: read as it is. */
  | "plain"
  /** Belongs to its keys: copied together with them. */
  | "sealed"
  /** Only grows: its whole lines. */
  | "log"
  /** SQLite, which takes a snapshot. */
  | "database";

/** A file or folder that belongs in a backup. */
export interface HomeFile {
  /** Where it is. */
  source: string;
  /** Its path in the archive. */
  path: string;
  kind: FileKind | "folder";
}

/** What writes leave behind that didn't end, and what only a running process needs. */
const TRANSIENT = /(\.[0-9a-f]{8}\.tmp|^data\/media\/.*\.part|^keys\/.*\.new)$/;

/** Begins the name of a folder in which a backup keeps copies while it is written. */
export const STAGING_PREFIX = "backup.";

/** Of a journal: what SQLite keeps beside it, its lock, and copies of older versions. */
const BESIDE_JOURNAL = /^data\/service\.db[.-]/;

const BESIDE_DATABASE = /(-(wal|shm|journal)|\.sqlite\.v\d+(\.unfinished)?)$/;

/**
 * Lists a home, links followed: a folder of it may lie on another disk. `leaveOut` are absolute real
 * paths.
 */
export async function* listHome(
  paths: HomePaths,
  leaveOut: ReadonlySet<string>,
): AsyncGenerator<HomeFile> {
  // A configuration elsewhere comes home, in the place of one that isn't used.
  const named = new Map<string, string>();
  if (paths.configFile !== `${paths.home}/config.json`) {
    for (const [source, path] of configFiles(paths)) {
      if (await isFile(source)) named.set(path, source);
    }
  }
  const home = await Deno.realPath(paths.home);
  const replaced = named.keys().map((path) => `${home}/${path}`);
  const places = { leaveOut: new Set([...leaveOut, ...replaced]), seen: new Set<string>() };
  for await (const file of walk(home, "", places)) yield file;
  for (const [path, source] of named) {
    yield { source, path: `${HOME_ENTRY}/${path}`, kind: "plain" };
  }
}

/** Files of the configuration, and where they are in a home. */
function configFiles(paths: HomePaths): [source: string, path: string][] {
  return [
    [paths.configFile, "config.json"],
    [paths.lastGoodFile, "config.json.last-good"],
    [policyTestFile(paths), "policy.test.json"],
  ];
}

async function* walk(
  dir: string,
  path: string,
  { leaveOut, seen }: { leaveOut: ReadonlySet<string>; seen: Set<string> },
): AsyncGenerator<HomeFile> {
  if (leaveOut.has(dir) || seen.has(dir)) return;
  seen.add(dir);
  for await (const { name } of Deno.readDir(dir)) {
    const source = `${dir}/${name}`;
    const below = path === "" ? name : `${path}/${name}`;
    if (isTransient(below) || leaveOut.has(source)) continue;
    const info = await statOf(source);
    if (info?.isDirectory) {
      for await (const file of walk(await Deno.realPath(source), below, { leaveOut, seen })) {
        yield file;
      }
    } else if (info?.isFile) {
      yield { source, path: `${HOME_ENTRY}/${below}`, kind: await kindOf(below, source) };
    }
  }
}

function isTransient(path: string): boolean {
  return path === "run" || /^backup\.[0-9a-f]{8}$/.test(path) || path === "operator/lock" ||
    path === "keys/journal.json" || /^keys\/(gateway|command)-permissions\.json$/.test(path) ||
    TRANSIENT.test(path) || BESIDE_JOURNAL.test(path) ||
    path.startsWith("data/channels/") && BESIDE_DATABASE.test(path);
}

async function kindOf(path: string, source: string): Promise<FileKind> {
  if (path.startsWith("keys/") || path.startsWith("operator/")) return "sealed";
  if (path.startsWith("audit/")) return path.endsWith(".jsonl") ? "log" : "sealed";
  const mayBeDatabase = path === "data/service.db" || path.startsWith("data/channels/");
  return mayBeDatabase && await isDatabase(source) ? "database" : "plain";
}

async function isDatabase(source: string): Promise<boolean> {
  using file = await Deno.open(source);
  const header = new Uint8Array(16);
  await file.read(header);
  return new TextDecoder().decode(header) === "SQLite format 3\0";
}

/** Lists a workspace. Links aren't followed: what they lead to belongs to somebody else. */
export async function* listWorkspace(
  dir: string,
  onSkipped: () => void,
  path = WORKSPACE_ENTRY,
): AsyncGenerator<HomeFile> {
  for await (const { name } of Deno.readDir(dir)) {
    const source = `${dir}/${name}`;
    const below = `${path}/${name}`;
    const info = await Deno.lstat(source).catch(unlessGone);
    if (info?.isDirectory) {
      yield { source, path: below, kind: "folder" };
      for await (const file of listWorkspace(source, onSkipped, below)) yield file;
    } else if (info?.isFile) yield { source, path: below, kind: "plain" };
    else if (info !== undefined) onSkipped();
  }
}

async function statOf(path: string): Promise<Deno.FileInfo | undefined> {
  return await Deno.stat(path).catch(unlessGone);
}

async function isFile(path: string): Promise<boolean> {
  return (await statOf(path))?.isFile ?? false;
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
