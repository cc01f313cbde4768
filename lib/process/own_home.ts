/**
 * Brings up the service of a home in this process: takes the lock, loads the configuration, opens
 * the audit, computes the permission table, starts the Worker.
 *
 * @module
 */

import type { Loaded } from "../settings/load.ts";
import type { Config, WebsocketConfig } from "../config/schema.ts";
import type { HomePaths } from "../config/paths.ts";
import { findOwnDenoDir } from "../packages/deno_dir.ts";
import { lockedPackages } from "../packages/locked_packages.ts";
import { createPackageFetcher } from "../packages/package_fetcher.ts";
import { fitsFlags } from "../base/permission.ts";
import { MCP } from "../packages/wanted_packages.ts";
import { ServiceError } from "../base/errors.ts";
import type { ChannelRegistry } from "../registry/channel_registry.ts";
import { createLog, type Log, openLogOutput } from "../base/log.ts";
import type { LogOutput } from "../base/log_output.ts";
import { type Authority, startAuthority } from "../authority/authority.ts";
import { openAudit } from "../audit/log.ts";
import { Commissions } from "../approvals/commission/commissions.ts";
import { createDocumentReader } from "../documents/documents.ts";
import { createExecutor, type Executor } from "../executor/executor.ts";
import { type Actions, createActions } from "../gate/gate.ts";
import { Health } from "../authority/health.ts";
import { openJournalMark } from "../authority/journal_mark.ts";
import {
  createSigningKeyFetch,
  type SigningKeyFetch,
} from "../authority/jwks/signing_key_fetch.ts";
import { KnownSecrets } from "../authority/known_secrets.ts";
import { openMcpServers } from "../mcp_servers/open_mcp_servers.ts";
import {
  type NetworkDeps,
  openNetwork,
  removeLeftNetworks,
} from "../executor/network/open_network.ts";
import { openLocalUsers } from "../authority/local_users.ts";
import { maxOpenFiles } from "../authority/open_files.ts";
import { openOperator } from "./open_operator.ts";
import { loadOwn, neverSaid, serviceConfig } from "./own_config.ts";
import { permissionTable } from "../authority/permission_table.ts";
import { plainNames } from "../authority/plain_names.ts";
import { scrubbedApprovals, scrubbedAudit } from "../authority/scrubbed_ports.ts";
import type { Operator } from "../operations/operate.ts";
import { ownListeners } from "../policy/resolve/own_listeners.ts";
import { createGatewayExecutor, gatewayProcess, gatewayWorker } from "../authority/run_gateway.ts";
import type { ServiceBoot } from "../authority/protocol.ts";
import { GatewayPorts } from "../authority/gateway_ports.ts";
import { openOperatorState } from "../state/operator_state.ts";
import { SECRETS_KEY_VARIABLE } from "../state/secret_key.ts";
import { createUpkeep } from "../operations/upkeep.ts";
import { makeWorkspace, takeHome } from "../authority/take_home.ts";
import { watchConfig } from "../authority/watch_config.ts";

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

