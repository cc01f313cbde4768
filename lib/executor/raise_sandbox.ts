/**
 * Makes the sandbox of one program of the workspace ready: what is held back from it is found, held and
 * watched, and it has a control group where root needs one.
 *
 * @module
 */

import {
  type CommandLimits,
  type ControlGroups,
  groupName,
  limitScript,
} from "./command_limits.ts";
import { join } from "@std/path";
import type { Log } from "../base/log.ts";
import type { FoundChildUser } from "./child_user.ts";
import { commandSandbox } from "./command_sandbox.ts";
import type { FolderListings } from "./folder_listings.ts";
import { giveEnv, givenEnv } from "./give_env.ts";
import { type GuardWatch, watchGuards } from "./guard_watch.ts";
import { closeInherited } from "./inherited.ts";
import { type Placeholder, Placeholders } from "./placeholders.ts";
import type { Confinement } from "./sandbox.ts";
import { EXEC_FILTERED, writeSeccompFilter } from "./seccomp_filter.ts";
import { type Before, type LeftBehind, moveLeftBehind, rememberBefore } from "./left_behind.ts";
import { moveAside } from "./move_aside.ts";
import { Unsettled } from "./unsettled.ts";
import { findGuards, type Guard } from "./workspace_guards.ts";
import { type Look, lookThrough, newListings } from "./workspace_look.ts";

/** What no program sees, wherever it lies, and what none writes to: real paths. */
export interface HeldBack {
  ownPaths: readonly string[];
  sourcePaths: readonly string[];
}

/** The sandbox that one program wants. */
export interface WantedSandbox {
  /** Real path. */
  workspace: string;
  cwd: string;
  own: HeldBack;
  limits: CommandLimits;
  /** Its caller settles what it left. */
  settles?: boolean;
  signal?: AbortSignal;
  /** See `CommandView`. */
  mounts?: readonly string[];
  /** Variables that stand in no argv. */
  env: Readonly<Record<string, string>>;
  networkSocket?: string;
}

/** A sandbox that is ready to be started once. What it holds is given back by disposing `held`. */
export interface RaisedSandbox {
  held: Disposable;
  guards: readonly Guard[];
  /** For `settle`. */
  before: Before;
  watch: GuardWatch;
  /** Up to the sandbox and its programs. */
  outside: readonly string[];
  /** What the script begins with that is started first in there. */
  limits: string;
  /** Between that and the program. */
  inside: readonly string[];
  /** What bwrap has is seen in the sandbox: its process is the first in there. */
  env: Readonly<Record<string, string>>;
}

/** What sandboxes are made with. */
export interface RaiserOptions {
  /** Finds programs that are there. */
  find(): Promise<Confinement>;
  controlGroups(): Promise<ControlGroups | undefined>;
  /** Folder of our own. */
  scratchDir: string;
  /** Whose rights programs have. */
  childUser(): Promise<FoundChildUser>;
  log: Log;
}

/** Makes sandboxes. */
export interface SandboxRaiser {
  /** What lies in the folders of workspaces, as far as it is known. */
  readonly listings: FolderListings;
  /** Or says why there can be none. Rejects with the signal's reason, and on a variable that is none. */
  raise(wanted: WantedSandbox): Promise<RaisedSandbox | { problem: string }>;
  /**
   * Moves aside what a program that has ended left for others to obey. Where that cannot be done now,
   * it comes before the next sandbox is made.
   */
  settle(before: Before, own: HeldBack): Promise<LeftBehind>;
  /** Removes the control groups, when nothing runs in them any more. */
  close(): Promise<void>;
}

/** Held by harmless ones in the workspace, so that none comes there while a program runs. */
const WORKSPACE_PLACES: readonly Placeholder[] = [
  { name: "AGENTS.md", content: "" },
  { name: ".envrc", content: "" },
];
/** The same in each repository. A repository that is its own common one is as it was. */
const GIT_PLACES: readonly Placeholder[] = [
  { name: "hooks", content: "folder" },
  { name: "commondir", content: ".\n" },
];
/** Milliseconds for looking through what a command left. */
const SETTLE_TIMEOUT_MS = 30_000;

