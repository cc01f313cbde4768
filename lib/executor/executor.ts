/**
 * Runs one action in one child process, confined as well as this machine allows, and ends it with its
 * whole tree when its time is up, when it is cancelled, and when the service stops.
 *
 * @module
 */

import type { Log } from "../base/log.ts";
import type { ChildTask } from "./action_child.ts";
import type { ChildSession, SessionBegin, SessionEndpoint } from "./child_session.ts";
import { findChildUser, type FoundChildUser } from "./child_user.ts";
import { childCommand, type ChildPermissions } from "./command.ts";
import { closeInherited } from "./inherited.ts";
import { openSession } from "./open_session.ts";
import { endOf, type SpawnedProcess, spawnProcess } from "./spawn_process.ts";
import { type ChildOutcome, runProcess } from "./process.ts";
import type { Endpoint, Handlers } from "../rpc/endpoint.ts";
import {
  type Confinement,
  findConfinement,
  SANDBOX_CACHE_DIR,
  sandboxBase,
  type SandboxView,
  sandboxView,
} from "./sandbox.ts";
import { EXEC_FILTERED, writeSeccompFilter } from "./seccomp_filter.ts";
import { Slots } from "../rpc/slots.ts";
import type { LockedPackages } from "../packages/locked_packages.ts";
import { moduleUrl } from "../base/layout.ts";

/** One action for a child. */
export interface ChildJob {
  task: ChildTask;
  /** Goes beside the task. */
  bytes?: Uint8Array<ArrayBuffer>;
  permissions: ChildPermissions;
  view: SandboxView;
  timeoutMs: number;
  /** For a child side that imports npm packages. */
  packages?: LockedPackages;
  /** The tool's child side when it is not `lib/tools/child/<tool>.ts`; for tests. */
  entry?: URL;
}

/** A child that lives on. */
export interface SessionJob<Authority extends Endpoint, Child extends SessionEndpoint>
  extends SessionBegin<Authority, Child> {
  permissions: ChildPermissions;
  /** Folders of its sources, beside the executor's own, are among what it sees. */
  view: SandboxView;
  packages?: LockedPackages;
}

/** A process that lives on and has its pipes to itself. */
export interface ProcessJob extends Pick<ChildJob, "permissions" | "view" | "packages"> {
  /** As `CHILD_TOOLS` and the like name it. */
  name: string;
  /** A `file:` URL; unused in the binary. */
  entry: URL;
  /** Variables that it has beside Deno's own. */
  env: Readonly<Record<string, string>>;
  /** See `SpawnOptions`. */
  sharesStderr?: boolean;
}

export type { ChildOutcome };

/** Runs children. */
export interface Executor {
  /**
   * Runs a job. Rejects only with the signal's reason, once the child's tree is gone; every other end
   * is an outcome.
   */
  run(
    job: ChildJob,
    options: { signal: AbortSignal; onProgress: (text: string) => void },
  ): Promise<ChildOutcome>;
  /**
   * Starts a child that lives on until it is closed; a place of `run()` is not taken. Rejects with an
   * Error that says why it cannot be, once nothing is left of it, or with the signal's reason, which is
   * heeded until it is ready.
   */
  open<Authority extends Endpoint, Child extends SessionEndpoint>(
    job: SessionJob<Authority, Child>,
    handlers: Handlers<Authority>,
    options?: { signal?: AbortSignal },
  ): Promise<ChildSession<Child>>;
  /** Starts a process that lives on until it is closed; as `open()`, but for what is said to it. */
  spawn(job: ProcessJob): Promise<SpawnedProcess>;
  /** Whose rights they have. */
  childUser(): Promise<FoundChildUser>;
  /** Whether children run in a sandbox, tried once, at the first call; and why, or why not. */
  confinement(): Promise<{ confined: boolean; reason: string }>;
  /** What is known without starting anything. */
  status(): Promise<{ confined: boolean; reason: string }>;
  counts(): { running: number; waiting: number; sessions: number };
  /** Kills every child. Resolves when all are gone; later jobs are faults. */
  shutdown(): Promise<void>;
}

