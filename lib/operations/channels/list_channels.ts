/**
 * Channels as a settings page shows them, from the configuration alone: no runtime is loaded, and a
 * channel that is broken is there with what is wrong.
 *
 * @module
 */

import type { FeatureMetadata } from "../../channel/base_channel.ts";
import { call, frozen } from "../../channel/management/instances_of.ts";
import { type InstanceView, instanceViews } from "../../channel/management/instance_views.ts";
import type { Section } from "../../channel/management.ts";
import { stateFiles } from "../../base/state_dir.ts";
import type { ChannelRegistry, UsableChannel } from "../../registry/channel_registry.ts";
import { strangeSections, unknownChannel } from "../../registry/worker_source_of.ts";
import { sectionFields } from "../../channel/setup/common_fields.ts";
import { sectionView } from "../../channel/setup/section_view.ts";
import type { Examined } from "../../settings/examine.ts";
import { toErrorData } from "../../base/errors.ts";
import type { ChannelInstanceListing, ChannelListing } from "./channel_listing.ts";
import { workerProblems } from "./worker_problems.ts";
import { sectionsIn } from "./plan_section.ts";

/** What listings are made of. */
export interface ListingInputs {
  registry: ChannelRegistry;
  examined: Examined;
  /** What platforms say of instances, by runtime name. */
  features: Readonly<Record<string, FeatureMetadata>>;
  /** Of the home: the folders of instances lie there. */
  dataDir: string;
}

/** The language of manifests and code. */
const ENGLISH = "en";

/** Every channel: the usable in the order of their folders, then the broken. */
export function listChannels(inputs: ListingInputs): ChannelListing[] {
  const { registry: { usable, broken }, registry, examined } = inputs;
  const { config } = examined;
  const strange = config === undefined ? [] : strangeSections({ registry, config });
  return [
    ...[...usable.values()].map((channel) => listChannel(channel, inputs)),
    ...broken.map(({ folder, problem }) => brokenListing(folder, problem, examined)),
    ...strange.map((name) =>
      brokenListing(name, `${unknownChannel(name)}; remove channels.${name}`, examined)
    ),
  ];
}

/** One channel. */
export function listChannel(
  channel: UsableChannel,
  { examined, features, dataDir }: Omit<ListingInputs, "registry">,
): ChannelListing {
  const { descriptor, adapter, connector } = channel;
  const { written, resolved } = sectionsIn(examined, descriptor.name);
  const whole = sectionView(resolved, written, descriptor);
  const { enabled: _, ...fields } = sectionFields(descriptor);
  const listing: ChannelListing = {
    name: descriptor.name,
    displayName: descriptor.displayName,
    enabled: whole.configValues.enabled === true,
    configured: whole.configured,
    missing: whole.missing,
    ...problemOf(whole.problems),
    fields,
    ...descriptor.setup.summary !== undefined && { summary: descriptor.setup.summary },
    steps: descriptor.setup.steps ?? [],
    locale: ENGLISH,
    locales: [ENGLISH, ...descriptor.locales ?? []],
    capabilities: descriptor.capabilities,
    connects: connector !== undefined,
    multiInstance: adapter !== undefined,
    configValues: whole.configValues,
    configuredFields: whole.configuredFields,
    instances: [],
  };
  let views: InstanceView[];
  let instances: ChannelInstanceListing[];
  try {
    const { config } = examined;
    const impossible = config === undefined
      ? new Map<string, string>()
      : workerProblems(channel, resolved, { config, dataDir });
    views = instanceViews(channel, resolved, written).map((view) => {
      const problem = impossible.get(view.runtimeName);
      return problem === undefined
        ? view
        : { ...view, configured: false, problems: [...view.problems, problem] };
    });
    instances = views.map((view) => ({
      ...instanceListing(view, features),
      ...localState(channel, view, resolved, dataDir),
    }));
  } catch (error) {
    return { ...listing, configured: false, problem: toErrorData(error).message };
  }
  if (adapter === undefined) {
    const [{ configured, problems }] = views as [InstanceView];
    return { ...listing, configured, ...problemOf(problems), instances };
  }
  // What one account lacks may stand in another, so the whole is what those are that count.
  const counting = views.filter(({ enabled }) => enabled);
  const judged = counting.length > 0 ? counting : views;
  const problems = judged.flatMap(({ id, problems }) => problems.map((each) => `${id}: ${each}`));
  const { problem: __, ...rest } = listing;
  return {
    ...rest,
    enabled: counting.length > 0,
    configured: judged.every(({ configured }) => configured),
    missing: [...new Set(judged.flatMap(({ missing }) => missing))],
    ...problemOf(problems),
    instances,
  };
}

function instanceListing(
  view: InstanceView,
  features: ListingInputs["features"],
): ChannelInstanceListing {
  const { id, runtimeName, enabled, configured, missing, problems } = view;
  const told = Object.hasOwn(features, runtimeName) ? features[runtimeName] : undefined;
  const { name = told?.name, displayName = told?.displayName, avatarUrl = told?.avatarUrl } = view;
  return {
    id,
    runtimeName,
    enabled,
    configured,
    missing,
    ...problemOf(problems),
    configValues: view.configValues,
    configuredFields: view.configuredFields,
    ...name !== undefined && { name },
    ...displayName !== undefined && { displayName },
    ...avatarUrl !== undefined && { avatarUrl },
  };
}

/** What the adapter says of a login that is kept; nothing where it does not tell. */
function localState(
  { descriptor: { name }, adapter }: UsableChannel,
  { id, runtimeName }: InstanceView,
  section: Section,
  dataDir: string,
): { localStatePresent?: boolean } {
  if (adapter?.localStatePresent === undefined) return {};
  const files = stateFiles(dataDir, runtimeName);
  const says: unknown = call(
    name,
    "localStatePresent",
    () => adapter.localStatePresent!(frozen(section), id, files),
  );
  return { localStatePresent: says === true };
}

/** One that cannot be used. */
export function brokenListing(name: string, problem: string, examined: Examined): ChannelListing {
  return {
    name,
    displayName: name,
    enabled: sectionsIn(examined, name).resolved.enabled === true,
    configured: false,
    problem,
    missing: [],
    fields: {},
    steps: [],
    locale: ENGLISH,
    locales: [ENGLISH],
    capabilities: [],
    connects: false,
    multiInstance: false,
    configValues: {},
    configuredFields: [],
    instances: [],
  };
}

function problemOf(problems: readonly string[]): { problem?: string } {
  return problems.length === 0 ? {} : { problem: problems.join("; ") };
}
