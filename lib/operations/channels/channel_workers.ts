/**
 * The workers of channels: processes that the authority starts, each with the permissions of one channel.
 * What is said over their pipes is for the service, and nobody here reads it.
 *
 * @module
 */

import { join } from "@std/path";
import type { Clock } from "../../base/clock.ts";
import { IS_BUILT } from "../../base/layout.ts";
import type { FeatureMetadata } from "../../channel/base_channel.ts";
import type { ConnectAnswer, SetupFinding } from "../../channel/descriptor.ts";
import type { ChannelWorker } from "../../channel_worker/open_channel_worker.ts";
import type { WorkerSource } from "../../channel_worker/worker_source.ts";
import {
  type ChannelCallName,
  type ChannelParams,
  VALIDATE_TIMEOUT_MS,
} from "../../channel_worker/protocol.ts";
import { setupResults } from "../../channel_worker/setup_results.ts";
import { ServiceError, toErrorData } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { askWorker, workerToAsk } from "./ask_worker.ts";
import { channelPackages, type PackageFetcher } from "../../packages/package_fetcher.ts";
import { notHeld } from "../../packages/wanted_packages.ts";
import {
  channelWorkerPermissions,
  checkWorkerPaths,
} from "../../channel_worker/worker_permissions.ts";
import type { Executor } from "../../executor/executor.ts";
import type { LockedPackages } from "../../packages/locked_packages.ts";
import { startWorker } from "./start_worker.ts";

/** What workers are started with. */
export interface ChannelWorkersDeps {
  /**
   * What a worker of an instance is made of, as it is configured now. Throws a ServiceError for people
   * where there is none: a name that nobody knows, a channel that is off, a section that is wrong.
   */
  sourceOf(runtimeName: string): WorkerSource | Promise<WorkerSource>;
  /** For what a channel keeps, 32 bytes; absent: it is given none. */
  stateKey?(runtimeName: string): Promise<Uint8Array>;
  packages: Pick<PackageFetcher, "ensure" | "shutdown">;
  /** Where those are that the program doesn't hold. */
  locked: LockedPackages | undefined;
  /** Starts their processes, and is shut down with them. */
  executor: Pick<Executor, "spawn" | "shutdown">;
  /** Has a folder for each of them. */
  cacheDir: string;
  env: (name: string) => string | undefined;
  /** Folders and files of the home that no channel reads. */
  forbidden: readonly string[];
  /** Takes secrets out of words of packages. */
  scrub: (text: string) => string;
  clock: Clock;
  log: Log;
}

/** A connector in its worker. */
export interface OpenConnector {
  /** Rejects with `tool_failed`; it is of no use after that. */
  handle(
    action: "start" | "poll" | "cancel",
    query: Readonly<Record<string, string>>,
  ): Promise<ConnectAnswer>;
  close(): void;
}

/** Workers that are asked at the same time. */
const MAX_ASKED = 4;

const CONNECT_TIMEOUT_MS = 30_000;
const LOGIN_TIMEOUT_MS = 300_000;
const REFRESH_TIMEOUT_MS = 30_000;

/** What is asked is asked in a worker of its own, which is gone afterwards. */
export class ChannelWorkers {
  readonly #deps: ChannelWorkersDeps;
  readonly #open = new Set<ChannelWorker>();
  readonly #making = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #asked = 0;

  constructor(deps: ChannelWorkersDeps) {
    this.#deps = deps;
  }

  /** Opens a worker for an instance; as `OpenChannelWorker`. */
  readonly open = async (runtimeName: string): Promise<ChannelWorker> => {
    this.#closing.signal.throwIfAborted();
    return await this.#start(await this.#deps.sourceOf(runtimeName));
  };

  /** What the channel's own check finds; that it could not be made is a warning. */
  async validate(
    source: WorkerSource,
    values: Readonly<Record<string, unknown>>,
  ): Promise<SetupFinding[]> {
    try {
      const found = await this.#ask(source, "validate", values, VALIDATE_TIMEOUT_MS);
      return setupResults.findings(found);
    } catch (error) {
      if (error instanceof ServiceError && error.code === "draining") throw error;
      const why = `The settings could not be tried: ${toErrorData(error).message}`;
      return [{ level: "warning", message: this.#deps.scrub(why) }];
    }
  }

  /**
   * A connector, which may keep what it began in its memory until it is closed. Rejects as `open`, as do
   * the following, and with `tool_failed`.
   */
  async connector(source: WorkerSource): Promise<OpenConnector> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const { clock, log } = this.#deps;
    const { runtimeName } = source.boot;
    const worker = workerToAsk(await this.#start(source), { runtimeName, signal, clock, log });
    return {
      close: worker.close,
      handle: (action, query) =>
        this.#orFault(runtimeName, async () => {
          const answer = await worker.ask("connect", { action, query }, CONNECT_TIMEOUT_MS);
          return setupResults.connectAnswer(answer);
        }),
    };
  }

