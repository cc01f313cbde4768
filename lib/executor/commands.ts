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
import type { ControlGroups } from "./command_limits.ts";
import { commandLimits, findControlGroups, limitScript } from "./command_limits.ts";
import { type CommandEnd, runCommandProcess } from "./command_process.ts";
import { COMMAND_ENV } from "./command_sandbox.ts";
import { type CommandMode, CommandModes } from "./command_mode.ts";
import type { CommandSessionJob } from "./command_session.ts";
import { closeInherited } from "./inherited.ts";
import { kernelProbeMounts } from "./kernel_probe.ts";
import type { LeftBehind } from "./left_behind.ts";
import type { OutputScrubber } from "./kept_output.ts";
import { openBare, openConfined } from "./open_command_session.ts";
import { createSandboxRaiser, type HeldBack } from "./raise_sandbox.ts";
import { type ChildUser, type Confinement, findConfinement } from "./sandbox.ts";
import type { SandboxReport, testSandbox } from "./test_sandbox.ts";
import type { Endpoint, Handlers } from "../rpc/endpoint.ts";
import { Slots } from "../rpc/slots.ts";

/** How a command ended, or why it was not started. */
export type CommandOutcome =
  | (CommandEnd & Partial<LeftBehind>)
  | { type: "refused"; reason: string };

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
  open<Authority extends Endpoint, Child extends SessionEndpoint>(
    job: CommandSessionJob<Authority, Child>,
    handlers: Handlers<Authority>,
    options?: { signal?: AbortSignal },
  ): Promise<ChildSession<Child>>;
  /** How they run; the first call tries the sandbox out. */
  mode(): Promise<CommandMode>;
  /** How they would run, without starting anything. */
  modeAtRest(): Promise<CommandMode>;
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
  /** `off` never uses a sandbox; for tests and other systems. */
  sandbox?: "auto" | "off";
  /** Finds what holds root's commands to their number of processes; for tests. */
  controlGroups?: typeof findControlGroups;
  /** Tries the sandbox out; for tests. */
  testSandbox?: typeof testSandbox;
}

const DEFAULT_MAX_RUNNING = 4;
const DEFAULT_MAX_WAITING = 64;
const DEFAULT_MAX_SESSIONS = 32;
const SELF_TEST_TIMEOUT_MS = 10_000;

const NEVER = new AbortController().signal;

/** Says that the sandbox stands, sends errors the way of the output, and becomes the command. */
const BEGIN = 'printf %s "$0"; exec "$@" 2>&1';

