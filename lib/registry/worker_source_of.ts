/**
 * What a worker is made of, from the configuration as it is now.
 *
 * @module
 */

import { channelSections } from "../config/channel_sections.ts";
import type { Config } from "../config/schema.ts";
import { ServiceError } from "../base/errors.ts";
import { type ChannelInstance, instancesOf } from "../channel/management/instances_of.ts";
import type { Section } from "../channel/management.ts";
import { fillPermissions } from "../channel/permission_fields.ts";
import type { WorkerSource } from "../channel_worker/worker_source.ts";
import type { WorkerBoot } from "../channel_worker/protocol.ts";
import { channelStateDir } from "../base/state_dir.ts";
import { readSection } from "../channel/setup/read_section.ts";
import { resolvedConfig } from "../channel/setup/resolved_config.ts";
import { withChannelFlags } from "../channel/with_channel_flags.ts";
import type { ChannelRegistry, UsableChannel } from "./channel_registry.ts";

/** What there is, and how it is configured: references replaced. */
export interface ConfiguredChannels {
  registry: ChannelRegistry;
  config: Pick<Config, "channels">;
  /** Folder of the home's data. */
  dataDir: string;
}

/** Which worker. */
export interface WorkerAsked {
  runtimeName: string;
  /** By default the runtime. */
  kind?: WorkerBoot["kind"];
  /** Whether it may be one that is switched off, such as to log it in. */
  mayBeOff?: boolean;
}

/**
 * What the worker of an instance is started with. Throws `not_found` for a name that nobody has,
 * `not_enabled` for one that is off, and `config_invalid` for a section that is wrong or, for a runtime,
 * not complete. A check and a connector are given what there is so far.
 */
export function workerSourceOf(
  configured: ConfiguredChannels,
  { runtimeName, kind = "runtime", mayBeOff = kind !== "runtime" }: WorkerAsked,
): WorkerSource {
  const channel = channelOf(configured.registry, runtimeName);
  const instance = instancesOf(channel, sectionOf(configured.config, channel))
    .find((one) => one.runtimeName === runtimeName);
  if (instance === undefined) {
    throw new ServiceError("not_found", `There is no channel ${runtimeName}`, { param: "channel" });
  }
  if (!instance.enabled && !mayBeOff) {
    throw new ServiceError("not_enabled", `The channel ${runtimeName} is switched off`);
  }
  return workerSource(configured, channel, instance, kind);
}

/** The section of a channel; empty where the configuration has none. */
export function sectionOf(
  { channels }: Pick<Config, "channels">,
  { descriptor: { name } }: Pick<UsableChannel, "descriptor">,
): Section {
  const section: unknown = Object.hasOwn(channels, name) ? channels[name] : undefined;
  return typeof section === "object" && section !== null && !Array.isArray(section)
    ? section as Section
    : {};
}

/** What one is made of; throws as {@linkcode workerSourceOf}. */
export function workerSource(
  { config, dataDir }: Omit<ConfiguredChannels, "registry">,
  channel: UsableChannel,
  { runtimeName, section }: Pick<ChannelInstance, "runtimeName" | "section">,
  kind: WorkerBoot["kind"],
): WorkerSource {
  const { descriptor } = channel;
  const target = channel[kind];
  if (target === undefined) {
    throw new ServiceError("not_found", `The channel ${descriptor.name} has no ${kind}`, {
      param: "channel",
    });
  }
  const values = kind === "runtime"
    ? {
      // A runtime that asks a platform for what it has kept need not ask for more.
      catchUpS: config.channels.catchUpS,
      ...resolvedConfig(section, { ...descriptor, name: runtimeName }, config.channels),
    }
    : withChannelFlags(readSection(section, descriptor).values, config.channels);
  const secrets = Object.entries(descriptor.setup.fields)
    .filter(([, field]) => field.kind === "secret")
    .map(([name]) => (values as Section)[name])
    .filter((value): value is string => typeof value === "string" && value !== "");
  return {
    boot: {
      runtimeName,
      module: target.module,
      exportName: target.exportName,
      kind,
      config: values,
      stateDir: channelStateDir(dataDir, runtimeName),
      secrets,
      allowLocalServiceAccess: config.channels.allowLocalServiceAccess,
    },
    permissions: fillPermissions(descriptor.permissions, values, `channels.${runtimeName}`),
    dependencies: descriptor.dependencies,
  };
}

/** The channel that a runtime name is of: no name of a channel holds a dot. */
function channelOf({ usable, broken }: ChannelRegistry, runtimeName: string): UsableChannel {
  const [name = ""] = runtimeName.split(".");
  const channel = usable.get(name);
  if (channel !== undefined) return channel;
  const fault = broken.find(({ folder }) => folder === name);
  if (fault !== undefined) throw new ServiceError("config_invalid", fault.problem);
  throw new ServiceError("not_found", `${unknownChannel(name)}${known(usable)}`, {
    param: "channel",
  });
}

/** `There is no channel telegrm`. */
export function unknownChannel(name: string): string {
  return `There is no channel ${JSON.stringify(name.slice(0, 80))}`;
}

function known(usable: ChannelRegistry["usable"]): string {
  return `; there are ${[...usable.keys()].join(", ")}`;
}

/** Sections that are switched on and that no package is for. */
export function strangeSections(
  { registry, config }: Omit<ConfiguredChannels, "dataDir">,
): string[] {
  const folders = new Set([
    ...registry.usable.keys(),
    ...registry.broken.map(({ folder }) => folder),
  ]);
  return Object.entries(channelSections(config.channels))
    .filter(([name, { enabled }]) => enabled === true && !folders.has(name))
    .map(([name]) => name);
}
