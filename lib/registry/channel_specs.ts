/**
 * The instances of channels as the service is told of them: without a secret.
 *
 * @module
 */

import { channelWorkerPermissions } from "../channel_worker/worker_permissions.ts";
import { canonicalJson } from "../base/canonical_json.ts";
import { toErrorData } from "../base/errors.ts";
import { hmacSha256 } from "../base/sha256.ts";
import type { ChannelSpec } from "../channel/channel_spec.ts";
import { type ChannelInstance, instancesOf } from "../channel/management/instances_of.ts";
import { readSection } from "../channel/setup/read_section.ts";
import { withChannelFlags } from "../channel/with_channel_flags.ts";
import type { UsableChannel } from "./channel_registry.ts";
import { sharedTokenProblem } from "./shared_token.ts";
import {
  type ConfiguredChannels,
  sectionOf,
  strangeSections,
  unknownChannel,
  workerSource,
} from "./worker_source_of.ts";

/** What specs are made of. */
export interface SpecInputs extends ConfiguredChannels {
  /**
   * Random bytes of this process. A fingerprint is made with them, so that nobody can try short secrets
   * against it.
   */
  fingerprintKey: Uint8Array;
  /** How often an instance was connected, by its runtime name: each time it is started anew. */
  connections?: ReadonlyMap<string, number>;
}

/**
 * A spec for each instance that has a worker of its own, switched on or not, in the order of the channels.
 * What is broken is there with its problem, and hurts no other.
 */
export function channelSpecs(inputs: SpecInputs): ChannelSpec[] {
  const { registry, config } = inputs;
  const specs = [...registry.usable.values()]
    .filter(({ descriptor }) => !descriptor.capabilities.includes("in_service"))
    .flatMap((channel) => specsOf(inputs, channel));
  for (const { folder, problem } of registry.broken) {
    const section: unknown = Object.hasOwn(config.channels, folder)
      ? config.channels[folder]
      : undefined;
    const enabled = typeof section === "object" && section !== null && "enabled" in section &&
      section.enabled === true;
    // A folder may stand twice in the map; whoever has the name keeps it.
    if (!specs.some(({ runtimeName }) => runtimeName === folder)) {
      specs.push(brokenSpec(inputs, folder, enabled, problem));
    }
  }
  for (const name of strangeSections(inputs)) {
    specs.push(brokenSpec(inputs, name, true, `${unknownChannel(name)}; remove channels.${name}`));
  }
  return specs;
}

function specsOf(inputs: SpecInputs, channel: UsableChannel): ChannelSpec[] {
  const { descriptor } = channel;
  const section = sectionOf(inputs.config, channel);
  let instances: ChannelInstance[];
  try {
    instances = instancesOf(channel, section);
  } catch (error) {
    const { enabled } = readSection(section, descriptor).values;
    const { message } = toErrorData(error);
    return [{
      ...brokenSpec(inputs, descriptor.name, enabled === true, message),
      displayName: descriptor.displayName,
    }];
  }
  return instances.map((instance, index) => {
    const spec = specOf(inputs, channel, instance);
    const problem = spec.problem ??
      sharedTokenProblem(channel, instance, instances.slice(0, index));
    return problem === undefined ? spec : { ...spec, problem };
  });
}

function specOf(
  inputs: SpecInputs,
  channel: UsableChannel,
  instance: ChannelInstance,
): ChannelSpec {
  const { descriptor: { name, displayName, capabilities, senderVerified } } = channel;
  const { channels } = inputs.config;
  const { instanceId, runtimeName, enabled, section } = instance;
  const { values } = readSection(section, channel.descriptor);
  const { sendProgress, sendToolHints, showReasoning } = withChannelFlags(values, channels);
  const spec: ChannelSpec = {
    runtimeName,
    channel: name,
    ...instanceId !== undefined && { instanceId },
    displayName: runtimeName === name ? displayName : `${displayName} (${instanceId})`,
    enabled,
    capabilities,
    senderVerified,
    flags: { sendProgress, sendToolHints, showReasoning },
    sendMaxRetries: Math.max(1, Number(values.sendMaxRetries ?? channels.sendMaxRetries)),
    catchUpS: Number(values.catchUpS ?? channels.catchUpS),
    fingerprint: "",
  };
  try {
    const source = workerSource(inputs, channel, instance, "runtime");
    // What no worker can be started with is told before one is tried.
    channelWorkerPermissions({ ...source.boot, permissions: source.permissions });
    const connections = inputs.connections?.get(runtimeName) ?? 0;
    return { ...spec, fingerprint: fingerprint(inputs, { ...source, connections }) };
  } catch (error) {
    const { message: problem } = toErrorData(error);
    // What is switched off does not have to be complete.
    return {
      ...spec,
      fingerprint: fingerprint(inputs, { section, problem }),
      ...enabled && { problem },
    };
  }
}

function brokenSpec(
  inputs: SpecInputs,
  name: string,
  enabled: boolean,
  problem: string,
): ChannelSpec {
  const { channels } = inputs.config;
  const { sendProgress, sendToolHints, showReasoning, sendMaxRetries, catchUpS } = channels;
  return {
    runtimeName: name,
    channel: name,
    displayName: name,
    enabled,
    capabilities: [],
    senderVerified: false,
    flags: { sendProgress, sendToolHints, showReasoning },
    sendMaxRetries: Math.max(1, sendMaxRetries),
    catchUpS,
    fingerprint: fingerprint(inputs, problem),
    problem,
  };
}

function fingerprint({ fingerprintKey }: SpecInputs, value: unknown): string {
  return hmacSha256(fingerprintKey, canonicalJson(value)).toHex();
}
