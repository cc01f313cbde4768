/**
 * The manager of channels: a runner for each runtime name, and who has the name.
 *
 * @module
 */

import { settlesWithin } from "../../contract/life.ts";
import type { ChannelSpec } from "../../channel/channel_spec.ts";
import type { ChannelStatus } from "../../channel/channel_status.ts";
import type { Deliveries } from "../../channel/deliveries.ts";
import type { ChannelManager } from "./channel_manager.ts";
import { claimants } from "./claims.ts";
import { Runner, type RunnerDeps } from "./runner.ts";

/** What the manager is made of. */
export interface ChannelManagerDeps extends RunnerDeps {
  deliveries: Pick<Deliveries, "attach" | "wake" | "counts">;
}

/** Makes the manager; nothing runs before `configure`. */
export function createChannelManager(deps: ChannelManagerDeps): ChannelManager {
  const { clock, deliveries } = deps;
  const runners = new Map<string, Runner>();
  /** As they are configured, with the instance that has the name instead where one has not. */
  let entries: { spec: ChannelSpec; taken?: ChannelSpec; sinceMs: number }[] = [];
  let stopping: Promise<void> | undefined;

  function want(spec: ChannelSpec): void {
    const runner = runners.get(spec.runtimeName);
    if (runner !== undefined) return runner.want(spec);
    const { runtimeName } = spec;
    runners.set(runtimeName, new Runner(deps, spec, () => runners.delete(runtimeName)));
  }

  return {
    configure(specs) {
      if (stopping !== undefined) return;
      const chosen = claimants(specs, (name) => runners.get(name)?.holder);
      const holders = new Map([...chosen].map((spec) => [spec.runtimeName, spec]));
      entries = specs.map((spec) => ({
        spec,
        ...!chosen.has(spec) && { taken: holders.get(spec.runtimeName)! },
        sinceMs: clock.now(),
      }));
      for (const [name, runner] of runners) if (!holders.has(name)) runner.want(undefined);
      for (const spec of chosen) want(spec);
    },
    status() {
      return entries.map(({ spec, taken, sinceMs }): ChannelStatus => {
        const counts = deliveries.counts(spec.runtimeName);
        if (taken !== undefined) return { ...refused(spec, taken, sinceMs), deliveries: counts };
        const runner = runners.get(spec.runtimeName);
        return { ...runner?.status(spec) ?? atRest(spec, sinceMs), deliveries: counts };
      });
    },
    verify: (runtimeName, action) => runners.get(runtimeName)?.verify(action),
    stop(graceMs) {
      stopping ??= (async () => {
        const all = [...runners.values()];
        for (const runner of all) runner.retire(graceMs);
        const ended = Promise.all(all.map(({ done }) => done));
        if (await settlesWithin(clock, ended, graceMs)) return;
        // What cannot be ended in time (a worker that is being loaded, say) is ended when it can be.
        for (const runner of all) runner.hurry();
      })();
      return stopping;
    },
  };
}

function atRest(spec: ChannelSpec, since: number): Omit<ChannelStatus, "deliveries"> {
  const { runtimeName, channel, instanceId, displayName } = spec;
  return {
    runtimeName,
    channel,
    ...instanceId !== undefined && { instanceId },
    displayName,
    state: "off",
    since,
    restarts: 0,
  };
}

function refused(
  spec: ChannelSpec,
  holder: ChannelSpec,
  since: number,
): Omit<ChannelStatus, "deliveries"> {
  if (!spec.enabled) return atRest(spec, since);
  return {
    ...atRest(spec, since),
    state: "failed",
    problem: `The name "${spec.runtimeName}" belongs to ${nameOf(holder)} already: ` +
      "give one of them another id, or switch it off",
  };
}

function nameOf({ channel, instanceId }: ChannelSpec): string {
  return instanceId === undefined
    ? `the channel ${channel}`
    : `the instance "${instanceId}" of the channel ${channel}`;
}
