/**
 * Changes of channels' settings: held against the contract, the package's own check and the rest of the
 * configuration, then written whole or not at all, on record like every other change of the settings.
 *
 * @module
 */

import type { SetupFinding } from "../../channel/descriptor.ts";
import type { Section } from "../../channel/management.ts";
import { misdirectedSecret } from "../../channel/management/misdirected_secret.ts";
import { switchSection, updateSection } from "../../channel/management/update_section.ts";
import type { ChannelRegistry, UsableChannel } from "../../channel/registry/channel_registry.ts";
import { strangeSections } from "../../channel/registry/place_source_of.ts";
import { readPatch } from "../../channel/setup/apply_values.ts";
import { sectionFields } from "../../channel/setup/common_fields.ts";
import { readSection } from "../../channel/setup/read_section.ts";
import { examine } from "../../config/examine.ts";
import { formatPath, type KeyPath } from "../../config/key_path.ts";
import { readConfig } from "../../config/load.ts";
import { requirePinnedCases } from "../../config/pinned_cases.ts";
import type { Env } from "../../config/references.ts";
import { configSchema } from "../../config/schema.ts";
import { nodeAt } from "../../config/schema_tree.ts";
import { ServiceError } from "../../errors.ts";
import { isEditable } from "../upkeep/editable_keys.ts";
import { untilWritten, writeSettings, type WriteSettingsDeps } from "../upkeep/write_settings.ts";
import type { ChannelPlaces } from "./channel_places.ts";
import type { ChannelRequest } from "./channel_request.ts";
import { findChannel, requireKnown } from "./find_channel.ts";
import { type PlannedSection, planSection } from "./plan_section.ts";
import {
  contractFindings,
  instanceIn,
  instancesIn,
  isReady,
  packageFindings,
} from "./section_findings.ts";

/** What changes are made with. */
export interface ChannelChangesDeps extends WriteSettingsDeps {
  registry: ChannelRegistry;
  env: Env;
  places: Pick<ChannelPlaces, "validate">;
}

/** A change that is in the file. */
export interface ChangedChannel {
  /** Absent for one that only its section is left of. */
  channel?: UsableChannel;
  /** False: the file held all of it already. */
  written: boolean;
  planned: PlannedSection;
  findings: SetupFinding[];
}

type Asked<Op extends ChannelRequest["op"]> = Omit<Extract<ChannelRequest, { op: Op }>, "op">;

/** See the module. */
export class ChannelChanges {
  readonly #deps: ChannelChangesDeps;

  constructor(deps: ChannelChangesDeps) {
    this.#deps = deps;
  }

