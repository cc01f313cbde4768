/**
 * Whether a start could open the ports and sockets of what is enabled, and who has them otherwise.
 *
 * @module
 */

import { instancesOf } from "../../lib/channel/management/instances_of.ts";
import { readSection } from "../../lib/channel/setup/read_section.ts";
import type { Config } from "../../lib/config/schema.ts";
import { explainListen, hostPort } from "../../lib/listen/explain_listen.ts";
import type { ChannelRegistry } from "../../lib/registry/channel_registry.ts";
import { sectionOf } from "../../lib/registry/worker_source_of.ts";
import type { Finding } from "./check.ts";
import type { ServiceStatus } from "./check_service.ts";

/** What it looks at. */
export interface CheckPortsOptions {
  config: Config;
  registry: ChannelRegistry;
  /** Absent: no service runs. */
  status: ServiceStatus | undefined;
  listen(options: { hostname: string; port: number }): { close(): void };
  /** Who listens on a port, for people. */
  owner(port: number): Promise<string | undefined>;
}

/** A port that a start opens. */
interface Wanted {
  /** Section of the configuration. */
  setting: string;
  /** Field of its port. */
  field: string;
  host: string;
  port: number;
  /** Where the running service serves it. */
  servedAt?: string;
}

/** A finding for each port that is wanted; the API's also where it is off, which `serve` would open. */
export async function checkPorts(options: CheckPortsOptions): Promise<Finding[]> {
  const { config: { api, channels: { websocket } }, status } = options;
  const wanted: Wanted[] = [{ setting: "api", field: "port", ...api, servedAt: status?.api_url }];
  if (websocket.enabled && websocket.socketPath === "") {
    const servedAt = status?.ws_url;
    wanted.push({ setting: "channels.websocket", field: "port", ...websocket, servedAt });
  }
  // Those of a running service have their ports, and say so when they don't.
  if (status === undefined) wanted.push(...channelPorts(options));
  const findings: Finding[] = [];
  for (const one of wanted) findings.push(await checkPort(one, options));
  return findings;
}

async function checkPort(
  { setting, field, host, port, servedAt }: Wanted,
  { config, status, listen, owner }: CheckPortsOptions,
): Promise<Finding> {
  const where = `${setting}: ${hostPort(host, port)}`;
  if (port === 0) return { status: "ok", detail: `${setting}: any free port` };
  if (status !== undefined && servedAt !== undefined && URL.parse(servedAt)?.port === `${port}`) {
    return { status: "ok", detail: `${where} is served by process ${status.pid}` };
  }
  try {
    listen({ hostname: host, port }).close();
    return { status: "ok", detail: `${where} is free` };
  } catch (error) {
    const needed = setting !== "api" || config.api.enabled;
    if (!(error instanceof Deno.errors.AddrInUse)) {
      const { message } = explainListen(error, { host, port, setting });
      const fix = `Change it with: service config set ${setting}.host ADDRESS`;
      return { status: needed ? "fail" : "warn", detail: message, fix };
    }
    const who = await owner(port) ?? "another program";
    return {
      status: needed ? "fail" : "warn",
      detail: `${where} is in use by ${who}`,
      fix: `Stop that program, or choose another port: service config set ${setting}.${field} PORT`,
    };
  }
}

/** Ports of enabled channels, by the fields of their contracts that say that they listen. */
function channelPorts({ config, registry }: CheckPortsOptions): Wanted[] {
  return [...registry.usable.values()].flatMap((channel) => {
    const { descriptor } = channel;
    if (descriptor.name === "websocket") return [];
    const fields = descriptor.setup.fields;
    const host = Object.keys(fields).find((name) => /listen at/i.test(fields[name]!.label ?? ""));
    const field = host?.replace(/host$/i, (word) => word === "host" ? "port" : "Port");
    if (host === undefined || field === undefined || fields[field]?.kind !== "int") return [];
    try {
      return instancesOf(channel, sectionOf(config, channel)).filter(({ enabled }) => enabled)
        .flatMap(({ section, instanceId }) => {
          const { values } = readSection(section, descriptor);
          // Channels that can do without a port say by their mode that they take one.
          const listens = values.mode === undefined ||
            ["http", "webhook"].includes(`${values.mode}`);
          if (!listens || typeof values[field] !== "number" || !values[host]) return [];
          const at = instanceId === undefined || instanceId === "default"
            ? ""
            : `.accounts.${instanceId}`;
          return [{
            setting: `channels.${descriptor.name}${at}`,
            field,
            host: String(values[host]),
            port: values[field],
          }];
        });
    } catch {
      // A section that can't be read is told of by the check of channels.
      return [];
    }
  });
}
