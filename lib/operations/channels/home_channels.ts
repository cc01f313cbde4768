/**
 * The channels of a home, where authority is: which there are, how they are configured, and the workers
 * that they run in. Loaded only where channels are run.
 *
 * @module
 */

import { systemClock } from "../../base/clock.ts";
import type { ChannelRegistry, UsableChannel } from "../../registry/channel_registry.ts";
import { channelSpecs } from "../../registry/channel_specs.ts";
import type { ChannelSpec } from "../../channel/channel_spec.ts";
import { unknownChannelKeys } from "../../registry/unknown_channel_keys.ts";
import type { TriedSandboxes } from "../../executor/tried_sandboxes.ts";
import type { HomePaths } from "../../config/paths.ts";
import type { Config } from "../../config/schema.ts";
import type { Log } from "../../base/log.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import type { SecretStore } from "../../state/secret_store.ts";
import type { ChannelModule } from "../../channel/channel_spec.ts";
import type { AuditLog } from "../../audit/log.ts";
import type { ChannelWorkers } from "./channel_workers.ts";
import { ChannelOperator } from "./operate_channels.ts";
import { openChannelWorkers } from "./open_channel_workers.ts";
import { findSender, type FoundSender, type StrangerAsked } from "./find_sender.ts";

/** What they are opened with. */
export interface HomeChannelsDeps {
  registry: ChannelRegistry;
  /** The one in force: live keys of it follow the file. */
  config: Config;
  paths: HomePaths;
  /** Folder of Deno's packages. */
  denoDir: string | undefined;
  sandboxes?: TriedSandboxes;
  /** The operators' sealed state. */
  state: { secrets: Pick<SecretStore, "deriveKey"> };
  env: (name: string) => string | undefined;
  scrubber: Pick<Scrubber, "text">;
  audit: AuditLog;
  /** Takes up the file now. */
  reload: () => Promise<void>;
  /** Tells the gateway of the specs as they are now. */
  tellSpecs: () => void;
  log: Log;
}

export interface HomeChannels {
  readonly workers: Pick<ChannelWorkers, "open">;
  readonly operator: ChannelOperator;
  /** Those that the service runs itself, switched on. */
  readonly served: readonly ChannelModule[];
  /** Those that have workers of their own, as they are configured now; what has no effect is logged. */
  specs(): ChannelSpec[];
  /** Whether senders of a channel are vouched for. */
  verifiesSenders(channel: string): boolean;
  /** Whether a sender may write now, or is a stranger who may be given a code. */
  senderOf(asked: StrangerAsked): FoundSender;
  /** Ends all workers, and resolves when nothing is asked of any of them. */
  shutdown(): Promise<void>;
}

/** Nothing is started by it. */
export function openHomeChannels(deps: HomeChannelsDeps): HomeChannels {
  const { registry, config, paths, log } = deps;
  const configured = () => ({ registry, config, dataDir: paths.dataDir });
  const fingerprintKey = crypto.getRandomValues(new Uint8Array(32));
  const usable = [...registry.usable.values()];
  const workers = openChannelWorkers({
    ...deps,
    configured,
    stateKey: (name) => deps.state.secrets.deriveKey(`channel ${name}`),
  });
  const connections = new Map<string, number>();
  const operator = new ChannelOperator({
    ...{ ...deps, workers, clock: systemClock },
    connected: (name) => void connections.set(name, (connections.get(name) ?? 0) + 1),
  });
  for (const { folder, problem } of registry.broken) {
    // One that is switched on is told of by whoever wants to start it.
    if (!isEnabled(config, folder)) log.warning("A channel is left out", { folder, problem });
  }
  return {
    workers,
    operator,
    served: usable.filter((channel) =>
      isServed(channel) && isEnabled(config, channel.descriptor.name)
    )
      .map(({ descriptor: { name }, runtime: { module, exportName } }) => ({
        name,
        module,
        className: exportName,
      })),
    specs() {
      for (const problem of unknownChannelKeys(configured())) log.warning(problem);
      const { scrubber } = deps;
      return channelSpecs({ ...configured(), fingerprintKey, connections }).map((spec) =>
        // An adapter that reads a section may say what stands in it.
        spec.problem === undefined ? spec : { ...spec, problem: scrubber.text(spec.problem) }
      );
    },
    verifiesSenders: (channel) => registry.usable.get(channel)?.descriptor.senderVerified === true,
    senderOf: (asked) => findSender(configured(), asked),
    async shutdown() {
      await Promise.all([operator.shutdown(), workers.shutdown()]);
    },
  };
}

function isServed({ descriptor }: UsableChannel): boolean {
  return descriptor.capabilities.includes("in_service");
}

function isEnabled({ channels }: Config, name: string): boolean {
  const section: unknown = Object.hasOwn(channels, name) ? channels[name] : undefined;
  return typeof section === "object" && section !== null && "enabled" in section &&
    section.enabled === true;
}
