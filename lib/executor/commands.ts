/**
 * Runs commands: in the sandbox once that has shown that it holds, without one only where the operator
 * said so, else not at all.
 *
 * @module
 */

import type { Config } from "../config/schema.ts";
import type { Log } from "../base/log.ts";
import type { CommandTarget } from "../contract/actions.ts";
import type { ChildSession, SessionEndpoint } from "./child_session.ts";
import { findChildUser, type FoundChildUser } from "./child_user.ts";
import {
  commandLimits,
  type ControlGroups,
  findControlGroups,
  limitScript,
} from "./command_limits.ts";
import { type CommandEnd, runCommandProcess } from "./command_process.ts";
import { COMMAND_ENV } from "./command_sandbox.ts";
import { type CommandMode, CommandModes } from "./command_mode.ts";
import type { CommandSessionJob } from "./command_session.ts";
import { closeInherited } from "./inherited.ts";
import { kernelProbeMounts } from "./kernel_probe.ts";
import type { LeftBehind } from "./left_behind.ts";
import { LiveChildren } from "./live_children.ts";
import type { OutputScrubber } from "./kept_output.ts";
import { openBare, openConfined } from "./open_command_session.ts";
import { type HeldBack, type RaisedSandbox, SandboxRaiser } from "./raise_sandbox.ts";
import type { ChildUser } from "./sandbox.ts";
import type { SandboxReport, testSandbox } from "./test_sandbox.ts";
import { TriedSandboxes } from "./tried_sandboxes.ts";
import type { Endpoint, Handlers } from "../rpc/endpoint.ts";

/** How a command ended, or why it was not started. */
export type CommandOutcome =
  | (CommandEnd & Partial<LeftBehind>)
  | { type: "refused"; reason: string };

/** Runs commands. */
export type Commands = Pick<WorkspaceCommands, keyof WorkspaceCommands>;

/** What one run is given. */
export interface CommandRun {
  /** Real path of the folder that it works in. Default: the workspace. */
  workspace?: string;
  timeoutMs: number;
  signal: AbortSignal;
  onProgress: (text: string) => void;
  /** Added to its environment: values of secrets, which therefore stand in no argv. */
  env?: Readonly<Record<string, string>>;
  /** Opens its proxy once it has a place, so that commands which wait hold none; without it no network. */
  openNetwork?: (signal: AbortSignal) => Promise<{ socket: string; close(): Promise<void> }>;
}

/** The part of the configuration that commands go by. */
export type CommandConfig =
  & Pick<Config["executor"], "maxOutputBytes" | "allowUnconfined">
  & Partial<Pick<Config["executor"], "maxMemoryMiB" | "maxProcesses">>;

/** What they run with. */
export interface CommandsOptions {
  config: CommandConfig;
  /** Real path. */
  workspace: string;
  /** What no command sees, wherever it lies, and what none writes to. */
  own(): Promise<HeldBack>;
  /** Folder of our own, where the sandbox is tried out. */
  scratchDir: string;
  /** Told once of what the sandbox has shown, before anything runs in it; no command runs if it rejects. */
  onTested(report: SandboxReport): Promise<unknown>;
  /** Commands at once. Default 4. */
  maxRunning?: number;
  /** Commands that wait for a place; beyond them a command is refused. Default 64. */
  maxWaiting?: number;
  /** Sessions at once; beyond them one is refused. Default 32. */
  maxSessions?: number;
  /** How often the workspace of what lives on is looked through (`watchNewGuards`). */
  lookAgainMs?: number;
  /** Takes secrets out of output before it is cut. */
  scrubber?: OutputScrubber;
  log: Log;
  /** Those of children in this process; default: of these commands alone. */
  sandboxes?: TriedSandboxes;
  /** `off` never uses a sandbox; for tests and other systems. */
  sandbox?: "auto" | "off";
  /** Finds what holds root's commands to their number of processes; for tests. */
  controlGroups?: typeof findControlGroups;
  /** Tries the sandbox out; for tests. */
  testSandbox?: typeof testSandbox;
}

const DEFAULTS = { maxRunning: 4, maxWaiting: 64, maxSessions: 32 };
const SELF_TEST_TIMEOUT_MS = 10_000;

/** Says that the sandbox stands, sends errors the way of the output, and becomes the command. */
const BEGIN = 'printf %s "$0"; exec "$@" 2>&1';

/** Makes it; nothing is started before the first call. */
export function createCommands(options: CommandsOptions): Commands {
  return new WorkspaceCommands(options);
}

/** A command of a workspace, and what goes around it. */
interface ConfinedRun {
  argv: readonly string[];
  workspace: string;
  cwd: string;
  own: HeldBack;
  /** The socket of its proxy. */
  networkSocket?: string;
  /** For the self-test: what Deno needs, which takes the memory and processes of a session too. */
  mounts?: readonly string[];
  run: CommandRun;
}