/** What was found, and what every sandbox starts with. */
interface Probed extends Confinement {
  /** Path of the seccomp filter. */
  filter?: string;
  /** First arguments of bwrap. */
  base: readonly string[];
  user: FoundChildUser;
}

/** What an executor is made of. */
export interface ExecutorOptions {
  /** Folder, 0700, for what Deno derives from the sources of children that have no sandbox. */
  cacheDir: string;
  /** Whose owner children are, where the service is root and that owner is not. */
  workspace?: string;
  log: Log;
  /** Where the service is root, children stay so, without its rights but to serve a low port. */
  staysRoot?: boolean;
  /** What follows from a sandbox that does not work, for the log. Default: what does for file tools. */
  unconfined?: string;
  /** `off` never uses a sandbox; for tests and other systems. */
  sandbox?: "auto" | "off";
  /** Children at once. Default 16. */
  maxRunning?: number;
  /** Jobs that wait for a place; beyond them a job is a fault. Default 256. */
  maxWaiting?: number;
  /** Sessions at once; beyond them one is refused. Default 32. */
  maxSessions?: number;
  /** Files that a child may have open; Infinity: as many as the service. Default 256. */
  maxOpenFiles?: number;
  /** V8's heap in a child; Infinity: V8's own bound. Default 256. */
  maxHeapMiB?: number;
  /** Of each half of where V8 keeps what is new: less takes less memory and more time. Default: V8's own. */
  maxNewMiB?: number;
  /** Data segments of a child: its heap, code, stacks and buffers. Infinity: any. Default 2 GiB. */
  maxDataBytes?: number;
  execPath?: string;
  standalone?: boolean;
}

const DEFAULT_MAX_RUNNING = 16;
const DEFAULT_MAX_WAITING = 256;
const DEFAULT_MAX_SESSIONS = 32;
const DEFAULT_MAX_HEAP_MIB = 256;
const DEFAULT_MAX_DATA_BYTES = 2 * 1024 * 1024 * 1024;
const DEFAULT_MAX_OPEN_FILES = 256;
const PROBE_TIMEOUT_MS = 10_000;

const NEVER = new AbortController().signal;

