/**
 * Brings up the service of a home in this process: takes the lock, loads the configuration, opens
 * the audit, computes the permission table, starts the Worker.
 *
 * @module
 */

import type { Loaded } from "../settings/load.ts";
import type { WebsocketConfig } from "../config/schema.ts";
import type { HomePaths } from "../config/paths.ts";
import { findOwnDenoDir } from "../packages/deno_dir.ts";
import { MCP } from "../packages/wanted_packages.ts";
import { ServiceError } from "../base/errors.ts";
import type { ChannelRegistry } from "../registry/channel_registry.ts";
import type { Log } from "../base/log.ts";
import type { LogOutput } from "../base/log_output.ts";
import type { Permission } from "../base/permission.ts";
import { type Authority, startAuthority } from "../authority/authority.ts";
import { GatewayPorts } from "../authority/gateway_ports.ts";
import type { Health } from "../authority/health.ts";
import { openJournalMark } from "../authority/journal_mark.ts";
import {
  createSigningKeyFetch,
  type SigningKeyFetch,
} from "../authority/jwks/signing_key_fetch.ts";
import { openLocalUsers } from "../authority/local_users.ts";
import { maxOpenFiles } from "../authority/open_files.ts";
import type { ServiceBoot } from "../authority/protocol.ts";
import { makeWorkspace, takeHome } from "../authority/take_home.ts";
import { watchConfig } from "../authority/watch_config.ts";
import type { Executor } from "../executor/executor.ts";
import { TriedSandboxes } from "../executor/tried_sandboxes.ts";
import type { Actions } from "../gate/gate.ts";
import type { Operator } from "../operations/operate.ts";
import { type GatewayLauncher, launchGateway } from "./launch_gateway.ts";
import { openActions } from "./open_actions.ts";
import { type HomeLog, openLog } from "./open_log.ts";
import { openOperator } from "./open_operator.ts";
import { openRecords } from "./open_records.ts";
import { loadOwn, ownTable, serviceConfig } from "./own_config.ts";

/** How a home is to be opened. */
export interface OwnOptions {
  paths: HomePaths;
  version: string;
  env: (name: string) => string | undefined;
  lastGood: boolean;
  /** Begin with an empty journal where that of the home is missing. */
  newJournal?: boolean;
  /** Whether to serve the HTTP API; by the configuration when undefined. */
  api?: boolean;
  /** Channels that there are; those that the configuration enables run. Absent: none does. */
  channels?: ChannelRegistry;
  /** Values that go over those of the file, from the command line. */
  apiAddress?: { host?: string; port?: number };
  /** Least level that is logged, instead of the configured one. */
  logLevel?: "debug" | "info" | "warning" | "error";
  /** Takes what is odd about the configuration; by default the log does. */
  warn?: (text: string) => void;
  /** Whether edits of the configuration file are taken up while it runs. */
  watch?: boolean;
  /** What everything but turns may take to stop; less only in tests. */
  finishMs?: number;
  /** Whether the gateway has a process of its own, and is started again when that ends. */
  stays?: boolean;
  /** Entry of the gateway; another one only in tests. */
  entry?: URL;
}

/** A home that this process owns, with its service running. */
export interface OwnedHome {
  authority: Authority;
  /** Answers approvals for a terminal of this process. */
  operator: Pick<Operator, "attachTerminal">;
  loaded: Loaded;
  log: Log;
  /**
   * Ends the service in order, and gives the home back. Rejects with `internal` when that takes much
   * longer than `graceMs`, its children killed; but for `afterGuests`, which may stay for any time.
   */
  leave(options: { graceMs: number; afterGuests?: boolean }): Promise<{ interrupted: number }>;
  /** Waits, for a bounded time, until the log is written; before the process exits. */
  flushLog(): Promise<void>;
  /** Kills every child; for the moment before an exit that waits for nothing. */
  killChildren(): void;
}

/**
 * After a start. It is as good as in it, since a command that comes earlier has the sandbox tried first,
 * and nobody has to wait for it.
 */
