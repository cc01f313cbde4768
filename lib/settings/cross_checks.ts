/**
 * What one key demands of another, and of the folders of this machine.
 *
 * @module
 */

import { readRules } from "../policy/configured_rules.ts";
import { auditMirror } from "../config/audit_mirror.ts";
import { logFile } from "../config/log_file.ts";
import { mcpProblems } from "./mcp_problems.ts";
import { isWithin, type KeyPath } from "../base/key_path.ts";
import { transcriptionProblem } from "../transcription/endpoint.ts";
import { isLoopbackHost } from "../base/loopback_host.ts";
import { nearestKey } from "../config/nearest.ts";
import {
  besideConfig,
  expandHome,
  type HomePaths,
  isAbsolutePath,
  normalize,
} from "../config/paths.ts";
import type { Problem, Warning } from "../config/problem.ts";
import { isInside } from "../base/inside.ts";
import { realPathOf } from "../base/real_path.ts";
import type { Config } from "../config/schema.ts";
import { tlsFiles, websocketProblems, websocketWarnings } from "../config/websocket_problems.ts";
import {
  trustedProxyProblems,
  trustedProxyWarnings,
} from "../trusted_proxy/trusted_proxy_problems.ts";

/** Providers that need no section: two are known by name, one is built in. */
const BUILT_IN_PROVIDERS = ["openai", "anthropic"];
const OFFLINE = "offline";

/** A configuration whose parts fit together. */
export interface CrossChecked {
  /** With absolute paths. */
  config: Config;
  problems: Problem[];
  warnings: Warning[];
}

/**
 * Makes the checks that the schema of a single key cannot make. `faulty` are paths with problems of
 * their own, of which no second one is reported.
 */
export function crossCheck(
  config: Config,
  paths: HomePaths,
  faulty: readonly KeyPath[] = [],
): CrossChecked {
  const problems: Problem[] = [];
  const warnings: Warning[] = [];
  const trusted = (path: KeyPath) =>
    !faulty.some((each) => isWithin(path, each) || isWithin(each, path));
  const refuse = (path: KeyPath, message: string) => {
    if (trusted(path)) problems.push({ path, kind: "conflict", message });
  };

  checkModels(config, refuse, trusted(["providers"]));
  if (trusted(["api", "apiKey"])) checkApi(config, refuse);
  for (const { path, message } of readRules(config.gates.rules).problems) {
    refuse(["gates", "rules", ...path], message);
  }
  const workspace = absoluteWorkspace(config.agent.workspace, paths, refuse);
  for (const { path, message } of mcpProblems(config.mcp.servers, { workspace, paths })) {
    refuse(["mcp", "servers", ...path], message);
  }
  checkWebsocket(config, refuse, (path, message) => {
    if (trusted(path)) warnings.push({ path, kind: "conflict", message });
  });
  const transcription = transcriptionProblem(config.transcription);
  if (transcription !== undefined) {
    refuse(["transcription", transcription.key], transcription.message);
  }
  const mirror = auditMirror(config.audit.mirror, workspace, paths);
  if ("problem" in mirror) refuse(["audit", "mirror"], mirror.problem);
  const file = logFile(config.log.file, workspace, paths);
  if ("problem" in file) refuse(["log", "file"], file.problem);
  return {
    config: {
      ...config,
      agent: workspace === undefined ? config.agent : { ...config.agent, workspace },
      channels: {
        ...config.channels,
        websocket: {
          ...config.channels.websocket,
          ...tlsFiles(config.channels.websocket, paths),
        },
      },
      audit: "path" in mirror ? { ...config.audit, mirror: mirror.path } : config.audit,
      retention: {
        ...config.retention,
        backups: {
          ...config.retention.backups,
          folder: besideConfig(config.retention.backups.folder, paths),
        },
      },
      log: "path" in file ? { ...config.log, file: file.path } : config.log,
    },
    problems,
    warnings,
  };
}

type Refuse = (path: KeyPath, message: string) => void;

