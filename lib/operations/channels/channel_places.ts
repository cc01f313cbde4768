/**
 * The places of channels: processes that the authority starts, each with the permissions of one channel.
 * What is said over their pipes is for the service, and nobody here reads it.
 *
 * @module
 */

import { join } from "@std/path";
import type { Clock } from "../../base/clock.ts";
import type { FeatureMetadata } from "../../channel/base_channel.ts";
import type { ConnectAnswer, SetupFinding } from "../../channel/descriptor.ts";
import type { OpenedPlace } from "../../place/open_place.ts";
import type { PlaceSource } from "../../place/place_source.ts";
import {
  type ChannelCallName,
  type ChannelParams,
  VALIDATE_TIMEOUT_MS,
} from "../../place/protocol.ts";
import { setupResults } from "../../place/setup_results.ts";
import { ServiceError, toErrorData } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { askPlace, placeToAsk } from "./ask_place.ts";
import { channelPackages, type PackageFetcher } from "../../packages/package_fetcher.ts";
import { checkPlacePaths, placePermissions } from "../../place/place_permissions.ts";
import type { Executor } from "../../executor/executor.ts";
import type { LockedPackages } from "../../packages/locked_packages.ts";
import { startPlace } from "./start_place.ts";

/** What places are started with. */
export interface ChannelPlacesDeps {
  /**
   * What a place of an instance is made of, as it is configured now. Throws a ServiceError for people
   * where there is none: a name that nobody knows, a channel that is off, a section that is wrong.
   */
  sourceOf(runtimeName: string): PlaceSource | Promise<PlaceSource>;
  packages: Pick<PackageFetcher, "ensure" | "shutdown">;
  /** Where they are; undefined where the program holds them. */
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

/** See the module. What is asked is asked in a place of its own, which is gone afterwards. */
export interface ChannelPlaces {
  /** Opens a place for an instance; as `OpenPlace`. */
  open(runtimeName: string): Promise<OpenedPlace>;
  /** What the channel's own check finds; that it could not be made is a warning (case C14). */
  validate(source: PlaceSource, values: Readonly<Record<string, unknown>>): Promise<SetupFinding[]>;
  /**
   * A connector, which may keep what it began in its memory until it is closed. Rejects as `open`, as do
   * the following, and with `tool_failed`.
   */
  connector(source: PlaceSource): Promise<OpenConnector>;
  /** Logs an instance in; may wait for a person. */
  login(source: PlaceSource, force: boolean): Promise<boolean>;
  /** Names and pictures of an instance, asked for after its settings changed. */
  refresh(source: PlaceSource, instanceId?: string): Promise<FeatureMetadata | undefined>;
  /** Ends every place. */
  shutdown(): Promise<void>;
}

/** A connector in its place. */
export interface OpenConnector {
  /** Rejects with `tool_failed`; it is of no use after that. */
  handle(
    action: "start" | "poll" | "cancel",
    query: Readonly<Record<string, string>>,
  ): Promise<ConnectAnswer>;
  close(): void;
}

/** Places that are asked at the same time. */
const MAX_ASKED = 4;

const CONNECT_TIMEOUT_MS = 30_000;
const LOGIN_TIMEOUT_MS = 300_000;
const REFRESH_TIMEOUT_MS = 30_000;

/** See {@linkcode ChannelPlaces}. */
export function createChannelPlaces(deps: ChannelPlacesDeps): ChannelPlaces {
  const { clock, log, scrub } = deps;
  const open = new Set<OpenedPlace>();
  const making = new Set<Promise<void>>();
  let asked = 0;
  const closing = new AbortController();
  const { signal } = closing;

  async function start(source: PlaceSource): Promise<OpenedPlace> {
    const { boot, permissions, dependencies } = source;
    const { runtimeName, module, stateDir } = boot;
    const table = placePermissions({ runtimeName, permissions, stateDir, module });
    await checkPlacePaths({ runtimeName, permissions }, deps.forbidden);
    await deps.packages.ensure(channelPackages(runtimeName, dependencies));
    // It may have been long.
    if (signal.aborted) throw stopping();
    const cacheDir = join(deps.cacheDir, runtimeName);
    await makeFolder(stateDir);
    await makeFolder(cacheDir);
    if (signal.aborted) throw stopping();
    const { executor, env, locked } = deps;
    const place = await startPlace({
      boot,
      table,
      executor,
      packages: locked,
      cacheDir,
      env,
      scrub,
    });
    open.add(place);
    place.gone.then(() => open.delete(place));
    if (!signal.aborted) return place;
    place.close();
    throw stopping();
  }

  /** Whoever waits for the end may take the home away then: nothing is made in it any more. */
  async function makeFolder(path: string): Promise<void> {
    const made = Deno.mkdir(path, { recursive: true, mode: 0o700 });
    making.add(made);
    try {
      await made;
    } finally {
      making.delete(made);
    }
  }

  async function ask<M extends ChannelCallName>(
    source: PlaceSource,
    method: M,
    params: ChannelParams<M>,
    timeoutMs: number,
  ): Promise<unknown> {
    if (signal.aborted) throw stopping();
    if (asked >= MAX_ASKED) {
      throw new ServiceError(
        "overloaded",
        `${MAX_ASKED} channels are being asked already; try again in a moment`,
      );
    }
    asked += 1;
    try {
      const { runtimeName } = source.boot;
      return await askPlace(() => start(source), {
        runtimeName,
        method,
        params,
        timeoutMs,
        signal,
        clock,
        log,
      });
    } finally {
      asked -= 1;
    }
  }

  /** A package's fault is not the caller's, and its words are nobody's secret. */
  async function orFault<T>(name: string, answer: () => Promise<T>): Promise<T> {
    try {
      return await answer();
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw new ServiceError(
        "tool_failed",
        scrub(`The channel ${name} failed: ${toErrorData(error).message}`),
      );
    }
  }

  return {
    async open(runtimeName) {
      if (signal.aborted) throw stopping();
      return await start(await deps.sourceOf(runtimeName));
    },
    async validate(source, values) {
      try {
        return setupResults.findings(
          await ask(source, "validate", values, VALIDATE_TIMEOUT_MS),
        );
      } catch (error) {
        if (error instanceof ServiceError && error.code === "draining") throw error;
        const message = scrub(`The settings could not be tried: ${toErrorData(error).message}`);
        return [{ level: "warning", message }];
      }
    },
    async connector(source) {
      if (signal.aborted) throw stopping();
      const { runtimeName } = source.boot;
      const place = placeToAsk(await start(source), { runtimeName, signal, clock, log });
      return {
        close: place.close,
        handle: (action, query) =>
          orFault(runtimeName, async () =>
            setupResults.connectAnswer(
              await place.ask("connect", { action, query }, CONNECT_TIMEOUT_MS),
            )),
      };
    },
    login: (source, force) =>
      orFault(
        source.boot.runtimeName,
        async () => await ask(source, "login", { force }, LOGIN_TIMEOUT_MS) === true,
      ),
    refresh: (source, instanceId) =>
      orFault(source.boot.runtimeName, async () =>
        setupResults.metadata(
          await ask(source, "refresh", { instanceId }, REFRESH_TIMEOUT_MS),
        )),
    async shutdown() {
      closing.abort(stopping());
      for (const place of open) place.close();
      await Promise.all([deps.packages.shutdown(), deps.executor.shutdown()]);
      await Promise.allSettled(making);
    },
  };
}

function stopping(): ServiceError {
  return new ServiceError("draining", "The service is stopping");
}
