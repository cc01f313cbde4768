/**
 * Runs actions in child processes, each in one of its own or in its turn's worker (`turn_workers.ts`), confined
 * as well as this machine allows, and ends those with their whole trees when their time is up, when they are
 * cancelled, and when the service stops.
 *
 * @module
 */

import type { Log } from "../base/log.ts";
import type { ChildTask } from "./action_child.ts";
import type { ChildSession, SessionBegin, SessionEndpoint } from "./child_session.ts";
import { findChildUser, type FoundChildUser } from "./child_user.ts";
import { childCommand, type ChildPermissions } from "./command.ts";
import { closeInherited } from "./inherited.ts";
import { LiveChildren } from "./live_children.ts";
import { openSession } from "./open_session.ts";
import { endOf, type SpawnedProcess, type SpawnOptions, spawnProcess } from "./spawn_process.ts";
import {
  type ActionProcess,
  type ChildOutcome,
  runTask,
  startProcess,
  type TaskEnd,
  type TaskOptions,
} from "./process.ts";
import type { Endpoint, Handlers } from "../rpc/endpoint.ts";
import { SANDBOX_CACHE_DIR, type SandboxView, sandboxView } from "./sandbox.ts";
import { EXEC_FILTERED } from "./seccomp_filter.ts";
import { type TriedSandbox, TriedSandboxes } from "./tried_sandboxes.ts";
import { TurnWorkers } from "./turn_workers.ts";
import type { LockedPackages } from "../packages/locked_packages.ts";
import { type EntryName, entryUrl } from "../base/entries.ts";

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
  /** Variables that it has beside Deno's own. */
  env?: Readonly<Record<string, string>>;
  /** The module of the child; default: that of the tool. */
  entry?: URL;
  /** Where there is a sandbox, the turn's worker with these permissions and the same view runs it. */
  worker?: { sessionKey: string; turnId: string; permissions: ChildPermissions };
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
  name: EntryName;
  /** A `file:` URL; default: that of the name. */
  entry?: URL;
  /** Variables that it has beside Deno's own. */
  env: Readonly<Record<string, string>>;
  /** See `SpawnOptions`. */
  stderrTo?: SpawnOptions["stderrTo"];
}

export type { ChildOutcome };

/** Runs children. */
export type Executor = Pick<ChildExecutor, keyof ChildExecutor>;

/** What children are started in. */
interface Found {
  /** Undefined: no sandbox, as `reason` says. */
  sandbox?: TriedSandbox;
  user: FoundChildUser;
  reason: string;
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
  /** Those of this process; default: of this executor alone. */
  sandboxes?: TriedSandboxes;
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
  /** How long a turn's worker may rest before it ends. Default 30,000. */
  workerIdleMs?: number;
  /** Data segments of a child: its heap, code, stacks and buffers. Infinity: any. Default 2 GiB. */
  maxDataBytes?: number;
}

/** By which the processor time of a worker is bounded; each action has its own time limit. */
const WORKER_TIME_MS = 15 * 60_000;

const DEFAULTS = {
  unconfined: "file tools refuse paths that hold links",
  maxRunning: 16,
  maxWaiting: 256,
  maxSessions: 32,
  maxOpenFiles: 256,
  maxHeapMiB: 256,
  workerIdleMs: 30_000,
  maxDataBytes: 2 * 1024 * 1024 * 1024,
};

/** Makes an executor; nothing is started before the first job. */
export function createExecutor(options: ExecutorOptions): Executor {
  return new ChildExecutor(options);
}

class ChildExecutor {
  readonly #options: ExecutorOptions & typeof DEFAULTS;
  readonly #sandboxes: TriedSandboxes;
  readonly #children: LiveChildren;
  readonly #workers: TurnWorkers;
  #found: Promise<Found> | undefined;

  constructor(options: ExecutorOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const { cacheDir: folder, sandbox } = options;
    this.#sandboxes = options.sandboxes ?? new TriedSandboxes({ folder, sandbox });
    this.#children = new LiveChildren({ ...this.#options, called: "children" });
    this.#workers = new TurnWorkers({ idleMs: this.#options.workerIdleMs });
  }

