/**
 * A home that this process owns: what answers its gateway, opened beside it, and how all of it ends.
 *
 * @module
 */

import type { Loaded } from "../settings/load.ts";
import { IS_BUILT } from "../base/layout.ts";
import type { AppFile } from "../browser_app/app_files.ts";
import type { WebsocketConfig } from "../config/schema.ts";
import { MCP } from "../packages/wanted_packages.ts";
import { ServiceError } from "../base/errors.ts";
import type { ReloadedSettings } from "../contract/reloaded_settings.ts";
import type { Log } from "../base/log.ts";
import { type Authority, startAuthority } from "../authority/authority.ts";
import { GatewayPorts } from "../authority/gateway_ports.ts";
import { openJournalMark } from "../authority/journal_mark.ts";
import {
  createSigningKeyFetch,
  type SigningKeyFetch,
} from "../authority/jwks/signing_key_fetch.ts";
import { openLocalUsers } from "../authority/local_users.ts";
import { maxOpenFiles } from "../authority/open_files.ts";
import { makeWorkspace } from "../authority/take_home.ts";
import type { ConfigWatcher } from "../authority/watch_config.ts";
import type { Executor } from "../executor/executor.ts";
import type { TriedSandboxes } from "../executor/tried_sandboxes.ts";
import type { Operator } from "../operations/operator.ts";
import type { Begun } from "./begin_home.ts";
import type { GatewayLauncher } from "./launch_gateway.ts";
import { openActions } from "./open_actions.ts";
import { openOperator } from "./open_operator.ts";
import { openRecords } from "./open_records.ts";
import { openRetention } from "./open_retention.ts";
import { serviceConfig } from "./own_config.ts";
import type { HomeOptions } from "./own_home.ts";
import {
  reloadOnRecord,
  warnOfClock,
  watchHealth,
  type Watching,
  watchOwnConfig,
} from "./watch_home.ts";

/** What everything but turns may take to stop: connections, channels, children, the last writes. */
const FINISH_MS = 10_000;

/** What a home is opened with. */
export interface Taken extends Begun {
  denoDir: string | undefined;
  sandboxes: TriedSandboxes;
  launcher: GatewayLauncher;
  release(): void;
}

/** A home that this process owns, with its service running. */
export class OwnedHome {
  readonly #parts: OwnedParts;
  readonly #watching: Watching;
  readonly #finishMs: number;
  readonly authority: Authority;
  /** Answers approvals for a terminal of this process. */
  readonly operator: Pick<Operator, "attachTerminal">;
  readonly loaded: Loaded;
  readonly log: Log;
  /** The file that the log goes to; undefined for standard error. */
  readonly logFile: string | undefined;

  constructor(parts: OwnedParts, authority: Authority, watching: Watching, finishMs = FINISH_MS) {
    this.#parts = parts;
    this.#watching = watching;
    this.#finishMs = finishMs;
    this.authority = authority;
    this.operator = parts.operator;
    this.loaded = parts.loaded;
    this.log = parts.log;
    this.logFile = parts.file;
  }

  /**
   * Ends the service in order, and gives the home back. Rejects with `internal` when that takes much
   * longer than `graceMs`, its children killed; but for `afterGuests`, which may stay for any time.
   */
  async leave(how: { graceMs: number; afterGuests?: boolean }): Promise<{ interrupted: number }> {
    const leaving = this.#leaveInOrder(how);
    if (how.afterGuests) return await leaving;
    const late = Promise.withResolvers<never>();
    const limitMs = how.graceMs + this.#finishMs;
    const timer = setTimeout(() => {
      this.killChildren();
      const message = `The service did not stop within ${limitMs / 1_000} s and was ended; ` +
        "the next start puts in order what is left";
      late.reject(new ServiceError("internal", message));
    }, limitMs);
    return await Promise.race([leaving, late.promise]).finally(() => clearTimeout(timer));
  }

