/**
 * The part of a policy that follows from the configuration and the machine.
 *
 * @module
 */

import { fromFileUrl } from "@std/path";
import type { Config } from "../config/schema.ts";
import { type HomePaths, policyTestFile } from "../config/paths.ts";
import { type ConfiguredRule, readRules } from "./configured_rules.ts";
import { DEFAULT_RULES } from "./default_rules.ts";
import type { ExecMode, PolicySettings } from "./policy.ts";

/** The service's own places, as `lib/config/paths.ts` names them. */
export type OwnPaths = Pick<
  HomePaths,
  | "home"
  | "configFile"
  | "lastGoodFile"
  | "dataDir"
  | "auditDir"
  | "keysDir"
  | "runDir"
  | "socketDir"
>;

/** What it is made of. */
export interface PolicyInputs {
  gates: Pick<Config["gates"], "privateHosts" | "messageTargets"> & {
    rules: readonly ConfiguredRule[];
  };
  paths: OwnPaths;
  /** Real path. */
  workspace: string;
  confined: boolean;
  exec: ExecMode;
}

/** Works out the settings. Looks at the file system for real paths alone. */
export async function policySettings(inputs: PolicyInputs): Promise<PolicySettings> {
  const { gates, paths, workspace, confined, exec } = inputs;
  const own = [
    paths.home,
    paths.configFile,
    paths.lastGoodFile,
    policyTestFile(paths),
    paths.dataDir,
    paths.auditDir,
    paths.keysDir,
    paths.runDir,
    paths.socketDir,
  ];
  // Both names: a folder that is made later has its real one only then.
  const real = await Promise.all(own.map((path) => Deno.realPath(path).catch(() => path)));
  return {
    rules: [...readRules(gates.rules).rules, ...DEFAULT_RULES],
    workspace,
    ownPaths: [...new Set([...own, ...real])],
    sourcePaths: Deno.build.standalone
      ? []
      : [fromFileUrl(new URL("../../", import.meta.url)).replace(/\/$/, "")],
    privateHosts: gates.privateHosts,
    messageTargets: gates.messageTargets,
    confined,
    exec,
  };
}

/** How commands run where the sandbox works, or does not. It never falls back to the host unasked. */
export function execMode(
  { confined, reason, allowUnconfined }: {
    confined: boolean;
    reason: string;
    /** `executor.allowUnconfined`. */
    allowUnconfined: boolean;
  },
): ExecMode {
  if (confined) return { mode: "sandboxed" };
  if (allowUnconfined) return { mode: "unconfined" };
  return {
    mode: "off",
    reason: `there is no sandbox for commands (${reason}), and executor.allowUnconfined is not set`,
  };
}