  /**
   * Runs a job. Rejects only with the signal's reason, once the child's tree is gone; every other end
   * is an outcome.
   */
  async run(
    job: ChildJob,
    { signal, onProgress }: { signal: AbortSignal; onProgress: (text: string) => void },
  ): Promise<ChildOutcome> {
    const { log } = this.#options;
    const { tool } = job.task;
    const options = { ...job, signal, onProgress };
    try {
      const { worker } = job;
      const isShared = worker !== undefined && (await this.#find()).sandbox !== undefined;
      const { result, stderr } = isShared
        ? await this.#runShared({ ...job, worker }, options)
        : await this.#runAlone(job, options);
      if (result.type === "fault") {
        log.warning("A child of the executor failed", { tool, reason: result.message, stderr });
      }
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (this.#children.closing.aborted) {
        return { type: "fault", message: "the service is stopping" };
      }
      const message = error instanceof Error ? error.message : String(error);
      log.error("A child of the executor cannot be started", { tool, reason: message });
      return { type: "fault", message: `its process cannot be started: ${message}` };
    }
  }

  async #runAlone(job: ChildJob, options: TaskOptions): Promise<TaskEnd> {
    const { slots } = this.#children;
    const release = await slots.take(options.signal);
    if (release === undefined) return tooMany(slots.maxWaiting);
    const process = await this.#start(job, options.signal, release);
    return await runTask(process, options).finally(() => process.end("it has answered"));
  }