  /** Logs an instance in; may wait for a person. Undefined for one that has no login of its own. */
  login(source: WorkerSource, force: boolean): Promise<boolean | undefined> {
    return this.#orFault(source.boot.runtimeName, async () => {
      const answer = await this.#ask(source, "login", { force }, LOGIN_TIMEOUT_MS);
      return answer === null ? undefined : answer === true;
    });
  }

  /** Names and pictures of an instance, asked for after its settings changed. */
  refresh(source: WorkerSource, instanceId?: string): Promise<FeatureMetadata | undefined> {
    return this.#orFault(source.boot.runtimeName, async () => {
      const told = await this.#ask(source, "refresh", { instanceId }, REFRESH_TIMEOUT_MS);
      return setupResults.metadata(told);
    });
  }

  /** Ends every worker. */
  async shutdown(): Promise<void> {
    const { packages, executor } = this.#deps;
    this.#closing.abort(new ServiceError("draining", "The service is stopping"));
    for (const worker of this.#open) worker.close();
    await Promise.all([packages.shutdown(), executor.shutdown()]);
    await Promise.allSettled(this.#making);
  }

  async #start({ boot, permissions, dependencies }: WorkerSource): Promise<ChannelWorker> {
    const { forbidden, executor, locked, env, scrub } = this.#deps;
    const { signal } = this.#closing;
    const { runtimeName, module, stateDir } = boot;
    const table = channelWorkerPermissions({ runtimeName, permissions, stateDir, module });
    await checkWorkerPaths({ runtimeName, permissions }, forbidden);
    await this.#deps.packages.ensure(channelPackages(runtimeName, dependencies));
    // It may have been long.
    signal.throwIfAborted();
    const cacheDir = join(this.#deps.cacheDir, runtimeName);
    await this.#makeFolder(stateDir);
    await this.#makeFolder(cacheDir);
    signal.throwIfAborted();
    // A channel that needs none starts also where the secrets of the home can't be read.
    const key = await this.#deps.stateKey?.(runtimeName).catch(() => undefined);
    const stateKey = key?.toBase64();
    const packages = IS_BUILT && notHeld(dependencies).length === 0 ? undefined : locked;
    const worker = await startWorker({
      ...{ table, executor, packages, cacheDir, env, scrub },
      boot: { ...boot, ...stateKey !== undefined && { stateKey } },
    });
    this.#open.add(worker);
    worker.gone.then(() => this.#open.delete(worker));
    if (signal.aborted) worker.close();
    signal.throwIfAborted();
    return worker;
  }

  /** Whoever waits for the end may take the home away then: nothing is made in it any more. */
  async #makeFolder(path: string): Promise<void> {
    const made = Deno.mkdir(path, { recursive: true, mode: 0o700 });
    this.#making.add(made);
    try {
      await made;
    } finally {
      this.#making.delete(made);
    }
  }

  async #ask<M extends ChannelCallName>(
    source: WorkerSource,
    method: M,
    params: ChannelParams<M>,
    timeoutMs: number,
  ): Promise<unknown> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    if (this.#asked >= MAX_ASKED) {
      throw new ServiceError(
        "overloaded",
        `${MAX_ASKED} channels are being asked already; try again in a moment`,
      );
    }
    this.#asked += 1;
    try {
      const { runtimeName } = source.boot;
      const { clock, log } = this.#deps;
      const asked = { runtimeName, method, params, timeoutMs, signal, clock, log };
      return await askWorker(() => this.#start(source), asked);
    } finally {
      this.#asked -= 1;
    }
  }

  /** A package's fault is not the caller's, and its words are nobody's secret. */
  async #orFault<T>(name: string, answer: () => Promise<T>): Promise<T> {
    try {
      return await answer();
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      const why = `The channel ${name} failed: ${toErrorData(error).message}`;
      throw new ServiceError("tool_failed", this.#deps.scrub(why));
    }
  }
}
