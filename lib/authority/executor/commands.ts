/**
 * Runs commands: in the sandbox once that has shown that it holds, without one only where the operator
 * said so, else not at all (decisions E6).
 *
 * @module
 */

import type { Config } from "../../config/schema.ts";
import type { Log } from "../../log.ts";
import type { CommandTarget } from "../actions.ts";
import type { ChildSession, ChildSessionHandlers } from "./child_session.ts";
import type { CommandLimits, ControlGroups } from "./command_limits.ts";
import { findControlGroups, limitedCommand } from "./command_limits.ts";
import { type CommandEnd, runCommandProcess } from "./command_process.ts";
import { COMMAND_ENV, commandSandbox, workspaceProblem } from "./command_sandbox.ts";
import { type CommandSessionJob, sessionCommand, sessionMounts } from "./command_session.ts";
import { giveEnv, givenEnv } from "./give_env.ts";
import { watchGuards } from "./guard_watch.ts";
import { closeInherited } from "./inherited.ts";
import type { OutputScrubber } from "./kept_output.ts";
import { openSession } from "./open_session.ts";
import { Placeholders } from "./placeholders.ts";
import { type Confinement, findConfinement } from "./sandbox.ts";
import { noSandbox, type SandboxReport, testSandbox } from "./test_sandbox.ts";
import { Slots } from "./slots.ts";
import { watchNewGuards } from "./watch_new_guards.ts";
import { findGuards } from "./workspace_guards.ts";

/** How commands run here. */
export type CommandMode =
  | { mode: "sandboxed" }
  /** No sandbox, and `executor.allowUnconfined` is set. */
  | { mode: "unconfined"; reason: string }
  | { mode: "off"; reason: string };

/** How a command ended, or why it was not started. */
export type CommandOutcome = CommandEnd | { type: "refused"; reason: string };

/** Runs commands. */
export interface Commands {
  /**
   * Runs a command whose target was resolved and allowed. Rejects only with the signal's reason, once
   * its tree is gone.
   */
  run(target: CommandTarget, options: CommandRun): Promise<CommandOutcome>;
  /**
   * Starts a child of ours that lives on in the sandbox of commands, with their limits but for time and
   * with places of its own. Rejects with an Error that says why it cannot be, once nothing is left of
   * it, or with the signal's reason, which is heeded until it is ready.
   */
  open(
    job: CommandSessionJob,
    handlers: ChildSessionHandlers,
    options?: { signal?: AbortSignal },
  ): Promise<ChildSession>;
  /** How they run; the first call tries the sandbox out. */
  mode(): Promise<CommandMode>;
  /** What the sandbox has shown, tried once. */
  report(): Promise<SandboxReport>;
  counts(): { running: number; waiting: number; sessions: number };
  /** Kills every command and session. Resolves when all are gone; later ones are faults. */
  shutdown(): Promise<void>;
}

/** What one run is given. */
export interface CommandRun {
  timeoutMs: number;
  signal: AbortSignal;
  onProgress: (text: string) => void;
  /** Added to its environment: values of secrets, which therefore stand in no argv. */
  env?: Readonly<Record<string, string>>;
  /** The socket of its proxy; without one it has no network. */
  networkSocket?: string;
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
  own(): Promise<{ ownPaths: readonly string[]; sourcePaths: readonly string[] }>;
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
  /** `off` never uses a sandbox; for tests and other systems. */
  sandbox?: "auto" | "off";
  /** Finds what holds root's commands to their number of processes; for tests. */
  controlGroups?: typeof findControlGroups;
}

const DEFAULT_MEMORY_MIB = 2_048;
const DEFAULT_MAX_PROCESSES = 256;
const DEFAULT_MAX_RUNNING = 4;
const DEFAULT_MAX_WAITING = 64;
const DEFAULT_MAX_SESSIONS = 32;
/** A session is a Deno with a program under it, and that needs so much to start. */
const MIN_SESSION_MEMORY_MIB = 1_024;
/** What the relay of a network takes: a small Deno with its threads. */
const RELAY_MEMORY_MIB = 192;
const RELAY_PROCESSES = 24;
const SELF_TEST_TIMEOUT_MS = 10_000;
const SESSION_START_TIMEOUT_MS = 20_000;

const NEVER = new AbortController().signal;

/** Says that the sandbox stands, sends errors the way of the output, and becomes the command. */
const BEGIN = 'printf %s "$0"; exec "$@" 2>&1';

