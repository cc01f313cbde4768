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
import { giveEnv, givenEnv } from "./give_env.ts";
import { type GuardWatch, watchGuards } from "./guard_watch.ts";
import { closingShell } from "./inherited.ts";
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
  /** What the script begins with that a shell is started with first in there. */
  begin: string;
  /** Its arguments before the program. */
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
  /** Whose rights the programs of a folder have. */
  childUser(workspace: string): Promise<FoundChildUser>;
  log: Log;
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

/** Makes sandboxes. */
export class SandboxRaiser {
  /** What lies in the folders of workspaces, as far as it is known. */
  readonly listings = newListings();
  readonly #options: RaiserOptions;
  readonly #placeholders = new Placeholders();
  readonly #unsettled: Unsettled;
  /** What could not be settled when its program had ended. */
  readonly #failed = new Set<Before>();
  /** Groups that were made, and those of them that nobody is in: making one costs more than all else. */
  readonly #groups: string[] = [];
  readonly #freeGroups: string[] = [];
  readonly #ignoreFiles = new Set<string>();
  #filter: Promise<string> | undefined;

  constructor(options: RaiserOptions) {
    this.#options = options;
    this.#unsettled = new Unsettled(options.scratchDir);
  }

  /** Or says why there can be none. Rejects with the signal's reason, and on a variable that is none. */
  async raise(
    { workspace, own, limits, signal, env, settles = false, ...view }: WantedSandbox,
  ): Promise<RaisedSandbox | { problem: string }> {
    const { find, controlGroups, childUser } = this.#options;
    const { bwrap } = await find();
    for (const before of [...await this.#unsettled.left(), ...this.#failed]) {
      await this.settle(before, own);
    }
    using stack = new DisposableStack();
    const held = stack.use(this.#placeholders.hold(workspace, WORKSPACE_PLACES));
    const searched = await this.#search(workspace, own, { signal, stack });
    if ("problem" in searched) return { problem: searched.problem };
    const { guards, look } = searched;
    const before = rememberBefore(look, guards, workspace);
    const watch = stack.use(await watchGuards(guards));
    const gitIgnore = await this.#ignoreFile(held.made);
    const cages = await controlGroups();
    const group = this.#freeGroups.pop() ?? this.#newGroup();
    stack.defer(() => void this.#freeGroups.push(group));
    const passEnv = Object.keys(env).length > 0;
    const { user } = await childUser(workspace);
    const filter = await this.#filterFile();
    const { shell, close, become } = await closingShell();
    const [enter, ...entered] = cages?.enter(group, limits, filter) ?? [EXEC_FILTERED, filter];
    // Another user's processes outside would count too.
    const isCounted = user === undefined || cages === undefined;
    const sandbox = { ...view, workspace, guards, gitIgnore, passEnv, user };
    const { open, args, check } = await commandSandbox(sandbox);
    const raised = {
      guards,
      before,
      watch,
      outside: [
        ...[shell, "-c", close + open + enter, ...entered],
        ...[...become, bwrap!, ...args],
      ],
      begin: check.script + limitScript(limits, isCounted),
      inside: [...check.args, ...giveEnv(Object.keys(env))],
      env: givenEnv(env),
    };
    if (settles) await this.#unsettled.add(before);
    return { ...raised, held: stack.move() };
  }

  /**
   * Moves aside what a program that has ended left for others to obey. Where that cannot be done now,
   * it comes before the next sandbox is made.
   */
  async settle(before: Before, own: HeldBack): Promise<LeftBehind> {
    try {
      const left = await this.#moveNow(before, own);
      this.#failed.delete(before);
      await this.#unsettled.remove(before);
      return left;
    } catch (error) {
      this.#failed.add(before);
      const reason = (error as Error).message;
      throw new Error(`what a command left cannot be put aside: ${reason}`);
    }
  }

  /** Removes the control groups, when nothing runs in them any more. */
  async close(): Promise<void> {
    const names = this.#groups.splice(0);
    if (names.length === 0) return;
    const cages = await this.#options.controlGroups();
    await Promise.all(names.map((name) => cages?.leave(name)));
  }

  /** What is to be held in the workspace. */
  async #search(
    workspace: string,
    own: HeldBack,
    { signal, stack }: { signal?: AbortSignal; stack: DisposableStack },
  ) {
    const search = () =>
      findGuards({
        ...{ workspace, hidden: own.ownPaths, readOnly: own.sourcePaths },
        ...{ listings: this.listings, signal },
        onLook: (look) => this.#holdGit(look, stack),
      });
    const searched = await search();
    const unsettled = this.#unsettled.all();
    if (!("problem" in searched) || unsettled.length === 0) return searched;
    // What a command does that still runs is no reason to refuse others.
    for (const before of unsettled) await this.#moveNow(before, own).catch(() => {});
    return await search();
  }

  async #holdGit(look: Look, stack: DisposableStack): Promise<void> {
    for (const folder of look.gitFolders) {
      const isOne = await Deno.lstat(join(folder, "HEAD")).then(() => true, () => false);
      if (!isOne) continue;
      try {
        stack.use(this.#placeholders.hold(folder, GIT_PLACES));
        for (const { name } of GIT_PLACES) look.held.set(join(folder, name), "readOnly");
      } catch (error) {
        if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
        look.held.set(folder, "readOnly");
      }
    }
  }

  async #moveNow(before: Before, own: HeldBack): Promise<LeftBehind> {
    const { find, childUser, log } = this.#options;
    const { workspace } = before;
    const { bwrap } = await find();
    const { user } = await childUser(workspace);
    const filter = await this.#filterFile();
    const left = await moveLeftBehind(before, {
      look: () =>
        lookThrough({
          ...{ workspace, hidden: own.ownPaths, readOnly: own.sourcePaths },
          ...{ listings: this.listings, timeoutMs: SETTLE_TIMEOUT_MS },
        }),
      move: (moves, guards) => moveAside(moves, { bwrap: bwrap!, filter, workspace, guards, user }),
    });
    for (const note of left.notes) log.warning("A command left files that are held now", { note });
    return left;
  }

  #filterFile(): Promise<string> {
    return this.#filter ??= writeSeccompFilter(this.#options.scratchDir).catch((error) => {
      this.#filter = undefined;
      throw error;
    });
  }

  /** A file that lists names for git; the same names are the same file, written once while it is there. */
  async #ignoreFile(names: readonly string[]): Promise<string | undefined> {
    if (names.length === 0) return undefined;
    const path = `${this.#options.scratchDir}/sandbox-ignore-${
      names.map((name) => name.replace(".", "")).join("-")
    }`;
    const isThere = this.#ignoreFiles.has(path) &&
      await Deno.stat(path).then(() => true, () => false);
    if (!isThere) {
      await Deno.writeTextFile(path, names.map((name) => `/${name}\n`).join(""));
      await Deno.chmod(path, 0o644);
      this.#ignoreFiles.add(path);
    }
    return path;
  }

  #newGroup(): string {
    const name = groupName(this.#groups.length + 1);
    this.#groups.push(name);
    return name;
  }
}