  /** Takes up the configuration file now, with one audit record. */
  reload(by: string): Promise<ReloadedSettings> {
    return this.#parts.reloadFor(by);
  }

  /** Waits, for a bounded time, until the log is written; before the process exits. */
  flushLog(): Promise<void> {
    return this.#parts.flush();
  }

  /** Kills every child; for the moment before an exit that waits for nothing. */
  killChildren(): void {
    this.authority.kill();
    const { channels, fetcher, actions, executor, providerExecutor, documents, launcher } =
      this.#parts;
    const all = [channels, fetcher, actions, executor, providerExecutor, documents, launcher];
    for (const each of all) {
      void each?.shutdown();
    }
  }

  async #leaveInOrder(how: { graceMs: number; afterGuests?: boolean }) {
    const { approvals, channels, mcp, fetcher, actions, executor, documents, launcher } =
      this.#parts;
    const { providerExecutor } = this.#parts;
    this.#watching.stop();
    const pruned = this.#parts.retention.stop();
    try {
      const drained = await this.authority.drain(how);
      await this.#parts.journalMark.closed();
      return drained;
    } finally {
      await pruned;
      await approvals.close();
      // Before the walls around them go, so that their end is on record as what it is.
      await mcp.shutdown();
      await channels?.shutdown();
      await fetcher.shutdown();
      await Promise.all([
        ...[actions, executor, providerExecutor, documents, launcher].map((each) =>
          each.shutdown()
        ),
        this.#watching.tried(),
      ]);
      this.#parts.known.close();
      await this.#parts.state.close();
      await this.#parts.audit.close();
      this.#parts.release();
    }
  }
}

/** Opens a home that is taken, whose gateway is being started. */
export async function openHome({ options, ...taken }: Taken): Promise<OwnedHome> {
  if (options.stays) await warnOfClock(options.paths, taken.log);
  const parts = await openParts(options, taken);
  const { actions, health, known, log } = parts;
  // Who serves others is to know first whether there is room for what they ask.
  if (options.stays) await health.measureStorage();
  // That of one command begins meanwhile, as what measures takes 10 ms to load; its guest comes afterwards.
  const measured = options.stays ? undefined : nextTurn().then(() => health.measureStorage());
  const [authority] = await Promise.all([startGateway(options, parts), measured]);
  authority.setChecks(health.checks);
  await parts.journalMark.opened();
  known.onChange(authority.setSecretFingerprints);
  // Between the boot and now.
  authority.setSecretFingerprints(known.fingerprints);
  const watching = watchHealth({ actions, health, authority, tries: parts.api, log });
  const watcher = options.watch ? watchOwnConfig(options, parts, authority) : undefined;
  parts.watched.config = watcher;
  parts.watched.tellSpecs = () => authority.setChannels(parts.channels?.specs() ?? []);
  if (options.stays) parts.retention.start();
  const stop = () => {
    watcher?.close();
    watching.stop();
  };
  return new OwnedHome(parts, authority, { ...watching, stop }, options.finishMs);
}

/** What a home is made of. */
export type OwnedParts = Awaited<ReturnType<typeof openParts>>;

/** Opens what the gateway asks for: records, operators, actions. */
async function openParts(options: HomeOptions, taken: Omit<Taken, "options">) {
  const { paths } = options;
  const { config } = taken.loaded;
  const journalMark = await openJournalMark(paths, { newJournal: options.newJournal ?? false });
  const workspace = await makeWorkspace(config.agent.workspace, paths.home);
  const records = await openRecords(options, config, taken);
  const watched: { config?: ConfigWatcher; tellSpecs?: () => void } = {};
  const reload = async () => await watched.config?.takeUp();
  const shared = { ...taken, ...records, config, workspace };
  const tellSpecs = () => watched.tellSpecs?.();
  const opened = await openOperator(options, { ...shared, reload, tellSpecs });
  const ports = new GatewayPorts(taken.known.scrubber);
  const served: { apiUrl?: string; wsUrl?: string } = {};
  const work = await openActions(options, { ...shared, ...opened, ports, served });
  const api = options.api ?? config.api.enabled;
  const retention = openRetention(options, { ...shared, ports });
  const reloadFor = (by: string) => reloadOnRecord(by, watched, shared);
  return {
    ...shared,
    ...opened,
    ...work,
    reloadFor,
    retention,
    journalMark,
    watched,
    ports,
    served,
    api,
  };
}