class WorkspaceCommands {
  readonly #options: CommandsOptions;
  readonly #sandboxes: TriedSandboxes;
  readonly #children: LiveChildren;
  readonly #raiser: SandboxRaiser;
  readonly #modes: CommandModes;
  #groups: Promise<ControlGroups | undefined> | undefined;
  readonly #users = new Map<string, Promise<FoundChildUser>>();

  constructor(options: CommandsOptions) {
    const { scratchDir: folder, sandbox, log } = options;
    this.#options = options;
    this.#sandboxes = options.sandboxes ?? new TriedSandboxes({ folder, sandbox });
    this.#children = new LiveChildren({ ...DEFAULTS, ...options, called: "programs" });
    const find = () => this.#sandboxes.find();
    const controlGroups = () => this.#controlGroups();
    const childUser = (workspace: string) => this.#childUser(workspace);
    this.#raiser = new SandboxRaiser({ find, controlGroups, scratchDir: folder, childUser, log });
    this.#modes = new CommandModes({
      ...options,
      allowUnconfined: options.config.allowUnconfined,
      find,
      holdsProcesses: async () => Deno.uid() !== 0 || await controlGroups() !== undefined,
      tryOut: (folder, script, args) => this.#tryOut(folder, script, args),
    });
  }

  /**
   * Runs a command whose target was resolved and allowed. Rejects only with the signal's reason, once
   * its tree is gone.
   */
  async run(target: CommandTarget, run: CommandRun): Promise<CommandOutcome> {
    return await this.#children.track(
      this.#runInSlot(target, run).catch((error): CommandOutcome => {
        run.signal.throwIfAborted();
        const message = error instanceof Error ? error.message : String(error);
        this.#options.log.error("A command cannot be started", { reason: message });
        return { type: "fault", message: `it cannot be started: ${message}` };
      }),
    );
  }

  /**
   * Starts a child of ours that lives on in the sandbox of commands, with their limits but for time and
   * with places of its own. Rejects with an Error that says why it cannot be, once nothing is left of
   * it, or with the signal's reason, which is heeded until it is ready.
   */
  async open<Authority extends Endpoint, Child extends SessionEndpoint>(
    job: CommandSessionJob<Authority, Child>,
    handlers: Handlers<Authority>,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<ChildSession<Child>> {
    const { session } = await this.#children.open(async (onGone) => {
      const { config, scratchDir, workspace, own, lookAgainMs, log } = this.#options;
      const how = await this.#modes.mode();
      if (how.mode === "off") throw new Error(`it has no sandbox: ${how.reason}`);
      const hasRelay = job.networkSocket !== undefined;
      const limits = commandLimits(config, { isSession: true, hasRelay });
      const { closing } = this.#children;
      const wanted = { job, handlers, signal, closing, limits, onGone, log };
      if (how.mode === "unconfined") {
        const cacheDir = `${scratchDir}/child-cache`;
        return await openBare(wanted, { limits: limitScript(limits, false), cacheDir });
      }
      return await openConfined(wanted, {
        ...{ raiser: this.#raiser, workspace, own: await own(), lookAgainMs },
        tellReplaced: (path) => this.#tellReplaced(path),
      });
    }, signal);
    return await session;
  }

  /** How they run; the first call tries the sandbox out. */
  mode(): Promise<CommandMode> {
    return this.#modes.mode();
  }

  /** How they would run, without starting anything. */
  modeAtRest(): Promise<CommandMode> {
    return this.#modes.modeAtRest();
  }

  /** What the sandbox has shown, tried once. */
  report(): Promise<SandboxReport> {
    return this.#modes.report();
  }

  counts(): { running: number; waiting: number; sessions: number } {
    return this.#children.counts();
  }

  /** Kills every command and session. Resolves when all are gone; later ones are faults. */
  async shutdown(): Promise<void> {
    await this.#children.shutdown();
    await this.#raiser.close();
  }

  async #runInSlot(target: CommandTarget, run: CommandRun): Promise<CommandOutcome> {
    const { slots, closing } = this.#children;
    const release = await slots.take(run.signal);
    if (release === undefined) {
      return { type: "fault", message: `${slots.maxWaiting} commands wait already` };
    }
    try {
      const how = await this.#modes.mode();
      run.signal.throwIfAborted();
      if (closing.aborted) return { type: "fault", message: "the service is stopping" };
      switch (how.mode) {
        case "off":
          return { type: "refused", reason: how.reason };
        case "unconfined":
          return await this.#runBare(target, run);
        case "sandboxed":
          return await this.#runInWorkspace(target, run);
      }
    } finally {
      release();
    }
  }

  async #runInWorkspace(target: CommandTarget, run: CommandRun): Promise<CommandOutcome> {
    const { workspace = this.#options.workspace } = run;
    const network = await run.openNetwork?.(run.signal);
    try {
      const own = await this.#options.own();
      return await this.#runConfined({
        ...target,
        ...{ workspace, own, networkSocket: network?.socket, run },
      });
    } finally {
      await network?.close();
    }
  }

  async #runConfined(
    { argv, workspace, cwd, own, networkSocket, mounts, run }: ConfinedRun,
  ): Promise<CommandOutcome> {
    const { timeoutMs, signal, env = {} } = run;
    const isTest = mounts !== undefined;
    const hasRelay = isTest || networkSocket !== undefined;
    const limits = commandLimits(this.#options.config, { timeoutMs, isSession: isTest, hasRelay });
    const sandbox = await this.#raiser.raise({
      ...{ workspace, cwd, own, limits, signal, env, networkSocket, mounts },
      settles: !isTest,
    });
    if ("problem" in sandbox) return { type: "refused", reason: sandbox.problem };
    using _held = sandbox.held;
    const { watch, before } = sandbox;
    const closing = AbortSignal.any([this.#children.closing, watch.signal]);
    const running = this.#begin({ ...sandbox, argv, cwd: "/", confined: true }, run, closing);
    // However it ended; also when its turn was cancelled.
    await running.catch(() => {});
    const replaced = await watch.finish();
    // The folder of a test goes as a whole.
    const left = isTest ? undefined : await this.#raiser.settle(before, own);
    const end = await running;
    if (replaced !== undefined) {
      const message = this.#tellReplaced(replaced);
      return { type: "fault", message: `${message}, and what it printed is not shown` };
    }
    return end.type === "fault" || !left?.notes.length ? end : { ...end, ...left };
  }

  async #runBare({ argv, cwd }: CommandTarget, run: CommandRun): Promise<CommandOutcome> {
    const limits = commandLimits(this.#options.config, { timeoutMs: run.timeoutMs });
    return await this.#begin({
      outside: await closeInherited(),
      ...{ begin: limitScript(limits, false), inside: [], argv, cwd, confined: false },
      env: { ...COMMAND_ENV, ...run.env },
    }, run);
  }

  #begin(
    { outside, begin, inside, argv, env, cwd, confined }:
      & Pick<RaisedSandbox, "outside" | "begin" | "inside" | "env">
      & { argv: readonly string[]; cwd: string; confined: boolean },
    { timeoutMs, signal, onProgress }: CommandRun,
    closing = this.#children.closing,
  ): Promise<CommandEnd> {
    const { config: { maxOutputBytes }, scrubber } = this.#options;
    const marker = crypto.randomUUID();
    return runCommandProcess({
      argv: [...outside, "/bin/sh", "-c", begin + BEGIN, marker, ...inside, ...argv],
      ...{ env, cwd, confined, marker, maxOutputBytes, scrubber },
      ...{ timeoutMs, signal, closing, onProgress },
    });
  }

  async #tryOut(folder: string, script: string, args: readonly string[]) {
    const { user } = await this.#childUser(this.#options.workspace);
    if (user !== undefined) await giveTo(user, folder);
    const { closing: signal } = this.#children;
    const end = await this.#runConfined({
      argv: ["/bin/sh", "-c", script, "sh", ...args],
      workspace: folder,
      cwd: folder,
      own: { ownPaths: [], sourcePaths: [] },
      mounts: await kernelProbeMounts(),
      run: { timeoutMs: SELF_TEST_TIMEOUT_MS, signal, onProgress: () => {} },
    });
    return end.type === "refused" ? { type: "fault" as const, message: end.reason } : end;
  }

  #tellReplaced(path: string): string {
    this.#options.log.warning("A file that is held back from commands was replaced while one ran", {
      path,
    });
    return `"${path}", which is held back from commands, was replaced while it ran; it may ` +
      "have read or changed the new one";
  }

  #childUser(workspace: string): Promise<FoundChildUser> {
    const found = this.#users.get(workspace) ?? findChildUser(workspace, this.#sandboxes);
    this.#users.set(workspace, found);
    return found;
  }

  /** A user other than root is held by the kernel's own count. */
  #controlGroups(): Promise<ControlGroups | undefined> {
    const find = this.#options.controlGroups ?? findControlGroups;
    return this.#groups ??= Deno.uid() === 0 ? find() : Promise.resolve(undefined);
  }
}

/** A folder with all that is in it. */
async function giveTo(user: ChildUser, folder: string): Promise<void> {
  await Deno.chown(folder, user.uid, user.gid);
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) await giveTo(user, path);
    else await Deno.chown(path, user.uid, user.gid);
  }
}