/** Makes it; nothing is started before the first call. */
export function createCommands(options: CommandsOptions): Commands {
  const { config, log, workspace } = options;
  const { maxOutputBytes } = config;
  const slots = new Slots(
    options.maxRunning ?? DEFAULT_MAX_RUNNING,
    options.maxWaiting ?? DEFAULT_MAX_WAITING,
  );
  const sessions = new Slots(options.maxSessions ?? DEFAULT_MAX_SESSIONS, 0);
  const closing = new AbortController();
  const live = new Set<Promise<unknown>>();
  let found: Promise<Confinement> | undefined;
  let groups: Promise<ControlGroups | undefined> | undefined;
  let user: Promise<FoundChildUser> | undefined;
  const { scratchDir } = options;
  const raiser = createSandboxRaiser({
    find,
    controlGroups,
    scratchDir,
    childUser,
    log,
  });

  function childUser(): Promise<FoundChildUser> {
    return user ??= findChildUser({ workspace, folder: scratchDir });
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

  const modes = new CommandModes({
    ...options,
    allowUnconfined: config.allowUnconfined,
    find,
    holdsProcesses: async () => Deno.uid() !== 0 || await controlGroups() !== undefined,
    async tryOut(folder, script, args) {
      const { user } = await childUser();
      if (user !== undefined) await giveTo(user, folder);
      const end = await runConfined({
        argv: ["/bin/sh", "-c", script, "sh", ...args],
        workspace: folder,
        cwd: folder,
        own: { ownPaths: [], sourcePaths: [] },
        mounts: await kernelProbeMounts(),
        run: { timeoutMs: SELF_TEST_TIMEOUT_MS, signal: closing.signal, onProgress: () => {} },
      });
      return end.type === "refused" ? { type: "fault", message: end.reason } : end;
    },
  });

  async function runConfined({ argv, workspace, cwd, own, networkSocket, mounts, run }: {
    argv: readonly string[];
    workspace: string;
    cwd: string;
    own: HeldBack;
    /** The socket of its proxy. */
    networkSocket?: string;
    /** For the self-test: what Deno needs, which takes the memory and processes of a session too. */
    mounts?: readonly string[];
    run: CommandRun;
  }): Promise<CommandOutcome> {
    const { timeoutMs, signal, onProgress, env = {} } = run;
    const isTest = mounts !== undefined;
    const hasRelay = isTest || networkSocket !== undefined;
    const limits = commandLimits(config, { timeoutMs, isSession: isTest, hasRelay });
    const wanted = {
      ...{ workspace, cwd, own, limits, signal, env, networkSocket, mounts },
      settles: !isTest,
    };
    const sandbox = await raiser.raise(wanted);
    if ("problem" in sandbox) return { type: "refused", reason: sandbox.problem };
    using _held = sandbox.held;
    const { watch, outside, inside, before } = sandbox;
    const marker = crypto.randomUUID();
    const running = runCommandProcess({
      argv: [...outside, "/bin/sh", "-c", sandbox.limits + BEGIN, marker, ...inside, ...argv],
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
    // However it ended; also when its turn was cancelled.
    await running.catch(() => {});
    const replaced = await watch.finish();
    // The folder of a test goes as a whole.
    const left = isTest ? undefined : await raiser.settle(before, own);
    const end = await running;
    if (replaced !== undefined) {
      const message = tellReplaced(replaced);
      return { type: "fault", message: `${message}, and what it printed is not shown` };
    }
    return end.type === "fault" || !left?.notes.length ? end : { ...end, ...left };
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
        ...[
          "/bin/sh",
          "-c",
          limitScript(commandLimits(config, { timeoutMs }), false) + BEGIN,
          marker,
        ],
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

  /** Starts a session; `release` is called when its tree has ended, if it was started. */
  async function openInPlace<Authority extends Endpoint, Child extends SessionEndpoint>(
    job: CommandSessionJob<Authority, Child>,
    handlers: Handlers<Authority>,
    signal: AbortSignal | undefined,
    release: () => void,
  ): Promise<ChildSession<Child>> {
    const how = await modes.mode();
    if (how.mode === "off") throw new Error(`it has no sandbox: ${how.reason}`);
    const hasRelay = job.networkSocket !== undefined;
    const limits = commandLimits(config, { isSession: true, hasRelay });
    const wanted = {
      job,
      handlers,
      signal,
      closing: closing.signal,
      limits,
      onGone: release,
      log,
    };
    const { session, gone } = how.mode === "unconfined"
      ? await openBare(wanted, {
        limits: limitScript(limits, false),
        cacheDir: `${options.scratchDir}/child-cache`,
      })
      : await openConfined(wanted, {
        raiser,
        workspace,
        own: await options.own(),
        lookAgainMs: options.lookAgainMs,
        tellReplaced,
      });
    const ended = gone.finally(() => live.delete(ended));
    live.add(ended);
    return await session;
  }

  async function runInSlot(target: CommandTarget, run: CommandRun): Promise<CommandOutcome> {
    const release = await slots.take(run.signal);
    if (release === undefined) {
      return { type: "fault", message: `${slots.maxWaiting} commands wait already` };
    }
    try {
      const how = await modes.mode();
      run.signal.throwIfAborted();
      if (closing.signal.aborted) return { type: "fault", message: "the service is stopping" };
      switch (how.mode) {
        case "off":
          return { type: "refused", reason: how.reason };
        case "unconfined":
          return await runBare(target, run);
        case "sandboxed": {
          const { argv, cwd } = target;
          const network = await run.openNetwork?.(run.signal);
          try {
            const own = await options.own();
            const networkSocket = network?.socket;
            return await runConfined({ argv, cwd, workspace, own, networkSocket, run });
          } finally {
            await network?.close();
          }
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
    mode: () => modes.mode(),
    modeAtRest: () => modes.modeAtRest(),
    report: () => modes.report(),
    async open(job, handlers, { signal } = {}) {
      const release = await sessions.take(signal ?? NEVER);
      if (release === undefined) throw new Error(`${sessions.max} programs live on already`);
      const opening = openInPlace(job, handlers, signal, release).catch((error) => {
        release();
        throw error;
      });
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
      await raiser.close();
    },
  };
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