/** Makes an executor; nothing is started before the first job. */
export function createExecutor(options: ExecutorOptions): Executor {
  const { log, cacheDir } = options;
  const execPath = options.execPath ?? Deno.execPath();
  const standalone = options.standalone ?? Deno.build.standalone;
  const { maxRunning = DEFAULT_MAX_RUNNING, maxWaiting = DEFAULT_MAX_WAITING } = options;
  const slots = new Slots(maxRunning, maxWaiting);
  const sessions = new Slots(options.maxSessions ?? DEFAULT_MAX_SESSIONS, 0);
  const closing = new AbortController();
  const live = new Set<Promise<unknown>>();
  let found: Promise<Confinement> | undefined;
  let probed: Promise<Probed> | undefined;

  function find(): Promise<Confinement> {
    return found ??= options.sandbox === "off"
      ? Promise.resolve({ reason: "the sandbox is switched off" })
      : findConfinement();
  }

  function confine(): Promise<Probed> {
    return probed ??= probe().catch((error) => {
      probed = undefined;
      throw error;
    });
  }

  async function probe(): Promise<Probed> {
    const confinement = await find();
    const { bwrap } = confinement;
    if (bwrap === undefined) {
      await Deno.mkdir(cacheDir, { recursive: true, mode: 0o700 });
      return { ...confinement, base: [], user: { reason: "there is no sandbox" } };
    }
    const real = await Deno.realPath(execPath);
    const found = options.workspace === undefined
      ? { reason: "they have no workspace" }
      : await findChildUser({ workspace: options.workspace, folder: cacheDir });
    const { user } = found;
    const filter = await writeSeccompFilter(cacheDir);
    const nothing: SandboxView = { readOnly: [], readWrite: [], network: false };
    const env = { DENO_DIR: SANDBOX_CACHE_DIR };
    // A container may have a root that only a namespace of users gives the rights to make a sandbox.
    const kinds = options.staysRoot && Deno.uid() === 0 ? ["root" as const, undefined] : [user];
    let reason: string | undefined;
    for (const rights of kinds) {
      const base = await sandboxBase(real, rights);
      const version = [...base, ...sandboxView(nothing, env, { user }), real, "--version"];
      reason = await tryOut(["/bin/sh", "-c", EXEC_FILTERED, filter, bwrap, ...version]);
      if (reason === undefined) return { ...confinement, filter, base, user: found };
    }
    const { unconfined = "file tools refuse paths that hold links" } = options;
    log.warning(`The sandbox does not work here: ${unconfined}`, { reason });
    return { reason: reason!, base: [], user: { reason: "there is no sandbox" } };
  }

  /** What is started, and its whole environment. */
  async function commandLine(
    { tool, entry, permissions, view, timeoutMs, ...job }: {
      tool: string;
      entry: URL;
      permissions: ChildPermissions;
      view: SandboxView;
      packages?: LockedPackages;
      timeoutMs?: number;
      env?: Readonly<Record<string, string>>;
    },
  ): Promise<{ argv: string[]; env: Record<string, string> }> {
    const { bwrap, filter, base, user: { user } } = await confine();
    const packages = standalone ? undefined : job.packages;
    const command = childCommand({
      tool,
      entry,
      permissions,
      packages,
      maxHeapMiB: options.maxHeapMiB ?? DEFAULT_MAX_HEAP_MIB,
      maxNewMiB: options.maxNewMiB,
      cacheDir: bwrap === undefined
        ? packages?.denoDir ?? view.cacheDir ?? cacheDir
        : SANDBOX_CACHE_DIR,
      keepsCode: view.cacheDir !== undefined,
      execPath: bwrap === undefined ? execPath : await Deno.realPath(execPath),
      standalone,
    });
    const argv = [
      ...await closeInherited(),
      ...limited(filter, timeoutMs, { ...options, staysOn: job.env !== undefined }),
      ...(bwrap === undefined
        ? []
        // What bwrap has is seen in there; nothing that an argv would show to every user.
        : [
          bwrap,
          ...job.env ? base.filter(isKept) : base,
          ...sandboxView(view, command.env, { packages, user }),
        ]),
      command.path,
      ...command.args,
    ];
    return { argv, env: { ...bwrap === undefined ? command.env : {}, ...job.env } };
  }

  async function openInPlace<Authority extends Endpoint, Child extends SessionEndpoint>(
    job: SessionJob<Authority, Child>,
    handlers: Handlers<Authority>,
    signal: AbortSignal | undefined,
    release: () => void,
  ): Promise<ChildSession<Child>> {
    const { name } = job;
    try {
      const started = await commandLine({ ...job, tool: name });
      signal?.throwIfAborted();
      const { session, gone } = openSession({
        ...job,
        ...started,
        cwd: "/",
        handlers,
        signal,
        closing: closing.signal,
        onGone: release,
        onFault: ({ reason, stderr }) =>
          log.warning("A child of the executor that lives on has ended", { name, reason, stderr }),
      });
      const ended = gone.finally(() => live.delete(ended));
      live.add(ended);
      return await session;
    } catch (error) {
      release();
      throw error;
    }
  }

  async function run(
    job: ChildJob,
    { signal, onProgress }: { signal: AbortSignal; onProgress: (text: string) => void },
  ): Promise<ChildOutcome> {
    const release = await slots.take(signal);
    if (release === undefined) {
      return { type: "fault", message: `${maxWaiting} actions wait already` };
    }
    try {
      const { tool } = job.task;
      const started = await commandLine({
        ...job,
        tool,
        entry: job.entry ?? moduleUrl(`lib/tools/child/${tool}.ts`),
      });
      signal.throwIfAborted();
      if (closing.signal.aborted) {
        release();
        return { type: "fault", message: "the service is stopping" };
      }
      const { outcome, gone } = runProcess({
        ...started,
        task: job.task,
        bytes: job.bytes,
        timeoutMs: job.timeoutMs,
        signal,
        closing: closing.signal,
        onProgress,
      });
      const ended = gone.finally(() => {
        release();
        live.delete(ended);
      });
      live.add(ended);
      const { result, stderr } = await outcome;
      if (result.type === "fault") {
        log.warning("A child of the executor failed", { tool, reason: result.message, stderr });
      }
      return result;
    } catch (error) {
      release();
      throw error;
    }
  }

  return {
    async run(job, runOptions) {
      try {
        return await run(job, runOptions);
      } catch (error) {
        runOptions.signal.throwIfAborted();
        const message = error instanceof Error ? error.message : String(error);
        log.error("A child of the executor cannot be started", {
          tool: job.task.tool,
          reason: message,
        });
        return { type: "fault", message: `its process cannot be started: ${message}` };
      }
    },
    async open(job, handlers, { signal } = {}) {
      const release = await sessions.take(signal ?? NEVER);
      if (release === undefined) throw new Error(`${sessions.max} children live on already`);
      return await openInPlace(job, handlers, signal, release);
    },
    async spawn(job) {
      const release = await sessions.take(NEVER);
      if (release === undefined) throw new Error(`${sessions.max} children live on already`);
      try {
        const started = await commandLine({ ...job, tool: job.name });
        closing.signal.throwIfAborted();
        const child = spawnProcess({ ...started, sharesStderr: job.sharesStderr });
        closing.signal.addEventListener("abort", child.kill, { once: true });
        const ended = endOf(child).then(() => {
          closing.signal.removeEventListener("abort", child.kill);
          release();
          live.delete(ended);
        });
        live.add(ended);
        return child;
      } catch (error) {
        release();
        throw error;
      }
    },
    childUser: async () => (await confine()).user,
    async confinement() {
      const { bwrap, reason } = await confine();
      return { confined: bwrap !== undefined, reason };
    },
    async status() {
      const { bwrap, reason } = await (probed ?? find());
      return { confined: bwrap !== undefined, reason };
    },
    counts: () => ({
      running: slots.running,
      waiting: slots.waiting,
      sessions: sessions.running,
    }),
    async shutdown() {
      closing.abort(new Error("the service is stopping"));
      await Promise.all(live);
    },
  };
}

