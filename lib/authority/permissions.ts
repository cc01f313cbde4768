/**
 * The permission table: everything that the service may touch, and which part of the configuration
 * asked for it. The Worker is started with exactly this and nothing else.
 *
 * @module
 */

import { listenAddress } from "../base/addresses.ts";
import { endpointAt, endpointHost } from "../base/local_endpoint.ts";
import type { Permission } from "../base/permission.ts";
import type { Config } from "../config/schema.ts";
import { transcriptionEndpoint } from "../transcription/endpoint.ts";

/** What the table is computed from. */
export interface PermissionInputs {
  config: Config;
  /** Whether the API is served. */
  api: boolean;
  /** Whether channels run: those of them that are enabled. */
  channels: boolean;
  paths: { dataDir: string; socket: string };
  /** Hosts of model providers. */
  providers: readonly { host: string; port: number; provider: string }[];
  /** Variables that dependencies read at import. */
  env: readonly { variable: string; askedBy: string }[];
  /** Folders of modules that the service imports when it needs them; none in the binary. */
  sources: readonly string[];
  /** Default: that of this machine. */
  os?: typeof Deno.build.os;
}

/** The table, in a fixed order, without duplicates of value and asker. */
export function computePermissions(inputs: PermissionInputs): Permission[] {
  const { config, paths } = inputs;
  const table: Permission[] = [];
  if (inputs.api) {
    table.push({ kind: "net", value: listenPort(config.api), askedBy: "api" });
  }
  if (inputs.channels && config.channels.websocket.enabled) {
    table.push(...websocketPermissions(config.channels.websocket));
  }
  for (const { host, port, provider } of inputs.providers) {
    table.push({ kind: "net", value: hostPort(host, port), askedBy: `providers.${provider}` });
  }
  if (inputs.channels && config.transcription.enabled) {
    const { host, port } = transcriptionEndpoint(config.transcription);
    table.push({ kind: "net", value: hostPort(host, port), askedBy: "transcription" });
  }
  const local = endpointAt(paths.socket, inputs.os);
  table.push({ kind: "net", value: endpointHost(local), askedBy: "local socket" });
  table.push({ kind: "read", value: paths.dataDir, askedBy: "journal" });
  table.push({ kind: "read", value: local.file, askedBy: "local socket" });
  for (const source of inputs.sources) {
    table.push({ kind: "read", value: source, askedBy: "modules loaded on demand" });
  }
  table.push({ kind: "write", value: paths.dataDir, askedBy: "journal" });
  table.push({ kind: "write", value: local.file, askedBy: "local socket" });
  for (const { variable, askedBy } of inputs.env) {
    table.push({ kind: "env", value: variable, askedBy });
  }
  return table;
}

/** What the WebSocket server needs, and what its package reads while it is imported. */
function websocketPermissions(
  { host, port, socketPath, sslCertfile, sslKeyfile }: Config["channels"]["websocket"],
): Permission[] {
  const askedBy = "channels.websocket";
  const table: Permission[] = [];
  if (socketPath === "") table.push({ kind: "net", value: listenPort({ host, port }), askedBy });
  else {
    table.push({ kind: "net", value: `unix:${socketPath}`, askedBy });
    table.push({ kind: "read", value: socketPath, askedBy });
    table.push({ kind: "write", value: socketPath, askedBy });
  }
  for (const [key, value] of Object.entries({ sslCertfile, sslKeyfile })) {
    if (value !== "") table.push({ kind: "read", value, askedBy: `${askedBy}.${key}` });
  }
  for (const variable of ["WS_NO_BUFFER_UTIL", "WS_NO_UTF_8_VALIDATE"]) {
    table.push({ kind: "env", value: variable, askedBy: "ws at import" });
  }
  return table;
}

function listenPort({ host, port }: { host: string; port: number }): string {
  return hostPort(listenAddress(host), port);
}

function hostPort(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