const TRIAL_AFTER_MS = 2_000;

/** What everything but turns may take to stop: connections, channels, children, the last writes. */
const FINISH_MS = 10_000;

/** How soon it is noticed that too little disk space is free, or enough again. */
const MEASURE_STORAGE_MS = 10_000;

/** How long the last log lines may take to be written. */
const LOG_FLUSH_MS = 500;

/** Opens a home, or says which process has it. */
export async function ownHome(
  options: OwnOptions,
): Promise<OwnedHome | { heldBy: number | undefined }> {
  const lock = await takeHome(options.paths);
  if ("heldBy" in lock) return lock;
  const { release } = lock;
  let output: LogOutput | undefined;
  let launcher: GatewayLauncher | undefined;
  try {
    const loaded = await loadOwn(options);
    const homeLog = await openLog(options, loaded.config);
    const { log } = homeLog;
    output = homeLog.output;
    const warn = options.warn ?? log.warning;
    for (const warning of loaded.warnings) warn(warning);
    const table = ownTable(options, loaded);
    const denoDir = findOwnDenoDir(options.env);
    const sandboxes = new TriedSandboxes({ folder: `${options.paths.runDir}/child-cache` });
    const taken = { loaded, homeLog, table, denoDir, sandboxes, release };
    launcher = launchGateway(options, { ...taken, log });
    return await openHome(options, { ...taken, launcher });
  } catch (error) {
    await launcher?.shutdown();
    release();
    await output?.flush(LOG_FLUSH_MS);
    throw error;
  }
}

/** What a home is opened with. */
interface Taken {
  loaded: Loaded;
  homeLog: HomeLog;
  table: readonly Permission[];
  denoDir: string | undefined;
  sandboxes: TriedSandboxes;
  launcher: GatewayLauncher;
  release(): void;
}