/**
 * What starts a child under limits that its processes inherit, with the seccomp filter where there is one.
 * The shell sets them: as a program of its own, such as prlimit, that would take as long again.
 */
function limited(
  filter: string | undefined,
  timeoutMs: number | undefined,
  {
    maxDataBytes = DEFAULT_MAX_DATA_BYTES,
    maxOpenFiles = DEFAULT_MAX_OPEN_FILES,
    staysOn,
  }: Pick<ExecutorOptions, "maxDataBytes" | "maxOpenFiles"> & { staysOn: boolean },
): string[] {
  if (Deno.build.os !== "linux") return [];
  const limits = [
    // Whoever stops the service may tell all of its processes; these go on until they are told by the first.
    ...staysOn ? ["trap '' TERM INT HUP"] : [],
    ...maxDataBytes === Infinity ? [] : [`ulimit -d ${Math.floor(maxDataBytes / 1024)}`],
    // Deno works on several threads, so processor time passes faster than time; this bounds a child that
    // outlives everyone.
    ...(timeoutMs === undefined ? [] : [`ulimit -t ${Math.ceil(timeoutMs / 1000) * 4}`]),
    ...maxOpenFiles === Infinity ? [] : [`ulimit -n ${maxOpenFiles}`],
    "ulimit -c 0",
    filter === undefined ? 'exec "$@"' : EXEC_FILTERED,
  ];
  return ["/bin/sh", "-c", limits.join(" && "), filter ?? "sh"];
}

function isKept(argument: string): boolean {
  return argument !== "--clearenv";
}

/** Why a program does not run, or undefined when it does. */
async function tryOut([path, ...args]: readonly string[]): Promise<string | undefined> {
  try {
    const { success, stderr } = await new Deno.Command(path!, {
      args,
      clearEnv: true,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    }).output();
    if (success) return undefined;
    return new TextDecoder().decode(stderr).trim().split("\n").at(-1) || "it failed without a word";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