/** How soon the audit has what a command changed of the operators' state, when nobody uses it. */
const WATCH_STATE_MS = 1_000;

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
  const { paths } = options;
  const lock = await takeHome(paths);
  if ("heldBy" in lock) return lock;
  const { release } = lock;
  let output: LogOutput | undefined;
  let gateways: Executor | undefined;
  try {
    const loaded = await loadOwn(options);
    const { config } = loaded;
    const known = new KnownSecrets();
    // Before the first line of the log: a warning may repeat what stands in a section.
    const channelKeys = options.channels === undefined
      ? {}
      : (await import("../registry/channel_defaults.ts")).channelSecrets(options.channels);
    const tell = (next: Config) =>
      known.configure(neverSaid(next, options.env, channelKeys), plainNames(next));
    tell(config);
    const { scrubber } = known;
    const logOutput = output = openLogOutput(config.log.format);
    const log = createLog(
      { ...config.log, level: options.logLevel ?? config.log.level },
      (line) => logOutput.write(scrubber.text(line)),
    );
    const warn = options.warn ?? log.warning;
    for (const warning of loaded.warnings) warn(warning);

    const denoDir = findOwnDenoDir(options.env);
    const cacheDir = `${paths.runDir}/child-cache`;
    const table = permissionTable(loaded, paths, {
      api: options.api ?? config.api.enabled,
      channels: options.channels !== undefined,
    });
    // The compiled binary can't be given permissions by its parent, nor a path with a comma by a flag.
    const processes = options.stays && !Deno.build.standalone && fitsFlags(table)
      ? createGatewayExecutor({ cacheDir, log })
      : undefined;
    gateways = processes;
    const gateway = async () =>
      processes === undefined ? gatewayWorker(table, options.entry) : await gatewayProcess({
        table,
        env: options.env,
        executor: processes,
        packages: lockedPackages(denoDir),
        cacheDir: `${paths.runDir}/gateway-cache`,
        entry: options.entry,
      });
    // Whoever has authority connects to nobody: what needs the network runs in other processes.
    if (processes) Deno.permissions.revokeSync({ name: "net" });
    // It loads its modules while this process opens what it has to.
    let early = processes && gateway();
    early?.catch(() => {});

    const journalMark = await openJournalMark(paths, { newJournal: options.newJournal ?? false });
    const workspace = await makeWorkspace(config.agent.workspace, paths.home);
    const { auditDir: dir, keysDir } = paths;
    const openedAudit = await openAudit({ ...config.audit, dir, keysDir, log });
    const audit = scrubbedAudit(openedAudit, scrubber);
    const health = new Health({
      probeAudit: () => openedAudit.probe(),
      folders: [paths.dataDir, dir],
      minFreeBytes: config.storage.minFreeMiB * 1024 * 1024,
    });
    await health.measureStorage();
    const ports = new GatewayPorts(scrubber);
    const state = await openOperatorState({
      dir: paths.operatorDir,
      keysDir,
      secretsKey: options.env(SECRETS_KEY_VARIABLE),
      audit,
      log,
      watchMs: WATCH_STATE_MS,
    });
    known.follow(state.secrets);
    for (const name of known.spelledInNames) {
      log.warning("A secret is spelt like a name in the configuration, and is not hidden", {
        name,
      });
    }
    const watched: { reload?: () => Promise<void> } = {};
    const fetcher = createPackageFetcher({
      packages: lockedPackages(denoDir),
      env: options.env,
      log,
    });
    const channels = options.channels && (await import("../operations/channels/home_channels.ts"))
      .openHomeChannels({
        registry: options.channels,
        config,
        paths,
        denoDir,
        env: options.env,
        scrubber,
        audit,
        reload: async () => await watched.reload?.(),
        log,
      });
    const commissions = new Commissions({ audit, findings: state.findings, grants: state.grants });
    const upkeep = createUpkeep({
      paths,
      env: options.env,
      running: config,
      permissions: table,
      secrets: state.secrets,
      mirror: config.audit.mirror,
      load: () => loadOwn(options, { keepLastGood: false }),
      permissionsOf: (next) =>
        permissionTable(next, paths, {
          api: options.api ?? next.config.api.enabled,
          channels: options.channels !== undefined,
        }),
      reload: async () => await watched.reload?.(),
      audit,
      log,
    });
    const { approvals, operator } = await openOperator({
      config,
      audit,
      state,
      upkeep,
      channels,
      commissions,
      servesPort: options.channels !== undefined,
      log,
    });
    const executor = createExecutor({ cacheDir, workspace, log });
    await removeLeftNetworks(paths.socketDir);
    const served: { apiUrl?: string; wsUrl?: string } = {};
    const { websocket } = config.channels;
    // A configured port of 0 is another one once it is served.
    const listeners = () =>
      ownListeners([config.api.port, websocket.port, ...portsOf(served.apiUrl, served.wsUrl)]);
    const network: NetworkDeps = {
      executor,
      audit,
      privateHosts: config.gates.privateHosts,
      listeners,
      socketDir: paths.socketDir,
      log,
    };
    const mcp = openMcpServers({
      config,
      paths,
      workspace,
      denoDir,
      fetcher,
      executor,
      // The gate has the sandbox, and calls these servers.
      openSandboxed: (...started) => actions.openSandboxed(...started),
      openNetwork: (asked) => openNetwork(network, asked),
      version: options.version,
      scrub: (text) => scrubber.text(text),
      audit,
      log,
    });
    const actions: Actions = createActions({
      config,
      paths,
      workspace,
      audit,
      state,
      approvals: scrubbedApprovals(approvals, scrubber),
      canAsk: operator.canAsk,
      outbox: ports.outbox,
      automations: ports.automations,
      secretStore: state.secrets,
      commissions,
      mcp,
      openNetwork: (asked) => openNetwork(network, asked),
      listeners,
      denoDir,
      scrubber,
      log,
    });
    const documents = createDocumentReader({ cacheDir, workspace, denoDir, log });
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
    // The service imports them itself, and would miss them for as long as it runs.
    if (api && config.api.mcp) {
      await fetcher.ensure({ user: "api.mcp", param: "api.mcp", dependencies: MCP });
    }
    const authority = await startAuthority({
      run() {
        const running = early ?? gateway();
        early = undefined;
        return running;
      },
      boot,
      restarts: processes !== undefined,
      onStarted(started) {
        // Who dies has not closed it.
        isUntouched = false;
        Object.assign(served, started);
      },
      actions,
      documents,
      operator,
      mcp,
      health,
      signingKeys: openSigningKeys(websocket, executor),
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
    let isLeaving = false;
    let trial: Promise<void> | undefined;
    const trying = !api ? undefined : setTimeout(() => {
      trial = actions.checks({ test: true }).then((found) => authority.setChecks(health.add(found)))
        .catch((error) => {
          const reason = (error as Error).message;
          if (!isLeaving) log.warning("The sandbox of commands could not be tried", { reason });
        });
    }, TRIAL_AFTER_MS);
    const measuring = setInterval(async () => {
      if (await health.measureStorage()) authority.setChecks(health.checks);
    }, MEASURE_STORAGE_MS);
    Deno.unrefTimer(measuring);
    const watcher = options.watch && watchConfig({
      configFile: paths.configFile,
      secrets: state.secrets,
      config,
      load: () => loadOwn(options),
      apply(next, changed) {
        // Before any of it can be said.
        tell(next);
        authority.configure(serviceConfig(next), changed);
        if (channels && changed.some(isOfChannels)) authority.setChannels(channels.specs());
      },
      log,
    });
    if (watcher) watched.reload = () => watcher.reload();
    const leaveInOrder: OwnedHome["leave"] = async (how) => {
      if (watcher) watcher.close();
      isLeaving = true;
      clearTimeout(trying);
      clearInterval(measuring);
      try {
        const drained = await authority.drain(how);
        await journalMark.closed();
        return drained;
      } finally {
        await approvals.close();
        // Before the walls around them go, so that their end is on record as what it is.
        await mcp.shutdown();
        await channels?.shutdown();
        await fetcher.shutdown();
        await Promise.all([
          actions.shutdown(),
          executor.shutdown(),
          documents.shutdown(),
          gateways?.shutdown(),
          trial,
        ]);
        known.close();
        await state.close();
        await audit.close();
        release();
      }
    };

    const killChildren = () => {
      authority.kill();
      void channels?.shutdown();
      void fetcher.shutdown();
      void actions.shutdown();
      void executor.shutdown();
      void documents.shutdown();
    };
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
      flushLog: () => logOutput.flush(LOG_FLUSH_MS),
      killChildren,
    };
  } catch (error) {
    await gateways?.shutdown();
    release();
    await output?.flush(LOG_FLUSH_MS);
    throw error;
  }
}

/** The way to the trusted proxy's signing keys, where they are fetched. */
function openSigningKeys(
  { trustedProxyAuth }: WebsocketConfig,
  executor: Pick<Executor, "run">,
): SigningKeyFetch | undefined {
  const { jwksUrl = "" } = trustedProxyAuth ?? {};
  return jwksUrl === "" ? undefined : createSigningKeyFetch({ jwksUrl, executor });
}

/** Ports of those addresses that are served. */
function portsOf(...urls: (string | undefined)[]): number[] {
  return urls.flatMap((url) => {
    const port = url === undefined ? "" : new URL(url).port;
    return port === "" ? [] : [Number(port)];
  });
}

/** Whether a key is of channels, such as `channels.email.enabled`. */
function isOfChannels(path: string): boolean {
  return path === "channels" || path.startsWith("channels.");
}