  async #runShared(
    job: ChildJob & Required<Pick<ChildJob, "worker">>,
    options: TaskOptions,
  ): Promise<TaskEnd> {
    const { slots } = this.#children;
    const { signal } = options;
    const { sessionKey, turnId, permissions } = job.worker;
    const { view, task: { tool }, entry = entryUrl(tool as EntryName) } = job;
    // A folder that was replaced is another one, and what is mounted still the first.
    const folders = await Promise.all(
      [...view.readOnly, ...view.readWrite].map((path) => Deno.stat(path)),
    );
    const seen = folders.map(({ dev, ino }) => [dev, ino]);
    const key = JSON.stringify([sessionKey, turnId, permissions, view, seen, entry.href]);
    const end = await this.#workers.run({ key, turnId }, signal, async (started) => {
      const release = await slots.take(signal);
      if (release === undefined) return undefined;
      try {
        const worker = { ...job, permissions, timeoutMs: WORKER_TIME_MS };
        const process = await started(() => this.#start(worker, signal, () => {}));
        return await runTask(process, options);
      } finally {
        release();
      }
    });
    return end ?? tooMany(slots.maxWaiting);
  }

  /** `release` is called when it is gone, or is not started. */
  #start(job: ChildJob, signal: AbortSignal, release: () => void): Promise<ActionProcess> {
    const { closing } = this.#children;
    const { tool, maxOutputBytes: maxErrorChars } = job.task;
    return this.#children.start(release, async () => {
      const started = await this.#commandLine({ ...job, tool });
      signal.throwIfAborted();
      closing.throwIfAborted();
      return startProcess({ ...started, maxErrorChars, closing });
    });
  }

  /** Nothing more is done in that turn: its workers end. */
  turnEnded(turnId: string): void {
    this.#workers.turnEnded(turnId);
  }

  /**
   * Starts a child that lives on until it is closed; a place of `run()` is not taken. Rejects with an
   * Error that says why it cannot be, once nothing is left of it, or with the signal's reason, which is
   * heeded until it is ready.
   */
  async open<Authority extends Endpoint, Child extends SessionEndpoint>(
    job: SessionJob<Authority, Child>,
    handlers: Handlers<Authority>,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<ChildSession<Child>> {
    const { closing } = this.#children;
    const { name } = job;
    const { session } = await this.#children.open(async (onGone) => {
      const started = await this.#commandLine({ ...job, tool: name });
      signal?.throwIfAborted();
      return openSession({
        ...{ ...job, ...started, cwd: "/", handlers, signal, closing, onGone },
        onFault: ({ reason, stderr }) =>
          this.#options.log.warning("A child of the executor that lives on has ended", {
            ...{ name, reason, stderr },
          }),
      });
    }, signal);
    return await session;
  }

  /** Starts a process that lives on until it is closed; as `open()`, but for what is said to it. */
  async spawn(job: ProcessJob): Promise<SpawnedProcess> {
    const { closing } = this.#children;
    const { child } = await this.#children.open(async (release) => {
      const started = await this.#commandLine({ ...job, tool: job.name });
      closing.throwIfAborted();
      const child = spawnProcess({ ...started, stderrTo: job.stderrTo });
      closing.addEventListener("abort", child.kill, { once: true });
      const gone = endOf(child).then(() => {
        closing.removeEventListener("abort", child.kill);
        release();
      });
      return { child, gone };
    });
    return child;
  }

  /** Whose rights they have. */
  async childUser(): Promise<FoundChildUser> {
    return (await this.#find()).user;
  }

  /** Whether children run in a sandbox, tried once, at the first call; and why, or why not. */
  async confinement(): Promise<{ confined: boolean; reason: string }> {
    const { sandbox, reason } = await this.#find();
    return { confined: sandbox !== undefined, reason };
  }

  /** What is known without starting anything. */
  async status(): Promise<{ confined: boolean; reason: string }> {
    if (this.#found !== undefined) return await this.confinement();
    const { bwrap, reason } = await this.#sandboxes.find();
    return { confined: bwrap !== undefined, reason };
  }

  counts(): { running: number; waiting: number; sessions: number } {
    const counts = this.#children.counts();
    return { ...counts, waiting: counts.waiting + this.#workers.waiting };
  }

  /** Kills every child. Resolves when all are gone; later jobs are faults. */
  shutdown(): Promise<void> {
    return this.#children.shutdown();
  }

  #find(): Promise<Found> {
    return this.#found ??= this.#tryOut().catch((error) => {
      this.#found = undefined;
      throw error;
    });
  }

  async #tryOut(): Promise<Found> {
    const { workspace, cacheDir, staysRoot, unconfined, log } = this.#options;
    const none = { reason: "there is no sandbox" };
    const { bwrap, reason } = await this.#sandboxes.find();
    if (bwrap === undefined) {
      await Deno.mkdir(cacheDir, { recursive: true, mode: 0o700 });
      return { user: none, reason };
    }
    const user: FoundChildUser = workspace === undefined
      ? { reason: "they have no workspace" }
      : await findChildUser(workspace, this.#sandboxes);
    // A container may have a root that only a namespace of users gives the rights to make a sandbox.
    const kinds = staysRoot && Deno.uid() === 0 ? ["root" as const, undefined] : [user.user];
    let problem = "";
    for (const rights of kinds) {
      // One that could not be tried out is none for these children alone.
      const sandbox = await this.#sandboxes.of(rights).catch(({ message }) => ({
        problem: message,
      }));
      if (!("problem" in sandbox)) return { sandbox, user, reason };
      problem = sandbox.problem;
    }
    log.warning(`The sandbox does not work here: ${unconfined}`, { reason: problem });
    return { user: none, reason: problem };
  }

  /** What is started, and its whole environment. */
  async #commandLine(
    { tool, entry = entryUrl(tool as EntryName), permissions, view, timeoutMs, ...job }: {
      tool: string;
      entry?: URL;
      permissions: ChildPermissions;
      view: SandboxView;
      packages?: LockedPackages;
      timeoutMs?: number;
      env?: Readonly<Record<string, string>>;
    },
  ): Promise<{ argv: string[]; env: Record<string, string> }> {
    const [{ sandbox, user: { user } }, withoutInherited] = await Promise.all([
      this.#find(),
      closeInherited(),
    ]);
    const { maxHeapMiB, maxNewMiB } = this.#options;
    const packages = Deno.build.standalone ? undefined : job.packages;
    const command = childCommand({
      ...{ tool, entry, permissions, packages, maxHeapMiB, maxNewMiB },
      cacheDir: sandbox === undefined
        ? packages?.denoDir ?? view.cacheDir ?? this.#options.cacheDir
        : SANDBOX_CACHE_DIR,
      keepsCode: view.cacheDir !== undefined,
      execPath: await Deno.realPath(Deno.execPath()),
    });
    const argv = [
      ...withoutInherited,
      ...this.#limited(sandbox?.filter, { timeoutMs, staysOn: job.env !== undefined }),
      ...(sandbox === undefined
        ? []
        // What bwrap has is seen in there; nothing that an argv would show to every user.
        : [
          sandbox.bwrap,
          ...job.env ? sandbox.base.filter(isKept) : sandbox.base,
          ...sandboxView(view, command.env, { packages, user }),
        ]),
      command.path,
      ...command.args,
    ];
    return { argv, env: { ...sandbox === undefined ? command.env : {}, ...job.env } };
  }

  /**
   * What starts a child under limits that its processes inherit, with the seccomp filter where there is one.
   * The shell sets them: as a program of its own, such as prlimit, that would take as long again.
   */
  #limited(
    filter: string | undefined,
    { timeoutMs, staysOn }: { timeoutMs: number | undefined; staysOn: boolean },
  ): string[] {
    if (Deno.build.os !== "linux") return [];
    const { maxDataBytes, maxOpenFiles } = this.#options;
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
}

function tooMany(waiting: number): TaskEnd {
  return { result: { type: "fault", message: `${waiting} actions wait already` }, stderr: "" };
}

function isKept(argument: string): boolean {
  return argument !== "--clearenv";
}
