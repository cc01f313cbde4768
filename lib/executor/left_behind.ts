/**
 * What a command left in the workspace that other programs obey or start, or that no later command could
 * be kept from: it is moved aside, as a mount holds only what was there when the command began.
 *
 * The moves are made in the sandbox, with everything held that was there before: a link that somebody
 * puts in the way leads nowhere else.
 *
 * @module
 */

import { basename, dirname, join } from "@std/path";
import { isInside } from "../base/inside.ts";
import { isDataConfig } from "./git_config.ts";
import { pointed, readGitConfig } from "./git_folder.ts";
import { foldPath, HELD_SUFFIX, isCredentialPath } from "../base/protected_names.ts";
import { type Guard, guardsOf, MAX_GUARDS } from "./workspace_guards.ts";
import type { Look } from "./workspace_look.ts";

/** What was there when a command began, and what it could not change. */
export interface Before {
  workspace: string;
  /** Paths, as in `Look`. */
  held: string[];
  obeyed: string[];
  gitFolders: string[];
  /** Folders that were held as a whole. */
  closed: string[];
  /** What has changed since is nobody's; milliseconds since 1970. */
  until?: number;
}

/** What was moved aside, and what the command is told. */
export interface LeftBehind {
  /** Lines for its output. */
  notes: string[];
  /** It left more than the workspace has room for, in words for its turn. */
  overrun?: string;
}

/** One thing and its new path. */
export interface Move {
  from: string;
  to: string;
}

/** What it works with. */
export interface LeftBehindDeps {
  look(): Promise<Look>;
  /** Moves in the sandbox, with the guards; a move that fails is found by the next look. */
  move(moves: readonly Move[], guards: readonly Guard[]): Promise<void>;
}

/** Guards beyond which a command may add none: the rest is for what people put there. */
const MAX_LEFT_GUARDS = MAX_GUARDS * 0.8;
const MAX_ROUNDS = 4;
const MAX_NAMED = 5;

/** What is to be compared later. */
export function rememberBefore(
  { held, obeyed, gitFolders }: Look,
  guards: readonly Guard[],
  workspace: string,
): Before {
  return {
    workspace,
    held: [...held.keys()],
    obeyed: [...obeyed],
    gitFolders: [...gitFolders],
    closed: guards.filter(({ how }) => how === "readOnly" || how === "hideFolder")
      .map(({ path }) => path),
  };
}

/** Moves aside what a command left. Throws when that cannot be done. */
export async function moveLeftBehind(before: Before, deps: LeftBehindDeps): Promise<LeftBehind> {
  const { workspace } = before;
  const moved: Move[] = [];
  let overrun: string | undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const look = await deps.look();
    let leaving = await findObeyed(before, look);
    if (leaving.length === 0) {
      const made = guardsOf(look, { workspace, maxGuards: MAX_LEFT_GUARDS });
      leaving = "problem" in made ? findSurplus(before, look) : [];
      if (leaving.length === 0) return { notes: tell(moved, overrun), overrun };
      overrun = `it left ${leaving.length} more files to hide or to guard than the workspace has ` +
        "room for";
    }
    const moves: Move[] = [];
    for (const from of leaving) moves.push({ from, to: await freeName(from) });
    await deps.move(moves, guardsWithout(look, leaving, workspace));
    moved.push(...moves);
  }
  throw new Error(`"${moved.at(-1)!.from}" cannot be moved aside`);
}

/** What is new, and makes other programs do something. */
async function findObeyed(before: Before, look: Look): Promise<string[]> {
  const isNew = newIn(before, before.obeyed);
  const found: string[] = [];
  for (const path of [...look.obeyed].filter(isNew).sort()) {
    if (found.some((folder) => isInside(path, folder))) continue;
    if (await isLater(path, before)) continue;
    if (!await isHarmless(path, look, before.workspace)) found.push(path);
  }
  return found;
}

async function isLater(path: string, { until = Infinity }: Before): Promise<boolean> {
  const info = await Deno.lstat(path).catch(() => undefined);
  return (info?.ctime?.getTime() ?? 0) > until;
}

