/**
 * Where everything of a home is.
 *
 * Nothing is made or opened here, and nothing imported: commands that only ask a running service
 * need these paths and no more.
 *
 * @module
 */

import { realPathOf } from "../base/real_path.ts";

/** Absolute paths. Folders are to be made with mode 0700. */
export interface HomePaths {
  /** The user's home folder, which `~` stands for. */
  userHome: string;
  /** `SERVICE_HOME`, else `~/.service`. */
  home: string;
  configFile: string;
  /** What named the configuration file; a named one has to exist. */
  configFrom: "--config" | "SERVICE_CONFIG" | "home";
  /** Beside the configuration file. */
  lastGoodFile: string;
  dataDir: string;
  /** The SQLite file. */
  database: string;
  /** Files that came with messages. */
  mediaDir: string;
  auditDir: string;
  keysDir: string;
  /** Tokens, grants, latches and pending approvals. */
  operatorDir: string;
  /** Folders besides the workspace that the agent may work in. */
  projectsFile: string;
  /** What MCP servers offered when they were last seen. */
  mcpDir: string;
  runDir: string;
  lockFile: string;
  /** Folder of the socket: `runDir`, or another one where its path would be too long. */
  socketDir: string;
  socket: string;
  /** The workspace where the configuration names none. */
  workspace: string;
}

/** What {@linkcode resolvePaths} takes. */
export interface PathInputs {
  /** `--config`. */
  configFlag?: string;
  /** Reads an environment variable. */
  env: (name: string) => string | undefined;
  /** The user's home folder, for `~`. */
  homeDir: string;
  /** The current folder, for relative paths. */
  cwd?: () => string;
  /** The user's number; undefined where there is none. */
  uid?: () => number | null;
}

/** Longest path of the socket, bytes; the kernels' limits are 104 and 108 with the final zero. */
export const MAX_SOCKET_BYTES = 90;

/** Works out every path. An empty variable counts as unset. */
export function resolvePaths(inputs: PathInputs): HomePaths {
  const { configFlag, env, homeDir, cwd = Deno.cwd } = inputs;
  const absolute = (path: string) => normalize(toAbsolute(expandHome(path, homeDir), cwd));
  const home = absolute(env("SERVICE_HOME") || `${homeDir}/.service`);
  const fromEnv = env("SERVICE_CONFIG") || undefined;
  const configFile = absolute(configFlag ?? fromEnv ?? `${home}/config.json`);
  const dataDir = `${home}/data`;
  const runDir = `${home}/run`;
  const socketDir = fits(`${runDir}/${SOCKET}`) ? runDir : shortDir(home, inputs);
  return {
    userHome: homeDir,
    home,
    configFile,
    configFrom: configFlag !== undefined
      ? "--config"
      : fromEnv !== undefined
      ? "SERVICE_CONFIG"
      : "home",
    lastGoodFile: `${configFile}.last-good`,
    dataDir,
    database: `${dataDir}/service.db`,
    mediaDir: `${dataDir}/media`,
    auditDir: `${home}/audit`,
    keysDir: `${home}/keys`,
    operatorDir: `${home}/operator`,
    projectsFile: `${home}/projects.json`,
    mcpDir: `${home}/mcp`,
    runDir,
    lockFile: `${runDir}/lock`,
    socketDir,
    socket: `${socketDir}/${SOCKET}`,
    workspace: `${home}/workspace`,
  };
}

/** The cases that pin the policy down: beside the configuration file. */
export function policyTestFile({ configFile }: Pick<HomePaths, "configFile">): string {
  return configFile.replace(/[^/\\]*$/, "policy.test.json");
}

/** The log of a service in the background. */
export function serviceLog({ home }: Pick<HomePaths, "home">): string {
  return `${home}/logs/service.log`;
}

/** A path with `~` or `~/…` for the user's home folder. */
export function expandHome(path: string, homeDir: string): string {
  return path === "~" || /^~[/\\]/.test(path) ? homeDir + path.slice(1) : path;
}

/** A path of the configuration, absolute; a relative one begins at the file's folder. Empty stays empty. */
export function besideConfig(
  written: string,
  { configFile, userHome }: Pick<HomePaths, "configFile" | "userHome">,
): string {
  if (written === "") return "";
  const path = expandHome(written, userHome);
  return normalize(isAbsolutePath(path) ? path : `${configFile}/../${path}`);
}

/** Whether a path begins at a root. */
export function isAbsolutePath(path: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:[/\\])/.test(path);
}

/** The path without `.`, `..` and repeated or trailing slashes. Takes an absolute one. */
export function normalize(path: string, os = Deno.build.os): string {
  // Windows takes both separators.
  const plain = os === "windows" ? path.replaceAll("\\", "/") : path;
  const [root] = /^(?:[A-Za-z]:)?[/\\]/.exec(plain) ?? [""];
  const parts: string[] = [];
  for (const part of plain.slice(root.length).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return root + parts.join("/");
}

const SOCKET = "service.sock";

function fits(socket: string): boolean {
  return new TextEncoder().encode(socket).length <= MAX_SOCKET_BYTES;
}

/** A folder for the socket of a home with a long path, the same for each spelling of that path. */
function shortDir(home: string, { env, uid = Deno.uid }: PathInputs): string {
  const name = `service-${hash(realPathOf(home))}`;
  const runtime = env("XDG_RUNTIME_DIR");
  if (runtime && isAbsolutePath(runtime) && fits(`${runtime}/${name}/${SOCKET}`)) {
    return `${normalize(runtime)}/${name}`;
  }
  return `/tmp/${name}-${uid() ?? "user"}`;
}

function toAbsolute(path: string, cwd: () => string): string {
  return isAbsolutePath(path) ? path : `${cwd()}/${path}`;
}

/** FNV-1a, 64 bits. It only has to tell one user's homes apart. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  }
  return value.toString(16).padStart(16, "0");
}
