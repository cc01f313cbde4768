/**
 * What the keys of an MCP server demand of each other, and of the folders of this machine.
 *
 * @module
 */

import { PROGRAM_ROOTS } from "../policy/resolve/resolve_command.ts";
import { resolveUrl } from "../policy/resolve/resolve.ts";
import type { KeyPath } from "../base/key_path.ts";
import { type HomePaths, isAbsolutePath, normalize } from "../config/paths.ts";
import { isInside } from "../base/inside.ts";
import { realPathOf } from "../base/real_path.ts";
import type { Config, McpServerConfig } from "../config/schema.ts";

/** What is wrong, and where below `mcp.servers`. */
export interface McpProblem {
  path: KeyPath;
  message: string;
}

type Refuse = (path: KeyPath, message: string) => void;

/** Where servers may not reach. */
export interface McpPlaces {
  /** Absolute; undefined when it is refused itself. */
  workspace: string | undefined;
  paths: Pick<HomePaths, "home" | "configFile" | "socketDir">;
}

/** Headers that are the protocol's own. */
const OWN_HEADERS = new Set([
  "accept",
  "connection",
  "content-length",
  "content-type",
  "host",
  "last-event-id",
  "mcp-protocol-version",
  "mcp-session-id",
  "transfer-encoding",
]);

/** Checks every server, switched on or not. Values that may be secret are never repeated. */
export function mcpProblems(servers: Config["mcp"]["servers"], places: McpPlaces): McpProblem[] {
  const problems: McpProblem[] = [];
  for (const [name, server] of Object.entries(servers)) {
    const refuse: Refuse = (path, message) => problems.push({ path: [name, ...path], message });
    const { command, url } = server;
    if ((command === undefined) === (url === undefined)) {
      refuse(
        [],
        `${
          command === undefined ? "has neither command nor url" : "has both command and url"
        }; expected exactly one of them`,
      );
    } else if (command === undefined) {
      checkHttp(server, refuse);
    } else checkStdio({ ...server, command }, places, refuse);
  }
  return problems;
}

function checkHttp(
  { url = "", env, read, write, hosts, headers }: McpServerConfig,
  refuse: Refuse,
) {
  const target = resolveUrl(url);
  if (target.kind === "unresolved") refuse(["url"], `cannot be asked: ${target.reason}`);
  const ofCommand = { env: Object.keys(env), read, write, hosts };
  for (const [key, value] of Object.entries(ofCommand)) {
    if (value.length > 0) refuse([key], "is for a server with command, and this one has url");
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) {
      refuse(["headers", name], "is no name of a header");
    } else if (OWN_HEADERS.has(name.toLowerCase())) {
      refuse(["headers", name], "is a header that the protocol sets itself");
    } else if (!/^[\t\x20-\x7e]*$/.test(value)) {
      refuse(
        ["headers", name],
        "its value holds line ends, hidden characters or letters beyond ASCII",
      );
    }
  }
}

function checkStdio(
  { command, cwd, env, read, write, headers }: McpServerConfig & { command: string[] },
  places: McpPlaces,
  refuse: Refuse,
): void {
  if (Object.keys(headers).length > 0) {
    refuse(["headers"], "is for a server with url, and this one has command");
  }
  const nul = command.findIndex((part) => part.includes("\0"));
  if (nul !== -1) refuse(["command", nul], "holds a NUL");
  for (const [name, value] of Object.entries(env)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      refuse(["env", name], "is no name of a variable: A-Z, a-z, 0-9 and _");
    } else if (/^(?:LD|DYLD)_/.test(name)) {
      refuse(["env", name], "tells the system what to load into programs, and cannot be given");
    } else if (value.includes("\0")) refuse(["env", name], "its value holds a NUL");
  }
  for (const [key, list] of [["read", read], ["write", write]] as const) {
    list.forEach((path, at) => {
      const problem = placeProblem(path, places);
      if (problem !== undefined) refuse([key, at], `"${path}" ${problem}`);
    });
  }
  const { workspace } = places;
  if (workspace === undefined) return;
  const folder = normalize(isAbsolutePath(cwd) ? cwd : `${workspace}/${cwd}`);
  if (!isInside(folder, workspace)) {
    refuse(["cwd"], `"${cwd}" is outside of the workspace "${workspace}"`);
  }
  const [program] = command as [string];
  const roots = [...PROGRAM_ROOTS, workspace, ...read, ...write];
  if (program.trim() === "") refuse(["command", 0], "names no program");
  else if (
    isAbsolutePath(program) && !roots.some((root) => isInside(normalize(program), normalize(root)))
  ) {
    refuse(
      ["command", 0],
      `"${program}" is neither the system's nor in the workspace, and no path of read holds it`,
    );
  }
}

/** Why a server cannot be given a path. */
function placeProblem(path: string, { workspace, paths }: McpPlaces): string | undefined {
  if (!isAbsolutePath(path)) return "is no absolute path; begin it with /";
  if (path.includes("\0")) return "holds a NUL";
  let real: string;
  try {
    real = realPathOf(normalize(path));
  } catch (error) {
    return `cannot be used: ${(error as Error).message}`;
  }
  const meets = (other: string) => {
    const its = realPathOf(other);
    return isInside(real, its) || isInside(its, real);
  };
  if (workspace !== undefined && meets(workspace)) {
    return "and the workspace lie in each other; the workspace is there anyway";
  }
  const own = [paths.home, paths.configFile, paths.socketDir].find(meets);
  if (own !== undefined) return `and the service's own "${own}" lie in each other`;
  const system = ["/proc", "/dev", "/sys"].find((each) => isInside(real, each)) ??
    (real === "/" ? "/" : undefined);
  if (system !== undefined) return `is in ${system}, which no server is given`;
}
