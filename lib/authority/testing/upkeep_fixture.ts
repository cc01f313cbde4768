/**
 * A home with its audit, its state and its watched configuration, and operators who may ask; for tests.
 *
 * @module
 */

import { loadConfig } from "../../settings/load.ts";
import type { Config } from "../../config/schema.ts";
import { type TempHome, tempHome } from "../../config/testing/temp_home.ts";
import { providerHosts } from "../../model/hosts.ts";
import { Approvals } from "../../approvals/approvals.ts";
import { Operator, type OperatorDeps } from "../../operations/operator.ts";
import { systemClock } from "../../base/clock.ts";
import { AUDIT_FILE, type AuditLog, openAudit } from "../../audit/log.ts";
import type { AuditRecord } from "../../audit/record.ts";
import type { Scope } from "../../contract/credentials.ts";
import type {
  OperationName,
  OperationRequest,
  OperationResult,
} from "../../operations/operations.ts";
import { computePermissions } from "../permissions.ts";
import { openOperatorState, type OperatorState } from "../../state/operator_state.ts";
import { auditPages } from "../../operations/audit_pages.ts";
import { SecretKeeper } from "../../operations/secret_keeper.ts";
import { settingsKeeper, type SettingsKeeperDeps } from "../../operations/settings_keeper.ts";
import { watchConfig } from "../watch_config.ts";

export interface UpkeepFixture extends AsyncDisposable {
  home: TempHome;
  state: OperatorState;
  /** In force. */
  running: Config;
  /** Keys that became live, each time that some did. */
  applied: (readonly string[])[];
  /** Lines that were logged, with their fields. */
  logged: string[];
  /** Asks with a token of these scopes; by default operate. */
  ask<Name extends OperationName>(
    request: OperationRequest<Name>,
    scopes?: Scope[],
  ): Promise<OperationResult<Name>>;
  records(kind?: string): Promise<AuditRecord[]>;
  /** Every file of the home that holds a text. */
  filesWith(text: string): Promise<string[]>;
}

/** How a fixture differs from the default. */
export interface UpkeepFixtureOptions {
  config?: unknown;
  env?: Record<string, string>;
  /** Whether live keys are taken up; default true. */
  watch?: boolean;
  /** Over what the fixture hands in. */
  deps?: (deps: SettingsKeeperDeps) => Partial<SettingsKeeperDeps>;
  channels?: OperatorDeps["channels"];
  /** Over the audit. */
  audit?: (audit: AuditLog) => AuditLog;
  /** Ready made; it is not removed then. */
  home?: TempHome;
}

/** Makes the home and opens it. */
export async function upkeepFixture(options: UpkeepFixtureOptions = {}): Promise<UpkeepFixture> {
  const home = options.home ?? await tempHome(options.env);
  if (options.config !== undefined) await home.write(options.config);
  const { paths, env } = home;
  const logged: string[] = [];
  const say = (message: string, fields?: Record<string, unknown>) =>
    void logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const log = { debug: say, info: say, warning: say, error: say };
  const { auditDir: dir, keysDir } = paths;
  const opened = await openAudit({ dir, keysDir, log });
  const audit = options.audit?.(opened) ?? opened;
  const state = await openOperatorState({ dir: paths.operatorDir, keysDir, audit, log });
  const { config: running } = await loadConfig(home);
  const load = () => loadConfig({ ...home, keepLastGood: false });
  const tableOf = (config: Config) =>
    computePermissions({
      config,
      api: false,
      channels: false,
      paths,
      providers: providerHosts(config),
      env: [],
      sources: [],
    });
  const applied: UpkeepFixture["applied"] = [];
  const watcher = options.watch === false ? undefined : watchConfig({
    configFile: paths.configFile,
    secrets: state.secrets,
    config: running,
    load: () => loadConfig(home),
    apply: (_next, changed) => void applied.push(changed),
    log,
  });
  const deps: SettingsKeeperDeps = {
    paths,
    env,
    running,
    permissions: tableOf(running),
    secrets: state.secrets,
    load,
    permissionsOf: ({ config }) => tableOf(config),
    reload: watcher && (() => watcher.takeUp()),
    audit,
    log,
  };
  const approvals = new Approvals({
    clock: systemClock,
    audit,
    pending: state.pending,
    latches: state.latches,
    timeoutMs: 1_000,
    log,
  });
  const operator = new Operator({
    approvals,
    tokens: state.tokens,
    latches: state.latches,
    gates: { approvers: [], independentApprover: false },
    verifiesSenders: () => false,
    channels: options.channels,
    secrets: new SecretKeeper({ secrets: state.secrets, paths, env }),
    audit: auditPages({ ...paths, mirror: "" }),
    permissions: deps.permissions,
    settings: settingsKeeper({ ...deps, ...options.deps?.(deps) }),
    log,
  });
  return {
    home,
    state,
    running,
    applied,
    logged,
    async ask(request, scopes = ["operate"]) {
      const { token } = await state.tokens.issue({ name: "test", scopes });
      return await operator.operate(request, { kind: "token", token });
    },
    async records(kind = "") {
      const text = await Deno.readTextFile(`${dir}/${AUDIT_FILE}`);
      return text.trim().split("\n").map((line) => JSON.parse(line) as AuditRecord)
        .filter((record) => record.kind.startsWith(kind));
    },
    async filesWith(text) {
      const found: string[] = [];
      await search(home.root, new TextEncoder().encode(text), found);
      return found;
    },
    async [Symbol.asyncDispose]() {
      watcher?.close();
      await approvals.close();
      await state.close();
      await opened.close();
      if (options.home === undefined) await home[Symbol.asyncDispose]();
    },
  };
}

async function search(dir: string, wanted: Uint8Array, found: string[]): Promise<void> {
  for await (const { name, isDirectory, isFile } of Deno.readDir(dir)) {
    const path = `${dir}/${name}`;
    if (isDirectory) await search(path, wanted, found);
    if (!isFile) continue;
    const bytes = await Deno.readFile(path);
    for (let at = bytes.indexOf(wanted[0]!); at !== -1; at = bytes.indexOf(wanted[0]!, at + 1)) {
      if (!wanted.every((byte, offset) => bytes[at + offset] === byte)) continue;
      found.push(path);
      break;
    }
  }
}
