/**
 * The part of a policy that follows from the configuration and the machine.
 *
 * @module
 */

import type { Config } from "../config/schema.ts";
import { type HomePaths, policyTestFile } from "../config/paths.ts";
import { parseHostPattern } from "../base/host_pattern.ts";
import { realPathOf } from "../base/real_path.ts";
import { searchEndpoint } from "./search_endpoint.ts";
import { type ConfiguredRule, readRules } from "./configured_rules.ts";
import { DEFAULT_RULES } from "./default_rules.ts";
import type { ExecMode, PolicySettings, Rule } from "./policy.ts";
import { pathPattern, type TargetPattern } from "./target_pattern.ts";
import { SEPARATOR } from "@std/path";
import { sourcePaths } from "../base/layout.ts";

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
  /** `executor.hosts`. */
  commandHosts: readonly string[];
  mcp: Pick<Config["mcp"], "servers">;
  /** Without them nothing is searched. */
  tools?: Pick<Config["tools"], "webSearch">;
  paths: OwnPaths;
  /** Real path. */
  workspace: string;
  confined: boolean;
  exec: ExecMode;
}

/** Works out the settings. Looks at the file system for real paths alone. */
export async function policySettings(inputs: PolicyInputs): Promise<PolicySettings> {
  const { gates, commandHosts, mcp, tools, paths, workspace, confined, exec } = inputs;
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
    rules: [
      ...readRules(gates.rules).rules.map((rule) => withRealTargets(rule, workspace)),
      ...DEFAULT_RULES,
    ],
    workspace,
    ownPaths: [...new Set([...own, ...real])],
    sourcePaths: sourcePaths([""]).map((path) => path.replace(/[/\\]$/, "")),
    privateHosts: gates.privateHosts,
    messageTargets: gates.messageTargets,
    // The configuration has refused what is no host.
    commandHosts: commandHosts.map(parseHostPattern).filter((pattern) => pattern !== undefined),
    mcpTools: allowedMcpTools(mcp.servers),
    searchUrl: tools && searchUrl(tools),
    confined,
    exec,
  };
}

function searchUrl({ webSearch }: Pick<Config["tools"], "webSearch">): string | undefined {
  const endpoint = searchEndpoint(webSearch);
  return "url" in endpoint ? endpoint.url : undefined;
}

function allowedMcpTools(servers: Config["mcp"]["servers"]): string[] {
  return Object.entries(servers).flatMap(([server, { enabled, allow }]) =>
    enabled ? allow.map((tool) => `${server}/${tool}`) : []
  );
}

/**
 * A rule that denies, with the real path beside each that begins with a link: else it would deny nothing.
 * For other rules a link opens nothing, as it may lead elsewhere tomorrow.
 */
function withRealTargets(rule: Rule, workspace: string): Rule {
  if (rule.effect !== "deny" || rule.targets === undefined) return rule;
  const more: TargetPattern[] = [];
  for (const pattern of rule.targets) {
    if (pattern.kind !== "path") continue;
    const wild = pattern.names.findIndex((name) => /[*?]/.test(name));
    const fixed = wild < 0 ? pattern.names : pattern.names.slice(0, wild);
    const written = [pattern.inWorkspace ? workspace : "", ...fixed].join("/") || "/";
    const real = realPrefix(written);
    if (real === undefined || real === written) continue;
    const names = [
      ...real.split(SEPARATOR).filter((name) => name !== ""),
      ...pattern.names.slice(fixed.length),
    ];
    more.push(pathPattern(names, { text: `/${names.join("/")}`, inWorkspace: false }));
  }
  return more.length === 0 ? rule : { ...rule, targets: [...rule.targets, ...more] };
}

/** Undefined where it cannot be looked at: then it cannot be read by an action either. */
function realPrefix(path: string): string | undefined {
  try {
    return realPathOf(path);
  } catch {
    return undefined;
  }
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