function checkWebsocket({ channels: { websocket }, api }: Config, refuse: Refuse, warn: Refuse) {
  const at: KeyPath = ["channels", "websocket"];
  for (const { path, message } of websocketProblems(websocket, api)) {
    refuse([...at, ...path], message);
  }
  if (websocket.socketPath === "" && !/^\[/.test(websocket.host) && !isHost(websocket.host)) {
    refuse([...at, "host"], `"${websocket.host}" isn't a host name or an IP address`);
  }
  for (const { path, message } of websocketWarnings(websocket)) warn([...at, ...path], message);
  const block = websocket.trustedProxyAuth;
  if (block === null) return;
  const inBlock = [...at, "trustedProxyAuth"];
  for (const { path, message } of trustedProxyProblems(block)) {
    refuse([...inBlock, ...path], message);
  }
  for (const { path, message } of trustedProxyWarnings(block)) warn([...inBlock, ...path], message);
}

/** A name or an address, as a process can be permitted to listen at. */
function isHost(text: string): boolean {
  const isName = text.split(".").every((part) => /^\w(?:[\w-]*\w)?$/.test(part));
  return isName || URL.canParse(`http://[${text}]/`);
}

function checkApi({ api }: Config, refuse: Refuse): void {
  if (api.host.startsWith("[")) {
    refuse(["api", "host"], `"${api.host}" has to stand without brackets`);
  } else if (!isHost(api.host)) {
    refuse(["api", "host"], `"${api.host}" isn't a host name or an IP address`);
  } else if (api.apiKey === "" && !isLoopbackHost(api.host)) {
    refuse(
      ["api", "host"],
      `"${api.host}" can be reached from other machines, so api.apiKey has to be set`,
    );
  }
  if (api.mcp && api.apiKey === "") {
    refuse(["api", "mcp"], "POST /mcp needs a key, so api.apiKey has to be set");
  }
  // Anything else cannot stand in an Authorization header, so no client could ever send it.
  if (!/^[\x21-\x7e]*$/.test(api.apiKey)) {
    refuse(["api", "apiKey"], "the key holds blanks or letters beyond ASCII");
  }
}

function checkModels({ agent, providers }: Config, refuse: Refuse, checkNames: boolean): void {
  const presets = Object.keys(agent.presets);
  if (agent.preset !== "" && !presets.includes(agent.preset)) {
    const near = nearestKey(agent.preset, presets);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    refuse(["agent", "preset"], `"${agent.preset}" is not a name in agent.presets${hint}`);
  }
  if (!checkNames) return;
  const known = [...new Set([...Object.keys(providers), ...BUILT_IN_PROVIDERS])];
  const check = (path: KeyPath, model: string) => {
    if (model === OFFLINE) return;
    const slash = model.indexOf("/");
    if (slash < 1 || slash === model.length - 1) {
      refuse(path, `"${model}" is neither <provider>/<model id> nor ${OFFLINE}`);
      return;
    }
    const name = model.slice(0, slash);
    if (known.includes(name)) return;
    const list = known.map((each) => `"${each}"`).join(", ");
    refuse(path, `"${model}" names the provider "${name}", which is not one of ${list}`);
  };
  if (agent.model !== "") check(["agent", "model"], agent.model);
  agent.fallbacks.forEach((model, at) => check(["agent", "fallbacks", at], model));
  for (const [name, { model }] of Object.entries(agent.presets)) {
    check(["agent", "presets", name, "model"], model);
  }
}

/** The workspace as an absolute path; undefined if it is refused. */
function absoluteWorkspace(
  written: string,
  paths: HomePaths,
  refuse: Refuse,
): string | undefined {
  const path: KeyPath = ["agent", "workspace"];
  const expanded = written === "" ? paths.workspace : expandHome(written, paths.userHome);
  if (!isAbsolutePath(expanded)) {
    refuse(path, `"${written}" is no absolute path; begin it with / or ~/`);
    return undefined;
  }
  const workspace = normalize(expanded);
  try {
    const conflict = workspaceConflict(realPathOf(workspace), paths);
    if (conflict === undefined) return workspace;
    refuse(path, `"${written || workspace}" ${conflict}`);
  } catch (error) {
    refuse(path, `"${written || workspace}" cannot be used: ${(error as Error).message}`);
  }
  return undefined;
}

/**
 * Why a folder (a real path) cannot be the workspace. An agent that can write the service's own files
 * is bound by nothing; one that works inside of them could do nothing.
 */
function workspaceConflict(workspace: string, paths: HomePaths): string | undefined {
  const folders: [what: string, path: string][] = [
    ["data folder", paths.dataDir],
    ["audit folder", paths.auditDir],
    ["key folder", paths.keysDir],
    ["operator folder", paths.operatorDir],
    ["folder of MCP servers", paths.mcpDir],
    ["run folder", paths.runDir],
    ["socket folder", paths.socketDir],
  ];
  for (const [what, path] of folders) {
    const real = realPathOf(path);
    if (isInside(real, workspace)) return `contains the service's ${what} "${path}"`;
    if (isInside(workspace, real)) return `is inside of the service's ${what} "${path}"`;
  }
  // The file may be a link: neither the link nor what it leads to may be in reach. The last good
  // copy stands beside the link.
  for (const path of [paths.configFile, paths.lastGoodFile]) {
    const slash = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
    const link = realPathOf(path.slice(0, slash) || "/") + path.slice(slash);
    if (isInside(link, workspace) || isInside(realPathOf(path), workspace)) {
      return `contains the service's configuration "${path}"`;
    }
  }
  return undefined;
}