/** What is new and to be held, as far as each can be moved by itself. */
function findSurplus(before: Before, { held, gitFolders }: Look): string[] {
  const isNew = newIn(before, before.held);
  const isNewFolder = newIn(before, before.gitFolders);
  // Without its HEAD and its name, a repository is a folder like others.
  const folders = [...gitFolders].filter(isNewFolder);
  const repositories = folders.flatMap((folder) =>
    basename(folder) === ".git" ? [join(folder, "HEAD"), folder] : [join(folder, "HEAD")]
  );
  const others = [...held.keys()].filter((path) =>
    held.get(path) !== "pin" && isNew(path) && !folders.some((folder) => isInside(path, folder))
  );
  return [...repositories, ...others];
}

function newIn(before: Before, paths: readonly string[]): (path: string) => boolean {
  const known = new Set(paths);
  const closed = new Set(before.closed);
  return (path) => {
    if (known.has(path)) return false;
    for (let above = path; above.length > before.workspace.length; above = dirname(above)) {
      if (closed.has(above)) return false;
    }
    return true;
  };
}

/** Whether what git, a shell or an agent takes from it starts nothing and leads nowhere else. */
async function isHarmless(path: string, look: Look, workspace: string): Promise<boolean> {
  if (look.unholdable.has(path)) return false;
  const info = await Deno.lstat(path).catch(() => undefined);
  if (info === undefined) return true;
  const name = foldPath(basename(path))[0] ?? "";
  if (info.isDirectory) {
    const entries = await Array.fromAsync(Deno.readDir(path)).catch(() => undefined);
    // Git takes no sample for a hook.
    return entries?.every((entry) =>
      name === "hooks" && entry.isFile && entry.name.endsWith(".sample")
    ) ?? false;
  }
  // Another name of it could be written to later.
  if (!info.isFile || (info.nlink ?? 1) > 1) return false;
  switch (name) {
    case "config":
    case "config.worktree": {
      const variables = await readGitConfig(path);
      if (variables === undefined || !isDataConfig(variables)) return false;
      const trees = variables.filter(({ name }) => name === "core.worktree");
      return await all(trees, ({ value }) => leadsInto(join(dirname(path), value), workspace));
    }
    case ".git":
    case "commondir": {
      const target = await pointed(path);
      const real = target && await Deno.realPath(target).catch(() => undefined);
      return real !== undefined && look.gitFolders.has(real);
    }
    case "gitdir":
      return await leadsInto(await pointed(path) ?? "/", workspace);
    default:
      return info.size === 0;
  }
}

async function leadsInto(path: string, workspace: string): Promise<boolean> {
  const real = await Deno.realPath(path).catch(() => undefined);
  return real !== undefined && isInside(real, workspace);
}

async function all<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<boolean> {
  for (const item of items) {
    if (!await test(item)) return false;
  }
  return true;
}

/** A name beside it that nobody obeys. */
async function freeName(path: string): Promise<string> {
  for (let count = 1; count < 100; count++) {
    const to = path + (count === 1 ? "" : `.${count}`) + HELD_SUFFIX;
    const isLong = new TextEncoder().encode(basename(to)).length > 255;
    if (isLong || isCredentialPath(to) || to.includes("\ufffd")) break;
    if (await Deno.lstat(to).then(() => false, () => true)) return to;
  }
  return join(dirname(path), `${crypto.randomUUID()}${HELD_SUFFIX}`);
}

function guardsWithout(look: Look, leaving: readonly string[], workspace: string): Guard[] {
  const gone = new Set(leaving);
  const held = new Map([...look.held].filter(([path]) => {
    for (let above = path; above.length > workspace.length; above = dirname(above)) {
      if (gone.has(above)) return false;
    }
    return true;
  }));
  const made = guardsOf({ held, unholdable: new Map() }, { workspace });
  if ("problem" in made) throw new Error(made.problem);
  return made.guards;
}

function tell(moved: readonly Move[], overrun: string | undefined): string[] {
  if (moved.length === 0) return [];
  const names = moved.slice(0, MAX_NAMED).map(({ from, to }) => `"${from}" to "${basename(to)}"`);
  const more = moved.length > MAX_NAMED ? ` and ${moved.length - MAX_NAMED} more` : "";
  const why = overrun === undefined
    ? "other programs would obey or start it"
    : "later commands could not be kept from it";
  return [`moved aside, as ${why}: ${names.join(", ")}${more}; only a person can put it back`];
}