/** Makes what makes them. */
export function createSandboxRaiser(
  { find, controlGroups, scratchDir, childUser, log }: RaiserOptions,
): SandboxRaiser {
  const placeholders = new Placeholders();
  const listings = newListings();
  const unsettled = new Unsettled(scratchDir);
  /** What could not be settled when its program had ended. */
  const failed = new Set<Before>();
  /** Groups that were made, and those of them that nobody is in: making one costs more than all else. */
  const groupNames: string[] = [];
  const freeGroups: string[] = [];

  let filter: Promise<string> | undefined;

  function filterFile(): Promise<string> {
    return filter ??= writeSeccompFilter(scratchDir).catch((error) => {
      filter = undefined;
      throw error;
    });
  }

  function newGroup(): string {
    const name = groupName(groupNames.length + 1);
    groupNames.push(name);
    return name;
  }

  async function holdGit(look: Look, stack: DisposableStack): Promise<void> {
    for (const folder of look.gitFolders) {
      const isOne = await Deno.lstat(join(folder, "HEAD")).then(() => true, () => false);
      if (!isOne) continue;
      try {
        stack.use(placeholders.hold(folder, GIT_PLACES));
        for (const { name } of GIT_PLACES) look.held.set(join(folder, name), "readOnly");
      } catch (error) {
        if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
        look.held.set(folder, "readOnly");
      }
    }
  }

  async function moveNow(before: Before, own: HeldBack): Promise<LeftBehind> {
    const { workspace } = before;
    const { bwrap } = await find();
    const { user } = await childUser();
    const filter = await filterFile();
    const { ownPaths: hidden, sourcePaths: readOnly } = own;
    const timeoutMs = SETTLE_TIMEOUT_MS;
    const left = await moveLeftBehind(before, {
      look: () => lookThrough({ workspace, hidden, readOnly, listings, timeoutMs }),
      move: (moves, guards) => moveAside(moves, { bwrap: bwrap!, filter, workspace, guards, user }),
    });
    for (const note of left.notes) log.warning("A command left files that are held now", { note });
    return left;
  }

  async function settle(before: Before, own: HeldBack): Promise<LeftBehind> {
    try {
      const left = await moveNow(before, own);
      failed.delete(before);
      await unsettled.remove(before);
      return left;
    } catch (error) {
      failed.add(before);
      const reason = (error as Error).message;
      throw new Error(`what a command left cannot be put aside: ${reason}`);
    }
  }

  return {
    listings,
    settle,
    async raise({ workspace, own, limits, signal, env, settles = false, ...view }) {
      const { bwrap } = await find();
      for (const before of [...await unsettled.left(), ...failed]) await settle(before, own);
      using stack = new DisposableStack();
      const held = stack.use(placeholders.hold(workspace, WORKSPACE_PLACES));
      const { ownPaths: hidden, sourcePaths: readOnly } = own;
      const search = () =>
        findGuards({
          ...{ workspace, hidden, readOnly, listings, signal },
          onLook: (look) => holdGit(look, stack),
        });
      let searched = await search();
      if ("problem" in searched && unsettled.all().length > 0) {
        // What a command does that still runs is no reason to refuse others.
        for (const before of unsettled.all()) await moveNow(before, own).catch(() => {});
        searched = await search();
      }
      if ("problem" in searched) return { problem: searched.problem };
      const { guards, look } = searched;
      const before = rememberBefore(look, guards, workspace);
      const watch = stack.use(await watchGuards(guards));
      const gitIgnore = await writeIgnored(scratchDir, held.made);
      const cages = await controlGroups();
      const group = freeGroups.pop() ?? newGroup();
      stack.defer(() => void freeGroups.push(group));
      const passEnv = Object.keys(env).length > 0;
      const { user } = await childUser();
      // Another user's processes outside would count too.
      const isCounted = user === undefined || cages === undefined;
      const raised = {
        guards,
        before,
        watch,
        outside: [
          ...await closeInherited(),
          ...(cages?.enter(group, limits, await filterFile()) ??
            ["/bin/sh", "-c", EXEC_FILTERED, await filterFile()]),
          bwrap!,
          ...await commandSandbox({ ...view, workspace, guards, gitIgnore, passEnv, user }),
        ],
        limits: limitScript(limits, isCounted),
        inside: giveEnv(Object.keys(env)),
        env: givenEnv(env),
      };
      if (settles) await unsettled.add(before);
      return { ...raised, held: stack.move() };
    },
    async close() {
      const names = groupNames.splice(0);
      if (names.length === 0) return;
      const cages = await controlGroups();
      await Promise.all(names.map((name) => cages?.leave(name)));
    },
  };
}

/** A file that lists names for git; the same names are the same file. */
async function writeIgnored(folder: string, names: readonly string[]): Promise<string | undefined> {
  if (names.length === 0) return undefined;
  const path = `${folder}/sandbox-ignore-${names.map((name) => name.replace(".", "")).join("-")}`;
  await Deno.writeTextFile(path, names.map((name) => `/${name}\n`).join(""));
  await Deno.chmod(path, 0o644);
  return path;
}