  /** What the settings, with these values, lack or get wrong. Nothing is written. */
  async validate(
    { name, values, instanceId }: Asked<"channels.validate">,
  ): Promise<SetupFinding[]> {
    const channel = findChannel(this.#deps.registry, name);
    const { right, wrong } = sortValues(channel, values);
    const { text } = await readConfig(this.#deps);
    const planned = this.#planValues(channel, text, { values: right, instanceId });
    const instance = instanceIn(channel, planned.after, instanceId);
    const found = [...wrong, ...contractFindings(channel, instance, "error")];
    // The package is asked about what could be written, and about nothing else.
    return wrong.length > 0 ? found : [...found, ...await this.#ask(channel, planned, instance)];
  }

  /** Writes values. `by` stands in the record. */
  async set(
    { name, values, instanceId }: Asked<"channels.set">,
    by: string,
  ): Promise<ChangedChannel> {
    const channel = findChannel(this.#deps.registry, name);
    return await untilWritten(async () => {
      const { text } = await readConfig(this.#deps);
      const planned = this.#planValues(channel, text, { values, instanceId });
      requireEditable(planned.keys);
      const instance = instanceIn(channel, planned.after, instanceId);
      const findings = [
        ...contractFindings(channel, instance, "warning"),
        ...await this.#ask(channel, planned, instance),
      ];
      const error = findings.find(({ level }) => level === "error");
      if (error !== undefined) throw refusedFor(error);
      requireStillReady(channel, planned);
      return await this.#write({ channel, planned, findings, text, by });
    });
  }

  /** Switches the channel, or one instance, on or off. */
  async switchTo(
    enabled: boolean,
    { name, instanceId }: Asked<"channels.enable">,
    by: string,
  ): Promise<ChangedChannel> {
    const { registry, paths, env } = this.#deps;
    return await untilWritten(async () => {
      const { text } = await readConfig(this.#deps);
      const channel = registry.usable.get(name);
      if (channel === undefined) {
        // What is broken, or left over, can be switched off all the same.
        if (enabled || instanceId !== undefined) findChannel(registry, name);
        const { config } = examine({ text, paths, env });
        const strange = config === undefined ? [] : strangeSections({ registry, config });
        requireKnown(registry, name, strange);
      }
      const edit = (section: Section): Section =>
        channel === undefined
          ? { ...section, enabled }
          : switchSection({ channel, section, instanceId, enabled });
      const planned = planSection({ text, name, edit, paths, env });
      requireEditable(planned.keys);
      const findings = channel !== undefined && enabled
        ? switchedOnFindings(channel, planned, instanceId)
        : [];
      return await this.#write({ channel, planned, findings, text, by });
    });
  }

  #planValues(
    channel: UsableChannel,
    text: string | undefined,
    { values, instanceId }: Pick<Asked<"channels.set">, "values" | "instanceId">,
  ): PlannedSection {
    const { paths, env } = this.#deps;
    const { descriptor: { name } } = channel;
    const edit = (section: Section) => updateSection({ channel, section, values, instanceId });
    const planned = planSection({ text, name, edit, paths, env });
    refuseMoved(channel, planned, values);
    return planned;
  }

  #ask(
    channel: UsableChannel,
    planned: PlannedSection,
    instance: ReturnType<typeof instanceIn>,
  ): Promise<SetupFinding[]> {
    const { places, paths: { dataDir } } = this.#deps;
    return packageFindings(channel, instance, { next: planned.next, places, dataDir });
  }

  async #write(
    { channel, planned, findings, text, by }: Omit<ChangedChannel, "written"> & {
      text: string | undefined;
      by: string;
    },
  ): Promise<ChangedChannel | undefined> {
    const written = planned.keys.length > 0;
    if (written) {
      const { paths } = this.#deps;
      await requirePinnedCases("Cannot change the settings", { config: planned.next, paths });
      if (!await writeSettings(planned, text, by, this.#deps)) return undefined;
    }
    return { channel, planned, findings, written };
  }
}

/**
 * What is to be said of instances that are switched on. Throws `invalid_request`, naming what is missing,
 * when none of them could start.
 */
export function switchedOnFindings(
  channel: UsableChannel,
  { after }: Pick<PlannedSection, "after">,
  instanceId: string | undefined,
): SetupFinding[] {
  const on = instancesIn(channel, after).filter((one) =>
    one.enabled && (instanceId === undefined || one.instanceId === instanceId)
  );
  const unready = on.filter((one) => !isReady(channel, one));
  const findings = unready.flatMap((one) =>
    contractFindings(channel, one, "error").map(({ field, message }): SetupFinding => ({
      level: "warning",
      ...field !== undefined && { field },
      message: one.instanceId === undefined ? message : `${one.instanceId}: ${message}`,
    }))
  );
  const { name } = channel.descriptor;
  if (on.length === 0) {
    findings.push({ level: "warning", message: `Every instance of ${name} is switched off` });
  } else if (unready.length === on.length) {
    throw new ServiceError(
      "invalid_request",
      `Cannot enable ${name}: ${findings.map(({ message }) => message).join("; ")}. ` +
        "Nothing was written",
      { param: findings[0]?.field },
    );
  }
  return findings;
}

/** Values that may be set, and what is wrong with the others. Throws for a field that there is not. */
function sortValues(
  { descriptor }: UsableChannel,
  values: Section,
): { right: Record<string, unknown>; wrong: SetupFinding[] } {
  const fields = sectionFields(descriptor);
  const right: Record<string, unknown> = {};
  const wrong: SetupFinding[] = [];
  for (const [key, value] of Object.entries(values)) {
    try {
      readPatch({ [key]: value }, descriptor);
      right[key] = value;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { param = "" } = error.details;
      if (!Object.hasOwn(fields, param) || param === "enabled") throw error;
      const message = error.message.replace(/\. Nothing was written$/, "");
      wrong.push({ level: "error", field: param, message });
    }
  }
  return { right, wrong };
}

/** Whoever gives a secret anew knows it, and may send it anywhere. */
function refuseMoved(channel: UsableChannel, planned: PlannedSection, values: Section): void {
  const { setup: { fields } } = channel.descriptor;
  const { values: given } = readSection(values, channel.descriptor);
  const known = new Set(
    Object.keys(fields).filter((name) => fields[name]!.kind === "secret")
      .map((name) => given[name]).filter((value) => value !== ""),
  );
  const forgotten = without(planned.before.resolved, known) as Section;
  const found = misdirectedSecret(channel, forgotten, planned.after.resolved);
  if (found === undefined) return;
  throw new ServiceError(
    "refused",
    `${found.field} would take a secret that is stored for ${found.runtimeName}, or for another ` +
      "instance, to another place; give the secret anew with it. Nothing was written",
    { param: found.field },
  );
}

function without(value: unknown, texts: ReadonlySet<unknown>): unknown {
  if (texts.has(value)) return "";
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, without(each, texts)]),
  );
}

/** Of a section that the schema knows, the port changes no more than by the routes of the settings. */
function requireEditable(keys: readonly KeyPath[]): void {
  const closed = keys.find((path) => nodeAt(configSchema, path) !== undefined && !isEditable(path));
  if (closed === undefined) return;
  const name = formatPath(closed);
  throw new ServiceError(
    "refused",
    `${name} has a part in who comes in or what is reached; change it at the command line: ` +
      `service config set ${name}`,
    { param: String(closed.at(-1)) },
  );
}

/** What runs is not taken what it needs. */
function requireStillReady(channel: UsableChannel, { before, after }: PlannedSection): void {
  const ready = new Set(
    instancesIn(channel, before).filter((one) => one.enabled && isReady(channel, one))
      .map(({ runtimeName }) => runtimeName),
  );
  for (const one of instancesIn(channel, after)) {
    if (!one.enabled || !ready.has(one.runtimeName)) continue;
    const [finding] = contractFindings(channel, one, "error");
    if (finding === undefined) continue;
    throw new ServiceError(
      "invalid_request",
      `${finding.message}, and ${one.runtimeName} is switched on: disable it first. ` +
        "Nothing was written",
      { param: finding.field },
    );
  }
}

function refusedFor({ field, message }: SetupFinding): ServiceError {
  return new ServiceError("invalid_request", `${message}. Nothing was written`, { param: field });
}
