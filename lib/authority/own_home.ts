/**
 * Brings up the service of a home in this process: takes the lock, loads the configuration, opens
 * the audit, computes the permission table, starts the Worker.
 *
 * @module
 */

import { homedir } from "node:os";
import { systemClock } from "../agent/clock.ts";
import { loadConfig, type Loaded } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import type { HomePaths } from "../config/paths.ts";
import type { ChannelModule } from "../service/bridge.ts";
import { type NamedSecret, secretsIn } from "../config/redact.ts";
import { configSchema } from "../config/schema.ts";
import { createLog, type Log, writeStderr } from "../log.ts";
import { MODEL_ENV } from "../model/env.ts";
import { providerHosts } from "../model/hosts.ts";
import { type Authority, startAuthority } from "./authority.ts";
import { Approvals } from "./approvals/approvals.ts";
import { type AuditLog, openAudit } from "./audit/log.ts";
import { createDocumentReader } from "./documents.ts";
import { findDenoDir } from "./executor/deno_dir.ts";
import { createExecutor } from "./executor/executor.ts";
import { type Actions, createActions } from "./gate.ts";
import { KnownSecrets } from "./known_secrets.ts";
import { openMcpServers } from "./mcp/open_mcp_servers.ts";
import { type NetworkDeps, openNetwork, removeLeftNetworks } from "./network/open_network.ts";
import { plainNames } from "./plain_names.ts";
import { scrubbedApprovals, scrubbedAudit } from "./scrubbed_ports.ts";
import { createOperator, type Operator } from "./approvals/operate.ts";
import { ServiceOutbox } from "./service_outbox.ts";
import { openOperatorState, type OperatorState } from "./state/operator_state.ts";
import { SECRETS_KEY_VARIABLE } from "./state/secret_key.ts";
import { makeWorkspace, takeHome } from "./take_home.ts";
import { watchConfig } from "./watch_config.ts";
import { computePermissions, type Permission } from "./permissions.ts";

/** How a home is to be opened. */
export interface OwnOptions {
  paths: HomePaths;
  version: string;
  env: (name: string) => string | undefined;
  lastGood: boolean;
  /** Whether to serve the HTTP API; by the configuration when undefined. */
  api?: boolean;
  /** Channels that there are; those that the configuration enables run. Absent: none does. */
  channels?: readonly ChannelModule[];
  /** Values that go over those of the file, from the command line. */
  apiAddress?: { host?: string; port?: number };
  /** Least level that is logged, instead of the configured one. */
  logLevel?: "debug" | "info" | "warning" | "error";
  /** Takes what is odd about the configuration; by default the log does. */
  warn?: (text: string) => void;
  /** Whether edits of the configuration file are taken up while it runs. */
  watch?: boolean;
  /** Entry of the service's Worker; another one only in tests. */
  entry?: URL;
}

/** A home that this process owns, with its service running. */
export interface OwnedHome {
  authority: Authority;
  /** Answers approvals for a terminal of this process. */
  operator: Pick<Operator, "attachTerminal">;
  loaded: Loaded;
  log: Log;
  /** Ends the service in order, and gives the home back. */
  leave(options: { graceMs: number; afterGuests?: boolean }): Promise<{ interrupted: number }>;
  /** Kills every child; for the moment before an exit that waits for nothing. */
  killChildren(): void;
}

/** How soon the audit has what a command changed of the operators' state, when nobody uses it. */
const WATCH_STATE_MS = 1_000;

