/**
 * What the keys of `channels.websocket` demand of each other. One that would let in too many, or that
 * no client could use, refuses to load.
 *
 * @module
 */

import { upgradePath } from "../base/upgrade_path.ts";
import { isLoopbackHost } from "../base/loopback_host.ts";
import { issueSecret } from "./issue_secret.ts";
import type { KeyPath } from "../base/key_path.ts";
import { besideConfig, type HomePaths, isAbsolutePath } from "./paths.ts";
import type { Config, WebsocketConfig } from "./schema.ts";

/** What is wrong, or hardly meant, and where in the section. */
export interface WebsocketProblem {
  path: KeyPath;
  message: string;
}

type Tell = (path: KeyPath, message: string) => void;

/** Bytes of a Unix socket's path; systems take 104 to 108 with an end mark. */
const MAX_SOCKET_PATH_BYTES = 100;

/** Routes of the port that no path for tokens may stand in the way of. */
const RESERVED = ["/api", "/webui", "/media", "/health", "/ready", "/openapi.json"];

/** Why a section refuses to load; empty for one that may be used. Holds no secret. */
export function websocketProblems(
  config: WebsocketConfig,
  api: Pick<Config["api"], "enabled" | "host" | "port">,
): WebsocketProblem[] {
  const problems: WebsocketProblem[] = [];
  const refuse: Tell = (path, message) => problems.push({ path, message });
  checkBind(config, api, refuse);
  for (const key of ["token", "tokenIssueSecret"] as const) {
    // Anything else cannot stand in a header or subprotocol, so no client could ever send it.
    if (!/^[\x21-\x7e]*$/.test(config[key])) {
      refuse([key], "it holds blanks or letters beyond ASCII, which no client could send");
    }
  }
  const path = pathProblem(config.path);
  if (path !== undefined) refuse(["path"], `${shown(config.path)} ${path}`);
  if (config.tokenIssuePath !== "") checkIssuePath(config, refuse);
  if (config.publicWsUrl !== "") checkPublicUrl(config, refuse);
  checkTls(config, refuse);
  return problems;
}

/** The TLS files as absolute paths; relative ones begin at the configuration's folder. */
export function tlsFiles(
  { sslCertfile, sslKeyfile }: WebsocketConfig,
  paths: Pick<HomePaths, "configFile" | "userHome">,
): Pick<WebsocketConfig, "sslCertfile" | "sslKeyfile"> {
  return {
    sslCertfile: besideConfig(sslCertfile, paths),
    sslKeyfile: besideConfig(sslKeyfile, paths),
  };
}

/** What works, but is hardly meant. */
export function websocketWarnings(config: WebsocketConfig): WebsocketProblem[] {
  const warnings: WebsocketProblem[] = [];
  const warn: Tell = (path, message) => warnings.push({ path, message });
  if (!config.websocketRequiresToken && config.token === "") {
    warn(
      ["websocketRequiresToken"],
      "is false and there is no token, so whoever reaches the port can talk to the agent",
    );
  }
  if (config.tokenIssuePath !== "" && issueSecret(config) === undefined) {
    warn(
      ["tokenIssuePath"],
      "gives a token to whoever asks, since neither tokenIssueSecret nor token is set",
    );
  }
  config.allowedOrigins.forEach((origin, at) => {
    if (isOrigin(origin)) return;
    warn(
      ["allowedOrigins", at],
      `${
        shown(origin)
      } is no origin as browsers send one, such as https://app.example, so it lets in nobody`,
    );
  });
  config.allowedHosts.forEach((host, at) => {
    if (/^\s*(?:[a-z0-9._-]*[a-z0-9]|\[[0-9a-f:.]+\])(?::\d{1,5})?\s*$/i.test(host)) return;
    warn(
      ["allowedHosts", at],
      `${shown(host)} is no name of a host, such as agent.example, so it lets in nobody`,
    );
  });
  if (config.socketPath !== "" && config.trustedProxyAuth !== null) {
    warn(
      ["trustedProxyAuth"],
      "admits nobody on a Unix socket, whose peers have no address to be in trustedPeerCidrs",
    );
  }
  return warnings;
}