/** Makes it; nothing is started before the first call. */
export function createCommands(options: CommandsOptions): Commands {
  const { config, log, workspace } = options;
  const { maxOutputBytes, allowUnconfined } = config;
  const slots = new Slots(
    options.maxRunning ?? DEFAULT_MAX_RUNNING,
    options.maxWaiting ?? DEFAULT_MAX_WAITING,
  );
  const sessions = new Slots(options.maxSessions ?? DEFAULT_MAX_SESSIONS, 0);
  const closing = new AbortController();
  const live = new Set<Promise<unknown>>();
  const placeholders = new Placeholders(["AGENTS.md", ".envrc"]);
  let found: Promise<Confinement> | undefined;
  let groups: Promise<ControlGroups | undefined> | undefined;
  let reported: Promise<SandboxReport> | undefined;
  /** Groups that were made, and those of them that nobody is in: making one costs more than all else. */
  const groupNames: string[] = [];
  const freeGroups: string[] = [];

  function newGroup(): string {
    const name = `service-${Deno.pid}-${groupNames.length + 1}`;
    groupNames.push(name);
    return name;
  }

  function find(): Promise<Confinement> {
    return found ??= options.sandbox === "off"
      ? Promise.resolve({ reason: "the sandbox is switched off" })
      : findConfinement();
  }

  /** A user other than root is held by the kernel's own count. */
  function controlGroups(): Promise<ControlGroups | undefined> {
    const find = options.controlGroups ?? findControlGroups;
    return groups ??= Deno.uid() === 0 ? find() : Promise.resolve(undefined);
  }

  function report(): Promise<SandboxReport> {
    return reported ??= test().catch((error) => {
      reported = undefined;
      throw error;
    });
  }

  async function test(): Promise<SandboxReport> {
    const { bwrap, prlimit, reason } = await find();
    const problem = bwrap === undefined
      ? reason
      : prlimit === undefined
      ? "prlimit of util-linux is missing, which bounds what a command takes"
      : workspaceProblem(workspace);
    await Deno.mkdir(options.scratchDir, { recursive: true, mode: 0o700 });
    const tested = problem !== undefined ? noSandbox(problem) : await testSandbox({
      scratchDir: options.scratchDir,
      run: (folder, script, args) =>
        runConfined({
          argv: ["/bin/sh", "-c", script, "sh", ...args],
          workspace: folder,
          cwd: folder,
          own: { ownPaths: [], sourcePaths: [] },
          run: { timeoutMs: SELF_TEST_TIMEOUT_MS, signal: closing.signal, onProgress: () => {} },
        }).then((end) => end.type === "refused" ? { type: "fault", message: end.reason } : end),
    });
    if (!tested.ok) {
      const how = allowUnconfined
        ? "Commands run WITHOUT a sandbox, with everything that this user may do " +
          "(executor.allowUnconfined)"
        : "Commands are off: their sandbox is not there or does not hold";
      log.warning(how, { reason: tested.reason });
    }
    if (tested.ok && Deno.uid() === 0 && await controlGroups() === undefined) {
      log.warning(
        "Nothing bounds how many processes a command starts: root needs a control group for that, " +
          "and none can be made here; run the service as another user",
      );
    }
    await options.onTested(tested);
    return tested;
  }

  async function mode(): Promise<CommandMode> {
    const { ok, reason } = await report();
    if (ok) return { mode: "sandboxed" };
    return { mode: allowUnconfined ? "unconfined" : "off", reason };
  }

  /** Makes the sandbox of one program ready; what it holds is given back by disposing. */
  async function raise({ workspace, cwd, own, limits, signal, mounts, env, networkSocket }: {
    workspace: string;
    cwd: string;
    own: Awaited<ReturnType<CommandsOptions["own"]>>;
    limits: CommandLimits;
    signal?: AbortSignal;
    mounts?: readonly string[];
    env: Readonly<Record<string, string>>;
    networkSocket?: string;
  }) {
    const { bwrap, prlimit } = await find();
    using stack = new DisposableStack();
    const held = stack.use(placeholders.hold(workspace));
    const { ownPaths: hidden, sourcePaths: readOnly } = own;
    const searched = await findGuards({ workspace, hidden, readOnly, signal });
    if ("problem" in searched) return { problem: searched.problem };
    const { guards } = searched;
    const watch = stack.use(await watchGuards(guards));
    const gitIgnore = await writeIgnored(options.scratchDir, held.empty);
    const cages = await controlGroups();
    const group = freeGroups.pop() ?? newGroup();
    stack.defer(() => void freeGroups.push(group));
    const passEnv = Object.keys(env).length > 0;
    const view = { workspace, cwd, guards, gitIgnore, mounts, passEnv, networkSocket };
    return {
      watch,
      guards,
      /** What bwrap has is seen in the sandbox: its process is the first in there. */
      env: givenEnv(env),
      /** Up to the sandbox and its programs. */
      outside: [
        ...await closeInherited(),
        ...(cages?.enter(group, limits) ?? []),
        bwrap!,
        ...await commandSandbox(view),
      ],
      /** Between what is started first in there and the program. */
      inside: [...giveEnv(Object.keys(env)), ...limitedCommand(prlimit!, limits, true)],
      held: stack.move(),
    };
  }

  async function runConfined({ argv, workspace, cwd, own, run }: {
    argv: readonly string[];
    workspace: string;
    cwd: string;
    own: Awaited<ReturnType<CommandsOptions["own"]>>;
    run: CommandRun;
  }): Promise<CommandOutcome> {
    const { timeoutMs, signal, onProgress, env = {}, networkSocket } = run;
    const limits = commandLimits({ timeoutMs, hasRelay: networkSocket !== undefined });
    const sandbox = await raise({ workspace, cwd, own, limits, signal, env, networkSocket });
    if ("problem" in sandbox) return { type: "refused", reason: sandbox.problem! };
    using _held = sandbox.held;
    const { watch, outside, inside } = sandbox;
    const marker = crypto.randomUUID();
    const end = await runCommandProcess({
      argv: [...outside, "/bin/sh", "-c", BEGIN, marker, ...inside, ...argv],
      env: sandbox.env,
      cwd: "/",
      confined: true,
      marker,
      maxOutputBytes,
      scrubber: options.scrubber,
      closing: AbortSignal.any([closing.signal, watch.signal]),
      timeoutMs,
      signal,
      onProgress,
    });
    const replaced = await watch.finish();
    if (replaced === undefined) return end;
    const message = tellReplaced(replaced);
    return { type: "fault", message: `${message}, and what it printed is not shown` };
  }

  function tellReplaced(path: string): string {
    log.warning("A file that is held back from commands was replaced while one ran", { path });
    return `"${path}", which is held back from commands, was replaced while it ran; it may ` +
      "have read or changed the new one";
  }

  async function runBare(target: CommandTarget, run: CommandRun): Promise<CommandOutcome> {
    const { timeoutMs, signal, onProgress, env } = run;
    const marker = crypto.randomUUID();
    return await runCommandProcess({
      argv: [
        ...await closeInherited(),
        ...["/bin/sh", "-c", BEGIN, marker],
        ...await bareLimits(commandLimits({ timeoutMs })),
        ...target.argv,
      ],
      env: { ...COMMAND_ENV, ...env },
      cwd: target.cwd,
      confined: false,
      marker,
      maxOutputBytes,
      scrubber: options.scrubber,
      closing: closing.signal,
      timeoutMs,
      signal,
      onProgress,
    });
  }

  async function bareLimits(limits: CommandLimits): Promise<string[]> {
    const { prlimit } = await find();
    return prlimit === undefined ? [] : limitedCommand(prlimit, limits, false);
  }

  /** Starts a session; `release` gives its place back, here or when its tree has ended. */
  async function openInPlace(
    job: CommandSessionJob,
    handlers: ChildSessionHandlers,
    signal: AbortSignal | undefined,
    release: () => void,
  ): Promise<ChildSession> {
    using stack = new DisposableStack();
    stack.defer(release);
    const how = await mode();
    if (how.mode === "off") throw new Error(`it has no sandbox: ${how.reason}`);
    const hasRelay = job.networkSocket !== undefined;
    const limits = commandLimits({ least: MIN_SESSION_MEMORY_MIB, hasRelay });
    const common = {
      params: job.params,
      handlers,
      startTimeoutMs: job.startTimeoutMs ?? SESSION_START_TIMEOUT_MS,
      signal,
      onFault: ({ reason, stderr }: { reason: string; stderr: string }) =>
        log.warning("A program in the sandbox of commands ended", {
          session: job.name,
          reason,
          stderr,
        }),
    };
    const begin = async () => {
      if (how.mode === "unconfined") {
        const { path, args, env } = await sessionCommand(
          job,
          `${options.scratchDir}/child-cache`,
        );
        return openSession({
          ...common,
          argv: [...await closeInherited(), ...await bareLimits(limits), path, ...args],
          env: { ...COMMAND_ENV, ...env, ...job.env },
          cwd: job.cwd,
          closing: closing.signal,
        });
      }
      const own = await options.own();
      const mounts = await sessionMounts(job, { workspace, hidden: own.ownPaths });
      const { path, args, env } = await sessionCommand(job);
      const { cwd, networkSocket } = job;
      const sandbox = await raise({
        workspace,
        cwd,
        own,
        limits,
        signal,
        mounts: [
          ...mounts,
          ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
        ],
        env: job.env ?? {},
        networkSocket,
      });
      if ("problem" in sandbox) throw new Error(sandbox.problem);
      stack.use(sandbox.held);
      const replaced = new AbortController();
      stack.use(watchNewGuards({
        known: sandbox.guards,
        look: (signal) =>
          findGuards({ workspace, hidden: own.ownPaths, readOnly: own.sourcePaths, signal }),
        onFound: (reason) => replaced.abort(reason),
        everyMs: options.lookAgainMs,
      }));
      const { watch } = sandbox;
      watch.signal.addEventListener("abort", () => {
        void watch.finish().then((path) => replaced.abort(tellReplaced(path!)));
      });
      return openSession({
        ...common,
        argv: [...sandbox.outside, ...sandbox.inside, path, ...args],
        env: sandbox.env,
        cwd: "/",
        closing: AbortSignal.any([closing.signal, replaced.signal]),
      });
    };
    const { session, gone } = await begin();
    const held = stack.move();
    const ended = gone.finally(() => {
      held.dispose();
      live.delete(ended);
    });
    live.add(ended);
    return await session;
  }

  function commandLimits(
    { timeoutMs, least = 0, hasRelay = false }: {
      timeoutMs?: number;
      least?: number;
      /** The relay of its network counts among its processes, and is not to be at its cost. */
      hasRelay?: boolean;
    },
  ): CommandLimits {
    const memoryMiB = Math.max(config.maxMemoryMiB ?? DEFAULT_MEMORY_MIB, least);
    const processes = config.maxProcesses ?? DEFAULT_MAX_PROCESSES;
    return {
      maxMemoryBytes: (memoryMiB + (hasRelay ? RELAY_MEMORY_MIB : 0)) * 1024 * 1024,
      maxProcesses: processes + (hasRelay ? RELAY_PROCESSES : 0),
      timeoutMs,
    };
  }

  async function runInSlot(target: CommandTarget, run: CommandRun): Promise<CommandOutcome> {
    const release = await slots.take(run.signal);
    if (release === undefined) {
      return { type: "fault", message: `${slots.maxWaiting} commands wait already` };
    }
    try {
      const how = await mode();
      run.signal.throwIfAborted();
      if (closing.signal.aborted) return { type: "fault", message: "the service is stopping" };
      switch (how.mode) {
        case "off":
          return { type: "refused", reason: how.reason };
        case "unconfined":
          return await runBare(target, run);
        case "sandboxed": {
          const { argv, cwd } = target;
          return await runConfined({ argv, cwd, workspace, own: await options.own(), run });
        }
      }
    } finally {
      release();
    }
  }

  return {
    async run(target, run) {
      const running = runInSlot(target, run).catch((error): CommandOutcome => {
        run.signal.throwIfAborted();
        const message = error instanceof Error ? error.message : String(error);
        log.error("A command cannot be started", { reason: message });
        return { type: "fault", message: `it cannot be started: ${message}` };
      });
      const ended = running.then(() => {}, () => {}).finally(() => live.delete(ended));
      live.add(ended);
      return await running;
    },
    mode,
    report,
    async open(job, handlers, { signal } = {}) {
      const release = await sessions.take(signal ?? NEVER);
      if (release === undefined) throw new Error(`${sessions.max} programs live on already`);
      const opening = openInPlace(job, handlers, signal, release);
      const settled = opening.then(() => {}, () => {}).finally(() => live.delete(settled));
      live.add(settled);
      return await opening;
    },
    counts: () => ({
      running: slots.running,
      waiting: slots.waiting,
      sessions: sessions.running,
    }),
    async shutdown() {
      closing.abort(new Error("the service is stopping"));
      await Promise.all(live);
      const cages = await groups;
      await Promise.all(groupNames.splice(0).map((name) => cages?.leave(name)));
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