/** Opens a home, or says which process has it. */
export async function ownHome(
  options: OwnOptions,
): Promise<OwnedHome | { heldBy: number | undefined }> {
  const { paths } = options;
  const lock = await takeHome(paths);
  if ("heldBy" in lock) return lock;
  try {
    const loaded = await loadOwn(options);
    const { config } = loaded;
    const known = new KnownSecrets();
    known.configure(neverSaid(config, options.env), plainNames(config));
    const { scrubber } = known;
    const log = createLog(
      { ...config.log, level: options.logLevel ?? config.log.level },
      (line) => writeStderr(scrubber.text(line)),
    );
    const warn = options.warn ?? log.warning;
    for (const warning of loaded.warnings) warn(warning);

    const workspace = await makeWorkspace(config.agent.workspace);
    const { auditDir: dir, keysDir } = paths;
    const audit = scrubbedAudit(
      await openAudit({ ...config.audit, dir, keysDir, log }),
      scrubber,
    );
    const outbox = new ServiceOutbox();
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
    const { approvals, operator } = await openApprovals({ config, audit, state, log });
    const cacheDir = `${paths.runDir}/child-cache`;
    const denoDir = findDenoDir({
      env: options.env,
      cwd: Deno.cwd(),
      home: homedir(),
      os: Deno.build.os,
    });
    const executor = createExecutor({ cacheDir, log });
    await removeLeftNetworks(paths.socketDir);
    const served: { apiUrl?: string } = {};
    const network: NetworkDeps = {
      executor,
      audit,
      privateHosts: config.gates.privateHosts,
      // A configured port of 0 is another one once it is served.
      ownPorts: () => [config.api.port, Number(served.apiUrl && new URL(served.apiUrl).port)],
      socketDir: paths.socketDir,
      log,
    };
    const mcp = openMcpServers({
      config,
      paths,
      workspace,
      denoDir,
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
      outbox,
      secretStore: state.secrets,
      mcp,
      openNetwork: (asked) => openNetwork(network, asked),
      denoDir,
      scrubber,
      log,
    });
    const documents = createDocumentReader({ cacheDir, denoDir, log });
    const api = options.api ?? config.api.enabled;
    const boot = {
      version: options.version,
      pid: Deno.pid,
      config: serviceConfig(config),
      paths: { database: paths.database, mediaDir: paths.mediaDir, socket: paths.socket },
      api,
      channels: (options.channels ?? []).filter(({ name }) => isEnabled(config, name)),
      secretPrints: known.prints,
      // A warning that commands run without a sandbox is not to wait for the first of them.
      checks: await actions.checks({ test: api || config.executor.allowUnconfined }),
    };
    const authority = await startAuthority({
      entry: options.entry,
      boot,
      table: permissionTable(loaded, paths, { api, channels: options.channels !== undefined }),
      actions,
      documents,
      operator,
      mcp,
      outbox,
      workspace,
      scrubber,
      log,
    });
    served.apiUrl = authority.started.apiUrl;
    known.onChange(authority.setSecretPrints);
    // Between the boot and now.
    authority.setSecretPrints(known.prints);
    const watcher = options.watch && watchConfig({
      configFile: paths.configFile,
      secrets: state.secrets,
      config,
      load: () => loadOwn(options),
      apply(next, changed) {
        // Before any of it can be said.
        known.configure(neverSaid(next, options.env), plainNames(next));
        authority.configure(serviceConfig(next), changed);
      },
      log,
    });
    return {
      authority,
      operator,
      loaded,
      log,
      async leave(how) {
        if (watcher) watcher.close();
        try {
          return await authority.drain(how);
        } finally {
          await approvals.close();
          // Before the walls around them go, so that their end is on record as what it is.
          await mcp.shutdown();
          await Promise.all([actions.shutdown(), executor.shutdown(), documents.shutdown()]);
          known.close();
          await state.close();
          await audit.close();
          lock.release();
        }
      },
      killChildren() {
        void actions.shutdown();
        void executor.shutdown();
        void documents.shutdown();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Whether a channel's section enables it. */
function isEnabled({ channels }: Config, name: string): boolean {
  const section: unknown = Object.hasOwn(channels, name) ? channels[name] : undefined;
  return typeof section === "object" && section !== null && "enabled" in section &&
    section.enabled === true;
}

/** What of a configuration the service is given: keys of tools and MCP servers are not its business. */
function serviceConfig(config: Config): Config {
  const { tools, mcp } = configSchema.parse({});
  return { ...config, tools, mcp };
}

/** The secrets of a configuration, and the key of those that the home keeps. */
function neverSaid(config: Config, env: OwnOptions["env"]): NamedSecret[] {
  const key = env(SECRETS_KEY_VARIABLE)?.trim() ?? "";
  return [
    ...secretsIn(config, configSchema),
    ...key === "" ? [] : [{ name: SECRETS_KEY_VARIABLE, value: key }],
  ];
}

/** What waits for a person, and who may answer. What the last process left is void. */
async function openApprovals(
  { config: { gates }, audit, state, log }: {
    config: Config;
    audit: AuditLog;
    state: OperatorState;
    log: Log;
  },
): Promise<{ approvals: Approvals; operator: Operator }> {
  const { pending, latches, tokens } = state;
  const approvals = new Approvals({
    clock: systemClock,
    audit,
    pending,
    latches,
    timeoutMs: gates.approvalTimeoutS * 1000,
    log,
  });
  approvals.rememberVoid((await pending.takeAll()).map(({ id }) => id));
  // No channel there is verifies its senders yet.
  const verifiesSenders = () => false;
  return {
    approvals,
    operator: createOperator({ approvals, tokens, latches, gates, verifiesSenders, log }),
  };
}

/** The configuration with what the command line puts over it, at the start and after each edit. */
async function loadOwn(options: OwnOptions): Promise<Loaded> {
  const loaded = await loadConfig(options);
  Object.assign(loaded.config.api, options.apiAddress);
  return loaded;
}

/** The permission table of a configuration; what `service permissions` prints. */
export function permissionTable(
  loaded: Loaded,
  paths: HomePaths,
  { api, channels }: { api: boolean; channels: boolean },
): Permission[] {
  // The start page stands in the documentation, as the example that it is.
  const sources = channels ? ["../", "../../channels/", "../../docs/examples/chat.html"] : ["../"];
  return computePermissions({
    config: loaded.config,
    api,
    channels,
    paths,
    providers: providerHosts(loaded.config),
    env: MODEL_ENV,
    sources: Deno.build.standalone
      ? []
      : sources.map((each) => new URL(each, import.meta.url).pathname),
  });
}