/** What is begun in this turn of the event loop is on its way in the next. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Starts the gateway, once what it needs from the first moment on is there. */
async function startGateway(options: HomeOptions, parts: OwnedParts): Promise<Authority> {
  const { config, api, actions, channels, executor, health, known, launcher, log } = parts;
  // A warning that commands run without a sandbox is not to wait for the first of them.
  health.add(await actions.checks({ test: config.executor.allowUnconfined }));
  const maxFiles = options.channels !== undefined || api ? await maxOpenFiles() : undefined;
  let isUntouched = parts.journalMark.isUntouched;
  // The gateway imports them itself, and would miss them for as long as it runs.
  if (api && config.api.mcp) {
    await parts.fetcher.ensure({ user: "api.mcp", param: "api.mcp", dependencies: MCP });
  }
  const { database, mediaDir, dataDir, socket, configFile } = options.paths;
  const appFiles = openAppFiles(parts);
  return await startAuthority({
    ...parts,
    run: launcher.run,
    restarts: launcher.restarts,
    boot: () => ({
      version: options.version,
      pid: Deno.pid,
      config: serviceConfig(config),
      paths: { database, mediaDir, dataDir, socket, configFile },
      journalUntouched: isUntouched,
      api,
      stays: channels !== undefined,
      channels: channels?.served ?? [],
      specs: channels?.specs() ?? [],
      secretFingerprints: known.fingerprints,
      maxOpenFiles: maxFiles,
      checks: health.checks,
      logLevel: options.logLevel ?? config.log.level,
      logsToAuthority: options.logTo !== undefined,
    }),
    writeLog: parts.logLine,
    appFiles,
    onStarted(started) {
      // From source: whoever opens the browser app finds it built, and nothing waits for that.
      if (started.wsUrl !== undefined && !IS_BUILT) appFiles().catch(() => {});
      // Who dies has not closed it.
      isUntouched = false;
      Object.assign(parts.served, started);
    },
    signingKeys: openSigningKeys(config.channels.websocket, executor),
    reload: parts.reloadFor,
    async pair(asked) {
      const { isAllowed = false, stranger } = channels?.senderOf(asked) ?? {};
      const pairing = stranger && await parts.state.pairings.ask(stranger);
      return { isAllowed, ...pairing !== undefined && { code: pairing.code } };
    },
    localUsers: openLocalUsers({ trusted: config.gates.trustedUids, log }),
    channelWorkers: channels?.workers,
    scrubber: known.scrubber,
  });
}

/** The files of the browser app; what finds them is loaded when they are asked for. */
function openAppFiles({ denoDir, log }: OwnedParts): () => Promise<AppFile[]> {
  let opened: Promise<() => Promise<AppFile[]>> | undefined;
  return async () => {
    opened ??= import("../browser_app/app_files.ts").then(({ appFiles }) =>
      appFiles({ denoDir, log })
    );
    return await (await opened)();
  };
}

/** The way to the trusted proxy's signing keys, where they are fetched. */
function openSigningKeys(
  { trustedProxyAuth }: WebsocketConfig,
  executor: Pick<Executor, "run">,
): SigningKeyFetch | undefined {
  const { jwksUrl = "" } = trustedProxyAuth ?? {};
  return jwksUrl === "" ? undefined : createSigningKeyFetch({ jwksUrl, executor });
}