function checkBind(
  config: WebsocketConfig,
  api: Pick<Config["api"], "enabled" | "host" | "port">,
  refuse: Tell,
): void {
  const { enabled, host, port, socketPath, trustedProxyAuth } = config;
  if (socketPath !== "") {
    const bytes = new TextEncoder().encode(socketPath).length;
    if (!isAbsolutePath(socketPath)) {
      refuse(["socketPath"], `${shown(socketPath)} is no absolute path`);
    } else if (bytes > MAX_SOCKET_PATH_BYTES) {
      refuse(
        ["socketPath"],
        `it has ${bytes} bytes, and the path of a Unix socket ${MAX_SOCKET_PATH_BYTES} at most`,
      );
    }
    return;
  }
  if (host.startsWith("[")) {
    refuse(["host"], `"${host}" has to stand without brackets`);
  } else if (
    !isLoopbackHost(host) && issueSecret(config) === undefined && trustedProxyAuth === null
  ) {
    refuse(
      ["host"],
      `"${host}" can be reached from other machines, so token, tokenIssueSecret or ` +
        "trustedProxyAuth has to be set",
    );
  }
  if (enabled && api.enabled && port !== 0 && port === api.port && isSameHost(host, api.host)) {
    refuse(["port"], `${port} is api.port too; each needs one of its own`);
  }
}

function checkIssuePath({ tokenIssuePath, path }: WebsocketConfig, refuse: Tell): void {
  const at: KeyPath = ["tokenIssuePath"];
  const given = upgradePath(tokenIssuePath);
  const problem = pathProblem(tokenIssuePath);
  if (problem !== undefined) refuse(at, `${shown(tokenIssuePath)} ${problem}`);
  else if (given === upgradePath(path)) {
    refuse(at, `${shown(tokenIssuePath)} is path too; it has to be another one`);
  } else if (
    given === "/" || RESERVED.some((own) => given === own || given.startsWith(`${own}/`))
  ) {
    refuse(at, `${shown(tokenIssuePath)} is a path of the service's own; take another one`);
  } else if (given !== tokenIssuePath) {
    // A route is one spelling of its path, unlike the upgrade's.
    refuse(at, `${shown(tokenIssuePath)} ends with a slash; write ${shown(given)}`);
  }
}

function checkPublicUrl({ publicWsUrl, path }: WebsocketConfig, refuse: Tell): void {
  const at: KeyPath = ["publicWsUrl"];
  const url = URL.parse(publicWsUrl);
  if (url === null || !["ws:", "wss:"].includes(url.protocol) || url.hostname === "") {
    refuse(at, `${shown(publicWsUrl)} is no ws:// or wss:// address`);
  } else if (url.username !== "" || url.password !== "") {
    refuse(at, "it holds a name or password, which every client would be told");
  } else if (/[?#]/.test(publicWsUrl)) {
    // It may hold a token.
    refuse(at, "it has a query or fragment; clients add their own query");
  } else if (upgradePath(url.pathname) !== upgradePath(path)) {
    refuse(at, `its path is ${shown(url.pathname)}, expected that of path, ${shown(path)}`);
  }
}

function checkTls({ sslCertfile, sslKeyfile }: WebsocketConfig, refuse: Tell): void {
  const files = { sslCertfile, sslKeyfile };
  for (
    const [key, other] of [["sslCertfile", "sslKeyfile"], ["sslKeyfile", "sslCertfile"]] as const
  ) {
    if (files[key] === "" && files[other] !== "") {
      refuse([key], `is missing; ${other} is set, and TLS needs both`);
    } else if (/\p{Cc}/u.test(files[key])) {
      refuse([key], `${shown(files[key])} is no path; keep the PEM text in a file and name that`);
    }
  }
}

/** Only what means the same to every client, proxy and router on the way. */
function pathProblem(path: string): string | undefined {
  if (!path.startsWith("/")) return "does not begin with /";
  if (/[?#]/.test(path)) return "has a query or fragment";
  const parts = upgradePath(path).split("/").slice(1);
  const isPlain = path.match(/^\/+$/) !== null ||
    parts.every((part) => /^[A-Za-z0-9._~-]+$/.test(part) && !/^\.{1,2}$/.test(part));
  return isPlain
    ? undefined
    : "is no plain path: parts of A-Z, a-z, 0-9, ., _, ~ and -, with / between";
}

/** Whether two listeners would want one address. */
function isSameHost(one: string, other: string): boolean {
  const isAny = (host: string) => host === "0.0.0.0" || host === "::";
  return one.toLowerCase() === other.toLowerCase() || isAny(one) || isAny(other) ||
    [one, other].every((host) => host === "127.0.0.1" || host.toLowerCase() === "localhost");
}

/** Whether some page can have it: browsers leave out a usual port, and pages of apps have schemes of their own. */
function isOrigin(text: string): boolean {
  const origin = text.trim().toLowerCase().replace(/\/$/, "");
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/?#@*\s]+$/.test(origin)) return false;
  return !/^https?:/.test(origin) || URL.parse(origin)?.origin === origin;
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
