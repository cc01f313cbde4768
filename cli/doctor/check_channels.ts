/**
 * Whether the packages of channels can be used, and those that are switched on can start. No runtime is
 * loaded, and nobody is asked.
 *
 * @module
 */

import { instancesOf } from "../../lib/channel/management/instances_of.ts";
import { channelSpecs } from "../../lib/registry/channel_specs.ts";
import type { ChannelRegistry, UsableChannel } from "../../lib/registry/channel_registry.ts";
import { sectionOf } from "../../lib/registry/worker_source_of.ts";
import { unknownChannelKeys } from "../../lib/registry/unknown_channel_keys.ts";
import { readSection } from "../../lib/channel/setup/read_section.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { Config } from "../../lib/config/schema.ts";
import type { Finding } from "./check.ts";

/** What it looks at. */
export interface CheckChannelsOptions {
  registry: ChannelRegistry;
  /** Absent: there is none that loads. */
  config?: Pick<Config, "channels">;
  paths: Pick<HomePaths, "dataDir" | "configFile">;
}

/** What is broken, each for itself; what works in one line. */
export function checkChannels(
  { registry, config, paths: { dataDir, configFile } }: CheckChannelsOptions,
): Finding[] {
  const findings: Finding[] = registry.broken.map(({ problem }) => ({
    status: "fail",
    detail: problem,
    fix: "Fix the package or remove its folder. Other channels keep working",
  }));
  const names = [...registry.usable.keys()];
  if (config === undefined) return [...findings, { status: "ok", detail: names.join(", ") }];
  const broken = new Set(registry.broken.map(({ folder }) => folder));
  // Of nothing here is a fingerprint compared.
  const specs = channelSpecs({ registry, config, dataDir, fingerprintKey: new Uint8Array(32) })
    .filter(({ channel }) => !broken.has(channel));
  for (const { channel, problem } of specs) {
    if (problem === undefined) continue;
    findings.push({
      status: "fail",
      detail: problem,
      fix: `Fix it in ${configFile}` +
        (registry.usable.has(channel) ? ` (settings: service plugins info ${channel})` : "") +
        `, or disable the channel: service config set channels.${channel}.enabled false`,
    });
  }
  for (const detail of unknownChannelKeys({ registry, config })) {
    findings.push({ status: "warn", detail, fix: `Fix it in ${configFile}` });
  }
  const starting = specs.filter(({ enabled, problem }) => enabled && problem === undefined);
  for (const { runtimeName, channel, instanceId } of starting) {
    if (hearsSomebody(registry.usable.get(channel), config, instanceId)) continue;
    findings.push({
      status: "warn",
      detail: `${runtimeName} accepts messages from nobody: its allowFrom is empty`,
      fix: `service config set ${
        keyOf(channel, instanceId)
      }.allowFrom ID, with commas between several`,
    });
  }
  const on = starting.map(({ runtimeName }) => runtimeName);
  if (config.channels.websocket.enabled) on.unshift("websocket");
  const enabled = on.length === 0 ? "none enabled" : `enabled: ${on.join(", ")}`;
  return [...findings, { status: "ok", detail: `${names.length} available; ${enabled}` }];
}

function hearsSomebody(
  channel: UsableChannel | undefined,
  config: Pick<Config, "channels">,
  instanceId: string | undefined,
): boolean {
  if (channel === undefined) return true;
  const instance = instancesOf(channel, sectionOf(config, channel))
    .find((one) => one.instanceId === instanceId);
  const { allowFrom } = readSection(instance?.section ?? {}, channel.descriptor).values;
  return !Array.isArray(allowFrom) || allowFrom.length > 0;
}

/** Where the settings of an instance stand, with the adapter that packages share. */
function keyOf(channel: string, instanceId: string | undefined): string {
  return instanceId === undefined || instanceId === "default"
    ? `channels.${channel}`
    : `channels.${channel}.accounts.${instanceId}`;
}
