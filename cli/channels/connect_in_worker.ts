/**
 * Connects an instance of a channel step by step, in a process with the permissions of that channel alone,
 * whether a service runs or not.
 *
 * @module
 */

import { systemClock } from "../../lib/base/clock.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { instancesOf } from "../../lib/channel/management/instances_of.ts";
import { withInstance } from "../../lib/channel/management/update_section.ts";
import { Connects, type ShownConnection } from "../../lib/operations/channels/connects.ts";
import type { WorkerSource } from "../../lib/channel_worker/worker_source.ts";
import type { UsableChannel } from "../../lib/registry/channel_registry.ts";
import {
  type ConfiguredChannels,
  sectionOf,
  workerSource,
} from "../../lib/registry/worker_source_of.ts";
import type { Globals } from "../command.ts";
import { homePaths } from "../home_paths.ts";
import type { Output } from "../output.ts";
import { noteLog } from "./note_log.ts";
import { openOwnWorkers } from "./open_own_workers.ts";
import { writeValues } from "./write_values.ts";

/** What is connected. */
export interface ConnectAsked {
  configured: ConfiguredChannels;
  channel: UsableChannel;
  instanceId: string | undefined;
}

/** One connection, while it is used. */
export interface OpenConnection {
  ask(
    action: "start" | "poll" | "cancel",
    query?: Readonly<Record<string, string>>,
  ): Promise<ShownConnection>;
  /** Whether what it brought changed the settings. */
  hasWritten(): boolean;
}

/** Gives `use` a connection, which ends with it. */
export async function connectInWorker<T>(
  asked: ConnectAsked,
  globals: Globals,
  out: Output,
  use: (connection: OpenConnection) => Promise<T>,
): Promise<T> {
  const { configured, channel, instanceId } = asked;
  const paths = homePaths(globals);
  const { name, setup: { fields } } = channel.descriptor;
  let hasWritten = false;
  const workers = openOwnWorkers({ configured, paths, log: noteLog(out) });
  const connects = new Connects({
    workers,
    isSecret: (_, field) => fields[field]?.kind === "secret",
    sourceOf: () => Promise.try(() => sourceIn(asked)),
    async apply({ values }) {
      const env = (variable: string) => Deno.env.get(variable);
      const changed = { channel, instanceId, values: () => values };
      hasWritten = await writeValues(changed, { paths, env }, out);
    },
    clock: systemClock,
  });
  try {
    return await use({
      ask: (action, query = {}) => connects.answer({ name, action, query, by: "cli" }),
      hasWritten: () => hasWritten,
    });
  } finally {
    connects.close();
    await workers.shutdown();
  }
}

/** Of an instance, also of one that is added by it. */
function sourceIn({ configured, channel, instanceId }: ConnectAsked): WorkerSource {
  const section = withInstance({
    channel,
    section: sectionOf(configured.config, channel),
    ...instanceId !== undefined && { instanceId },
  });
  const wanted = instanceId ?? (channel.adapter === undefined ? undefined : "default");
  const instance = instancesOf(channel, section).find((one) => one.instanceId === wanted);
  if (instance !== undefined) return workerSource(configured, channel, instance, "connector");
  const { name } = channel.descriptor;
  throw new ServiceError("not_found", `${name} has one instance, which has no id`);
}