async function openHome(options: OwnOptions, taken: Taken): Promise<OwnedHome> {
  const { paths } = options;
  const { loaded, homeLog, table, denoDir, sandboxes, launcher } = taken;
  const { config } = loaded;
  const { log, known, output } = homeLog;
  const { scrubber } = known;
  const journalMark = await openJournalMark(paths, { newJournal: options.newJournal ?? false });
  const workspace = await makeWorkspace(config.agent.workspace, paths.home);
  const records = await openRecords(options, config, homeLog);
  const { audit, health, state } = records;
  const watched: { reload?: () => Promise<void> } = {};
  const reload = async () => await watched.reload?.();
  const shared = { ...records, ...homeLog, config, denoDir, sandboxes };
  const opened = await openOperator(options, { ...shared, table, reload });
  const { channels, operator } = opened;
  const ports = new GatewayPorts(scrubber);
  const served: { apiUrl?: string; wsUrl?: string } = {};
  const work = await openActions(options, { ...shared, ...opened, workspace, ports, served });
  const { actions, executor } = work;
  const api = options.api ?? config.api.enabled;
  // A warning that commands run without a sandbox is not to wait for the first of them.
  health.add(await actions.checks({ test: config.executor.allowUnconfined }));
  const files = options.channels !== undefined || api ? await maxOpenFiles() : undefined;
  let isUntouched = journalMark.isUntouched;
  const boot = (): ServiceBoot => ({
    version: options.version,
    pid: Deno.pid,
    config: serviceConfig(config),
    paths: {
      database: paths.database,
      mediaDir: paths.mediaDir,
      dataDir: paths.dataDir,
      socket: paths.socket,
    },
    journalUntouched: isUntouched,
    api,
    stays: channels !== undefined,
    channels: channels?.served ?? [],
    specs: channels?.specs() ?? [],
    secretPrints: known.prints,
    maxOpenFiles: files,
    checks: health.checks,
  });
  // The gateway imports them itself, and would miss them for as long as it runs.
  if (api && config.api.mcp) {
    await work.fetcher.ensure({ user: "api.mcp", param: "api.mcp", dependencies: MCP });
  }
  const authority = await startAuthority({
    run: launcher.run,
    boot,
    restarts: launcher.restarts,
    onStarted(started) {
      // Who dies has not closed it.
      isUntouched = false;
      Object.assign(served, started);
    },
    ...work,
    operator,
    health,
    signingKeys: openSigningKeys(config.channels.websocket, executor),
    localUsers: openLocalUsers({ trusted: config.gates.trustedUids, log }),
    ports,
    places: channels?.places,
    workspace,
    scrubber,
    log,
  });
  await journalMark.opened();
  known.onChange(authority.setSecretPrints);
  // Between the boot and now.
  authority.setSecretPrints(known.prints);
  const watching = watchHealth({ actions, health, authority, tries: api, log });
  const watcher = options.watch && watchConfig({
    configFile: paths.configFile,
    secrets: state.secrets,
    config,
    load: () => loadOwn(options),
    apply(next, changed) {
      homeLog.learn(next);
      authority.configure(serviceConfig(next), changed);
      if (channels && changed.some(isOfChannels)) authority.setChannels(channels.specs());
    },
    log,
  });
  if (watcher) watched.reload = () => watcher.reload();

  async function leaveInOrder(how: Parameters<OwnedHome["leave"]>[0]) {
    if (watcher) watcher.close();
    watching.stop();
    try {
      const drained = await authority.drain(how);
      await journalMark.closed();
      return drained;
    } finally {
      await opened.approvals.close();
      // Before the walls around them go, so that their end is on record as what it is.
      await work.mcp.shutdown();
      await channels?.shutdown();
      await work.fetcher.shutdown();
      await Promise.all([
        ...[actions, executor, work.documents, launcher].map((each) => each.shutdown()),
        watching.tried(),
      ]);
      known.close();
      await state.close();
      await audit.close();
      taken.release();
    }
  }

  function killChildren(): void {
    authority.kill();
    const { fetcher, documents } = work;
    for (const each of [channels, fetcher, actions, executor, documents, launcher]) {
      void each?.shutdown();
    }
  }

  return {
    authority,
    operator,
    loaded,
    log,
    async leave(how) {
      const leaving = leaveInOrder(how);
      if (how.afterGuests) return await leaving;
      const late = Promise.withResolvers<never>();
      const limitMs = how.graceMs + (options.finishMs ?? FINISH_MS);
      const timer = setTimeout(() => {
        killChildren();
        const message = `The service did not stop within ${limitMs / 1_000} s and was ended; ` +
          "the next start puts in order what is left";
        late.reject(new ServiceError("internal", message));
      }, limitMs);
      return await Promise.race([leaving, late.promise]).finally(() => clearTimeout(timer));
    },
    flushLog: () => output.flush(LOG_FLUSH_MS),
    killChildren,
  };
}

/** Tells the gateway how the sandbox of commands is, tried once, and whether there is room on the disk. */
function watchHealth(
  { actions, health, authority, tries, log }: {
    actions: Pick<Actions, "checks">;
    health: Health;
    authority: Pick<Authority, "setChecks">;
    /** Whether the sandbox is tried. */
    tries: boolean;
    log: Log;
  },
): { stop(): void; tried(): Promise<void> } {
  let isOver = false;
  let trial: Promise<void> | undefined;
  const trying = !tries ? undefined : setTimeout(() => {
    trial = actions.checks({ test: true }).then((found) => authority.setChecks(health.add(found)))
      .catch((error) => {
        const reason = (error as Error).message;
        if (!isOver) log.warning("The sandbox of commands could not be tried", { reason });
      });
  }, TRIAL_AFTER_MS);
  const measuring = setInterval(async () => {
    if (await health.measureStorage()) authority.setChecks(health.checks);
  }, MEASURE_STORAGE_MS);
  Deno.unrefTimer(measuring);
  return {
    stop() {
      isOver = true;
      clearTimeout(trying);
      clearInterval(measuring);
    },
    tried: async () => await trial,
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

/** Whether a key is of channels, such as `channels.email.enabled`. */
function isOfChannels(path: string): boolean {
  return path === "channels" || path.startsWith("channels.");
}
