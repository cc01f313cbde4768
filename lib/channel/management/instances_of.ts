/**
 * The instances of a channel, by its adapter, held against the seven invariants of docs/channels.md
 * "Management adapter": whatever an adapter gives, no name is another's and no state is made up.
 *
 * @module
 */

import { isChannelName } from "../../base/chat_address.ts";
import { ServiceError, toErrorData } from "../../base/errors.ts";
import type { ChannelDescriptor } from "../descriptor.ts";
import type { ChannelInstanceSpec, ManagementAdapter, Section } from "../management.ts";
import { readSection } from "../setup/read_section.ts";

/** A channel, as far as its instances go by it. */
export interface ManagedChannel {
  descriptor: Pick<ChannelDescriptor, "name" | "setup" | "defaultActivation">;
  adapter?: ManagementAdapter;
}

/** An instance. */
export interface ChannelInstance {
  /** Absent for a channel that has one instance. */
  instanceId?: string;
  /** The channel's name, or one that begins with `<name>.`. */
  runtimeName: string;
  /** Its own configuration. */
  section: Section;
  enabled: boolean;
}

/** Instances of one channel. */
const MAX_INSTANCES = 1_000;

/**
 * Every instance, switched on or not. Throws `config_invalid`, which says what the adapter, or the section,
 * has to be like: the channel cannot start then, and nothing is made of its section.
 */
export function instancesOf(
  { descriptor, adapter }: ManagedChannel,
  section: Section,
): ChannelInstance[] {
  const { name } = descriptor;
  if (adapter === undefined) {
    const { enabled } = readSection(section, descriptor).values;
    return [{ runtimeName: name, section, enabled: enabled === true }];
  }
  const all = specsOf(name, adapter, section, false);
  const on = new Set(specsOf(name, adapter, section, true).map(({ instanceId }) => instanceId));
  const ids = new Set(all.map(({ instanceId }) => instanceId));
  for (const id of on) {
    if (!ids.has(id)) {
      throw fault(name, `gives the instance ${shown(id)} as switched on and not among all`);
    }
  }
  const taken = new Map<string, string>();
  return all.map(({ instanceId, config }) => {
    const runtimeName = runtimeNameOf(name, adapter, instanceId);
    const other = taken.get(runtimeName.toLowerCase());
    if (other !== undefined) {
      throw fault(
        name,
        `gives ${shown(other)} and ${shown(instanceId)} the same runtime name ${
          shown(runtimeName)
        }; ` +
          "names that differ in case alone count as the same",
      );
    }
    taken.set(runtimeName.toLowerCase(), instanceId);
    return { instanceId, runtimeName, section: config, enabled: on.has(instanceId) };
  });
}

/** The one source of routing names (invariants 2 and 3). */
function runtimeNameOf(name: string, adapter: ManagementAdapter, instanceId: string): string {
  const derived: unknown = adapter.runtimeName === undefined
    ? standardRuntimeName(name, instanceId)
    : call(name, "runtimeName", () => adapter.runtimeName!(name, instanceId));
  if (typeof derived !== "string") {
    throw fault(name, `gives the instance ${shown(instanceId)} no text as runtime name`);
  }
  if (derived !== name && !derived.startsWith(`${name}.`)) {
    throw fault(
      name,
      `gives the instance ${shown(instanceId)} the runtime name ${shown(derived)}: expected ` +
        `"${name}", or one that begins with "${name}."`,
    );
  }
  if (!isChannelName(derived)) {
    throw fault(
      name,
      `gives the instance ${shown(instanceId)} the runtime name ${
        shown(derived)
      }: expected A-Z, a-z, ` +
        `0-9, _ and - behind "${name}.", at most 128 characters in all`,
    );
  }
  return derived;
}

/** The instance `default` is called like its channel, any other `<name>.<id>`. */
function standardRuntimeName(channelName: string, instanceId: string): string {
  return instanceId === "default" ? channelName : `${channelName}.${instanceId}`;
}

/** What an adapter gives for a section that it cannot change. */
function specsOf(
  name: string,
  adapter: ManagementAdapter,
  section: Section,
  enabledOnly: boolean,
): ChannelInstanceSpec[] {
  const given: unknown = call(
    name,
    "instanceSpecs",
    () => adapter.instanceSpecs(frozen(section), enabledOnly),
  );
  if (!Array.isArray(given)) throw fault(name, "gives no list of instances");
  if (given.length > MAX_INSTANCES) {
    throw fault(name, `gives ${given.length} instances: expected at most ${MAX_INSTANCES}`);
  }
  const seen = new Set<string>();
  return given.map((spec: unknown, at) => {
    if (!isObject(spec)) throw fault(name, `gives as instance ${at} what is no object`);
    const { instanceId, config, ...rest } = spec;
    if (typeof instanceId !== "string" || instanceId.trim() === "") {
      throw fault(name, `gives instance ${at} a blank instanceId: expected a text`);
    }
    if (seen.has(instanceId)) {
      throw fault(name, `gives the instanceId ${shown(instanceId)} twice: each has to be its own`);
    }
    seen.add(instanceId);
    if (!isObject(config)) {
      throw fault(name, `gives the instance ${shown(instanceId)} no config: expected an object`);
    }
    const [extra] = Object.keys(rest);
    if (extra !== undefined) {
      throw fault(
        name,
        `gives the instance ${shown(instanceId)} the key ${shown(extra)}: an instance holds ` +
          "instanceId and config, and nothing else",
      );
    }
    return { instanceId, config };
  });
}

/** Runs a function of an adapter; what it throws is told as the channel's. */
export function call<T>(name: string, what: keyof ManagementAdapter, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const { message } = toErrorData(cause);
    throw new ServiceError(
      "config_invalid",
      `Cannot use channels.${name}: ${what} of its adapter says: ${message.slice(0, 500)}`,
      { param: `channels.${name}` },
      { cause },
    );
  }
}

/** A copy that nothing can be written to: an adapter reads. */
export function frozen(section: Section): Section {
  return freeze(structuredClone(section));
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.values(value)) freeze(inner);
    Object.freeze(value);
  }
  return value;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function fault(name: string, what: string): ServiceError {
  return new ServiceError(
    "config_invalid",
    `Cannot use channels.${name}: its adapter ${what}`,
    { param: `channels.${name}` },
  );
}
