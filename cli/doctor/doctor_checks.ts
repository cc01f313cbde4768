/**
 * The doctor's checks, in the order in which they are shown.
 *
 * @module
 */

import { AUDIT_FILE } from "../../lib/audit/log.ts";
import { checkDigestKey } from "../../lib/audit/key.ts";
import { journalMarkOf } from "../../lib/authority/journal_mark.ts";
import type { AuditDamage, AuditWhole } from "../../lib/audit/verify.ts";
import type { FoundChildUser } from "../../lib/executor/child_user.ts";
import type { Loaded } from "../../lib/settings/load.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Env } from "../../lib/config/references.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import type { Check, Finding } from "./check.ts";
import { checkChannels } from "./check_channels.ts";
import { checkClock } from "./check_clock.ts";
import { checkDatabase } from "./check_database.ts";
import { checkDeno } from "./check_deno.ts";
import { checkHome, checkWorkspace } from "./check_folders.ts";
import { checkLock } from "./check_lock.ts";
import { checkModels } from "./check_models.ts";
import { checkOperators } from "./check_operators.ts";
import { checkSecrets } from "./check_secrets.ts";
import { checkPorts } from "./check_ports.ts";
import { checkService, readStatus } from "./check_service.ts";
import { checkStorage } from "./check_storage.ts";

/** A configuration that loaded. */
export type DoctorConfig = Pick<Loaded, "config" | "warnings" | "source">;

/** What the checks look at. */
export interface DoctorDeps {
  version: string;
  deno: { version: string; standalone: boolean; os: typeof Deno.build.os };
  paths: HomePaths;
  env: Env;
  /** Loads the configuration; throws `config_invalid` with every problem. */
  loadConfig(): Promise<DoctorConfig>;
  /** Connects to the service that runs in this home, if one does. */
  connect(): Promise<LocalClient | undefined>;
  /**
   * Whether a child of that workspace can be started in a sandbox, tried out; and where this is root,
   * whose rights it has.
   */
  confinement(
    workspace: string,
  ): Promise<{ confined: boolean; reason: string; childUser?: FoundChildUser }>;
  /** Reads the audit from its beginning; rejects with NotFound when there is none. */
  verifyAudit(): Promise<
    Pick<AuditWhole, "ok" | "records" | "unknown"> | Pick<AuditDamage, "ok" | "message">
  >;
  /** The packages of channels, without their runtimes. */
  channels(): Promise<ChannelRegistry>;
  /** What `service install` wrote, and whether it is as it would be written now. */
  atLogin(): Promise<{ file: string; isStale: boolean } | undefined>;
  fetch: typeof fetch;
  /** Ask no provider. */
  offline: boolean;
  listen(options: { hostname: string; port: number }): { close(): void };
  /** Who listens on a port, for people. */
  owner(port: number): Promise<string | undefined>;
  now(): number;
}

/** Longest wait for a model provider: a local server may load the model first. */
const PROVIDER_TIMEOUT_MS = 30_000;

/** What a start wants of free space where no configuration says so, MiB. */
const MIN_FREE_MIB = 32;

/** Every check; those that need a configuration are left out when there is none that loads. */
export async function doctorChecks(deps: DoctorDeps): Promise<Check[]> {
  const { paths, version } = deps;
  const loaded = await deps.loadConfig().catch((error: unknown) => ({ error }));
  // Two checks tell of it; it is asked once.
  const status = readStatus(deps.connect);
  const isRunning = status.then((found) => found !== undefined, () => false);
  const workspace = ("error" in loaded ? "" : loaded.config.agent.workspace) || paths.workspace;
  const checks: Check[] = [
    {
      name: "deno",
      run: () => Promise.resolve(checkDeno(deps.deno.version, deps.deno.standalone)),
    },
    { name: "config", run: () => Promise.resolve(judgeConfig(loaded, paths)) },
    { name: "home", repairs: true, run: () => checkHome(paths) },
    { name: "lock", repairs: true, run: async () => checkLock(paths, await isRunning) },
    {
      name: "storage",
      run: () =>
        checkStorage(
          [paths.dataDir, paths.auditDir, workspace],
          "error" in loaded ? MIN_FREE_MIB : loaded.config.storage.minFreeMiB,
        ),
    },
    {
      name: "clock",
      run: () =>
        checkClock(
          [paths.database, `${paths.auditDir}/${AUDIT_FILE}`, paths.lastGoodFile],
          deps.now(),
        ),
    },
    { name: "database", run: () => checkDatabase(paths.database, journalMarkOf(paths)) },
    { name: "audit", run: () => checkAudit(deps, paths) },
    { name: "operators", run: () => Promise.resolve(checkOperators(paths)) },
    { name: "secrets", run: () => Promise.resolve(checkSecrets(deps)) },
    { name: "sandbox", run: () => checkSandbox(deps, workspace) },
    {
      name: "channels",
      run: async () =>
        checkChannels({
          registry: await deps.channels(),
          ...!("error" in loaded) && { config: loaded.config },
          paths,
        }),
    },
    { name: "service", run: async () => checkService(await status, version) },
  ];
  if ("error" in loaded) return checks;
  const { config } = loaded;
  return [
    ...checks.slice(0, 3),
    { name: "workspace", repairs: true, run: () => checkWorkspace(workspace, paths) },
    ...checks.slice(3),
    { name: "login", run: async () => checkAtLogin(await deps.atLogin()) },
    {
      name: "ports",
      run: async () =>
        checkPorts({
          config,
          registry: await deps.channels(),
          status: await status.catch(() => undefined),
          listen: deps.listen,
          owner: deps.owner,
        }),
    },
    {
      name: "model",
      run: async () =>
        deps.offline
          ? { status: "skip", detail: "not asked: --offline" }
          : await checkModels({ config, fetch: deps.fetch, timeoutMs: PROVIDER_TIMEOUT_MS }),
    },
  ];
}

