/**
 * Brings up what operators and approvers work with.
 *
 * @module
 */

import { systemClock } from "../base/clock.ts";
import type { Permission } from "../base/permission.ts";
import { issueSecret } from "../config/issue_secret.ts";
import type { Config } from "../config/schema.ts";
import { Approvals } from "../approvals/approvals.ts";
import { Commissions } from "../approvals/commission/commissions.ts";
import { createExecutor } from "../executor/executor.ts";
import type { TriedSandboxes } from "../executor/tried_sandboxes.ts";
import { ServiceError } from "../base/errors.ts";
import { providerHosts } from "../model/hosts.ts";
import { permissionDifference } from "../operations/permission_difference.ts";
import { auditPages } from "../operations/audit_pages.ts";
import { Operator } from "../operations/operator.ts";
import { lockedPackages } from "../packages/locked_packages.ts";
import { SecretKeeper } from "../operations/secret_keeper.ts";
import { settingsKeeper } from "../operations/settings_keeper.ts";
import { createIssuedTokens } from "../state/issued_tokens.ts";
import type { HomeLog } from "./open_log.ts";
import type { Records } from "./open_records.ts";
import { loadOwn, ownTable } from "./own_config.ts";
import type { HomeOptions } from "./own_home.ts";

/** What {@linkcode openOperator} takes. */
export interface OpenOperatorDeps extends Records, Pick<HomeLog, "log" | "known" | "recentLines"> {
  config: Config;
  /** The gateway's. */
  table: readonly Permission[];
  denoDir: string | undefined;
  sandboxes: TriedSandboxes;
  /** Takes up the configuration file now. */
  reload: () => Promise<void>;
  /** Tells the gateway of the channels as they are now. */
  tellSpecs: () => void;
}

/** See {@linkcode openOperator}. */
export type OpenedOperator = Awaited<ReturnType<typeof openOperator>>;

/** What waits for a person, and who may answer or change something. What the last process left is void. */
export async function openOperator(options: HomeOptions, deps: OpenOperatorDeps) {
  const { config, audit, state, table, known: { scrubber }, log } = deps;
  const { paths, env } = options;
  const servesPort = options.channels !== undefined;
  const channels = options.channels && (await import("../operations/channels/home_channels.ts"))
    .openHomeChannels({ ...deps, registry: options.channels, paths, env, scrubber });
  const commissions = new Commissions({ audit, findings: state.findings, grants: state.grants });
  const settings = settingsKeeper({
    paths,
    env,
    running: config,
    permissions: table,
    secrets: state.secrets,
    load: () => loadOwn(options, { keepLastGood: false }),
    permissionsOf: (next) => ownTable(options, next),
    reload: deps.reload,
    audit,
    log,
  });
  const executor = createExecutor({
    cacheDir: `${paths.runDir}/child-cache`,
    sandboxes: deps.sandboxes,
    staysRoot: true,
    unconfined: "Deno's permissions alone hold children that ask a provider",
    log,
  });
  // Few ask for it, and what asks models takes a while to load.
  const modelSetup = async () => {
    const { ModelSetup } = await import("../operations/models/model_setup.ts");
    const packages = lockedPackages(deps.denoDir);
    const { secrets } = state;
    return new ModelSetup({ executor, packages, env, secrets, settings, now: Date.now });
  };
  const { gates, channels: { websocket } } = config;
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
  const trustsProxy = servesPort && websocket.trustedProxyAuth !== null;
  return {
    approvals,
    channels,
    commissions,
    providerExecutor: executor,
    operator: new Operator({
      approvals,
      tokens,
      latches,
      gates,
      // A client of the WebSocket port names itself; whom a proxy vouches for has a prefix of his own.
      verifiesSenders: (channel) =>
        channel === "webui" ? trustsProxy : channels?.verifiesSenders(channel) === true,
      port: servesPort
        ? {
          tokens: createIssuedTokens({
            secret: issueSecret(websocket),
            ttlS: websocket.tokenTtlS,
            clock: systemClock,
          }),
          trustsProxy,
        }
        : undefined,
      secrets: new SecretKeeper({ secrets: state.secrets, paths, env }),
      audit: auditPages({ ...paths, mirror: config.audit.mirror }),
      permissions: table,
      settings,
      channels: channels?.operator,
      commissions,
      pairings: state.pairings,
      allowSender: channels && ((who, by) => channels.operator.allow(who, by)),
      recentLines: deps.recentLines,
      models: {
        find: async () => (await modelSetup()).find(),
        list: async (named) => (await modelSetup()).list(named),
        connect: async (asked, by) => (await modelSetup()).connect(asked, by),
      },
      restart: options.restart && restartOnRecord(options.restart, options, deps),
      log,
    }),
  };
}

/**
 * Has the service start again, if its configuration would load. Whoever asks may be a page in a browser:
 * what would be reached in addition waits for the command line, but for the first model of all.
 */
function restartOnRecord(
  restart: () => void,
  options: HomeOptions,
  { config, table, audit }: Pick<OpenOperatorDeps, "config" | "table" | "audit">,
): (by: string) => Promise<void> {
  return async (by) => {
    const next = await loadOwn(options, { keepLastGood: false, forStart: { gateway: true } });
    const { added } = permissionDifference(table, ownTable(options, next));
    if (added.length > 0 && providerHosts(config).length > 0) {
      const what = added.map(({ kind, value }) => `${kind} ${value}`).join(", ");
      throw new ServiceError(
        "refused",
        `A restart would give the service more permissions: ${what}. ` +
          "Restart it at the command line: service restart",
      );
    }
    await audit.append("service.restart", { by });
    restart();
  };
}
