/**
 * What is wrong with an instance as it would be configured: by its contract, and then by the package's
 * own check. Writes nothing.
 *
 * @module
 */

import type { SetupFinding } from "../../channel/descriptor.ts";
import { type ChannelInstance, instancesOf } from "../../channel/management/instances_of.ts";
import type { UsableChannel } from "../../registry/channel_registry.ts";
import { workerSource } from "../../registry/worker_source_of.ts";
import { hostFindings } from "../../channel/setup/host_findings.ts";
import { missingRequirements } from "../../channel/setup/missing_requirements.ts";
import { readSection } from "../../channel/setup/read_section.ts";
import type { HomePaths } from "../../config/paths.ts";
import { ServiceError } from "../../base/errors.ts";
import type { ChannelWorkers } from "./channel_workers.ts";
import { ownFolders } from "./own_folders.ts";
import {
  channelWorkerPermissions,
  checkWorkerPaths,
} from "../../channel_worker/worker_permissions.ts";
import type { PlannedSection, ReadSections } from "./plan_section.ts";
import { withoutValues } from "./without_values.ts";

/** An instance, as it is written too. */
export interface FoundInstance extends ChannelInstance {
  written: ChannelInstance["section"];
}

/** Every instance of a section. Throws `config_invalid` as `instancesOf`. */
export function instancesIn(
  channel: UsableChannel,
  { written, resolved }: ReadSections,
): FoundInstance[] {
  const asWritten = new Map(
    instancesOf(channel, written).map((one) => [one.instanceId, one.section]),
  );
  return instancesOf(channel, resolved)
    .map((one) => ({ ...one, written: asWritten.get(one.instanceId) ?? {} }));
}

/** One of them: by default the only one, or `default`. Throws `not_found`. */
export function instanceIn(
  channel: UsableChannel,
  sections: ReadSections,
  instanceId: string | undefined,
): FoundInstance {
  const { adapter, descriptor: { name } } = channel;
  const wanted = adapter === undefined ? instanceId : instanceId ?? "default";
  const all = instancesIn(channel, sections);
  const found = all.find((one) => one.instanceId === wanted);
  if (found !== undefined) return found;
  const known = all.map(({ instanceId }) => instanceId).join(", ");
  throw new ServiceError(
    "not_found",
    `There is no instance ${JSON.stringify(wanted?.slice(0, 80))} of ${name}` +
      (known === "" ? "" : `; there are ${known}`),
    { param: "instance_id" },
  );
}

/** What the contract finds; `missing` is how what is not set is told. */
export function contractFindings(
  { descriptor }: UsableChannel,
  { section, written }: FoundInstance,
  missing: SetupFinding["level"],
): SetupFinding[] {
  const { values, problems } = readSection(section, descriptor, written);
  return [
    ...problems.map(({ field, message }): SetupFinding => ({ level: "error", field, message })),
    ...descriptor.setup.required.flatMap((requirement): SetupFinding[] => {
      const [words] = missingRequirements(values, [requirement]);
      return words === undefined
        ? []
        : [{ level: missing, field: requirement.fields[0], message: `${words} is not set` }];
    }),
  ];
}

/** Whether nothing keeps an instance from starting, as far as its contract says. */
export function isReady(channel: UsableChannel, instance: FoundInstance): boolean {
  return contractFindings(channel, instance, "error").length === 0;
}

/** What no worker can be started with, such as a range of hosts where one host belongs. */
async function workerFindings(
  channel: UsableChannel,
  instance: FoundInstance,
  { next, paths }: Pick<PlannedSection, "next"> & { paths: HomePaths },
): Promise<SetupFinding[]> {
  if (channel.descriptor.capabilities.includes("in_service")) return [];
  try {
    const { dataDir } = paths;
    const source = workerSource({ config: next, dataDir }, channel, instance, "runtime");
    const owner = { ...source.boot, permissions: source.permissions };
    channelWorkerPermissions(owner);
    await checkWorkerPaths(owner, ownFolders(paths));
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "config_invalid") throw error;
    return [{ level: "error", message: error.message }];
  }
}

/**
 * What the package's own check finds, unless there could be no worker for it. Nothing is asked about an
 * instance that is not whole.
 */
export async function packageFindings(
  channel: UsableChannel,
  instance: FoundInstance,
  { next, workers, paths }: Pick<PlannedSection, "next"> & {
    workers: Pick<ChannelWorkers, "validate">;
    paths: HomePaths;
  },
): Promise<SetupFinding[]> {
  if (!isReady(channel, instance)) return [];
  const impossible = await workerFindings(channel, instance, { next, paths });
  if (impossible.length > 0) return impossible;
  const { values } = readSection(instance.section, channel.descriptor);
  const { allowLocalServiceAccess } = next.channels;
  const hosts = hostFindings(channel.descriptor, values, allowLocalServiceAccess);
  const isRefused = hosts.some(({ level }) => level === "error");
  if (isRefused || channel.validator === undefined) return hosts;
  const { dataDir } = paths;
  const source = workerSource({ config: next, dataDir }, channel, instance, "validator");
  const scrub = withoutValues(source.boot.secrets);
  const found = await workers.validate(source, values);
  const scrubbed = found.map(({ level, field, message }) => ({
    level,
    ...field !== undefined && { field: scrub(field) },
    message: scrub(message),
  }));
  return [...hosts, ...scrubbed];
}