function checkAtLogin(installed: { file: string; isStale: boolean } | undefined): Finding {
  if (installed === undefined) return { status: "ok", detail: "the service doesn't run at login" };
  const { file, isStale } = installed;
  if (!isStale) return { status: "ok", detail: file };
  return {
    status: "warn",
    detail: `${file} is out of date: the program, its folders or its settings have changed`,
    fix: "Write it again with: service install",
  };
}

function judgeConfig(
  loaded: DoctorConfig | { error: unknown },
  { configFile, lastGoodFile }: HomePaths,
): Finding | Finding[] {
  if ("error" in loaded) {
    const { error } = loaded;
    if (!(error instanceof ServiceError)) throw error;
    return {
      status: "fail",
      detail: error.message,
      fix: "See every problem with: service config check",
    };
  }
  const { source } = loaded;
  if (loaded.warnings.length === 0) {
    return {
      status: "ok",
      detail: source === "file"
        ? configFile
        : source === "last-good"
        ? `${lastGoodFile}, the last one that loaded`
        : `using the defaults; ${configFile} doesn't exist`,
    };
  }
  return loaded.warnings.map((detail) => ({
    status: "warn",
    detail,
    fix: `Fix it in ${configFile}`,
  }));
}

async function checkAudit(
  { verifyAudit }: DoctorDeps,
  { auditDir: dir, keysDir }: HomePaths,
): Promise<Finding> {
  const found = await verifyAudit().catch((error) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (found === undefined) return { status: "ok", detail: "no records yet" };
  if (!found.ok) {
    return {
      status: "fail",
      detail: found.message,
      fix: `Keep a copy of ${dir}, and find out who changed it`,
    };
  }
  try {
    await checkDigestKey(keysDir);
  } catch (error) {
    return {
      status: "fail",
      detail: error instanceof Error ? error.message : String(error),
      fix:
        `Restore it from a backup, or move it away. Earlier digests of commands can't be verified then`,
    };
  }
  const crashed = found.unknown.filter((action) => action.crashed).length;
  return {
    status: "ok",
    detail: `${found.records} ${found.records === 1 ? "record" : "records"}, chain intact` +
      (crashed === 0 ? "" : `; a crash cut off ${crashed} ${crashed === 1 ? "action" : "actions"}`),
  };
}

async function checkSandbox(
  { confinement, deno: { os } }: DoctorDeps,
  workspace: string,
): Promise<Finding> {
  const { confined, reason, childUser } = await confinement(workspace);
  if (!confined) {
    return {
      status: "warn",
      detail: "there is no sandbox, so tools refuse what isn't safe without one: " + reason,
      fix: os === "linux"
        ? "Install bubblewrap and allow user namespaces: apt install bubblewrap"
        : "Run the service on Linux, or in a Linux container, if the agent is to run commands",
    };
  }
  if (childUser === undefined) return { status: "ok", detail: reason };
  const cost = "tools and commands can use only files of that user, even if you approve others, " +
    "and each takes 1 ms longer";
  const { user } = childUser;
  if (user !== undefined) {
    const detail =
      `${reason}; children run as the user ${user.uid}, who owns the workspace: ${cost}`;
    return { status: "ok", detail };
  }
  return {
    status: "warn",
    detail: `commands run as root (${childUser.reason}), so only the sandbox confines them`,
    fix: `Run the service as another user, or: chown -R USER '${workspace}'. Then ${cost}`,
  };
}
