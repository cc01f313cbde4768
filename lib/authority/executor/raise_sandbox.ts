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
  limitedCommand,
} from "./command_limits.ts";
import { commandSandbox } from "./command_sandbox.ts";
import { giveEnv, givenEnv } from "./give_env.ts";
import { type GuardWatch, watchGuards } from "./guard_watch.ts";
import { closeInherited } from "./inherited.ts";
import { Placeholders } from "./placeholders.ts";
import type { Confinement } from "./sandbox.ts";
import { EXEC_FILTERED, writeSeccompFilter } from "./seccomp_filter.ts";
import { findGuards, type Guard } from "./workspace_guards.ts";

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
  watch: GuardWatch;
  /** Up to the sandbox and its programs. */
  outside: readonly string[];
  /** Between what is started first in there and the program. */
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
}

/** Makes sandboxes. */
export interface SandboxRaiser {
  /** Or says why there can be none. Rejects with the signal's reason, and on a variable that is none. */
  raise(wanted: WantedSandbox): Promise<RaisedSandbox | { problem: string }>;
  /** Removes the control groups, when nothing runs in them any more. */
  close(): Promise<void>;
}

/** Makes what makes them. */
export function createSandboxRaiser(
  { find, controlGroups, scratchDir }: RaiserOptions,
): SandboxRaiser {
  const placeholders = new Placeholders(["AGENTS.md", ".envrc"]);
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

  return {
    async raise({ workspace, own, limits, signal, env, ...view }) {
      const { bwrap, prlimit } = await find();
      using stack = new DisposableStack();
      const held = stack.use(placeholders.hold(workspace));
      const { ownPaths: hidden, sourcePaths: readOnly } = own;
      const searched = await findGuards({ workspace, hidden, readOnly, signal });
      if ("problem" in searched) return { problem: searched.problem };
      const { guards } = searched;
      const watch = stack.use(await watchGuards(guards));
      const gitIgnore = await writeIgnored(scratchDir, held.empty);
      const cages = await controlGroups();
      const group = freeGroups.pop() ?? newGroup();
      stack.defer(() => void freeGroups.push(group));
      const passEnv = Object.keys(env).length > 0;
      return {
        guards,
        watch,
        outside: [
          ...await closeInherited(),
          ...(cages?.enter(group, limits, await filterFile()) ??
            ["/bin/sh", "-c", EXEC_FILTERED, await filterFile()]),
          bwrap!,
          ...await commandSandbox({ ...view, workspace, guards, gitIgnore, passEnv }),
        ],
        inside: [...giveEnv(Object.keys(env)), ...limitedCommand(prlimit!, limits, true)],
        env: givenEnv(env),
        held: stack.move(),
      };
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
  return path;
}
