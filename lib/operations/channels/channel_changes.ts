/**
 * Changes of channels' settings: held against the contract, the package's own check and the rest of the
 * configuration, then written whole or not at all, on record like every other change of the settings.
 *
 * @module
 */

import type { SetupFinding } from "../../channel/descriptor.ts";
import type { Section } from "../../channel/management.ts";
import { updateSection } from "../../channel/management/update_section.ts";
import type { ChannelRegistry, UsableChannel } from "../../registry/channel_registry.ts";
import { readConfig } from "../../settings/load.ts";
import { requirePinnedCases } from "../../settings/pinned_cases.ts";
import type { Env } from "../../config/references.ts";
import { ServiceError } from "../../base/errors.ts";
import {
  untilWritten,
  writeSettings,
  type WriteSettingsDeps,
} from "../../settings/write_settings.ts";
import { requireEditable, requireStillReady, sortValues } from "./change_guards.ts";
import type { ChannelWorkers } from "./channel_workers.ts";
import type { ChannelValues } from "./channel_listing.ts";
import { findChannel } from "./find_channel.ts";
import { type PlannedSection, planSection } from "./plan_section.ts";
import { planSwitch } from "./plan_switch.ts";
import { refuseMoved } from "./refuse_moved.ts";
import { contractFindings, instanceIn, packageFindings } from "./section_findings.ts";

/** What changes are made with. */
export interface ChannelChangesDeps extends WriteSettingsDeps {
  registry: ChannelRegistry;
  env: Env;
  workers: Pick<ChannelWorkers, "validate">;
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

/** Values, or what makes them of the section as the file has it. */
type ValuesFor = ChannelValues["values"] | ((written: Section) => ChannelValues["values"]);

export class ChannelChanges {
  readonly #deps: ChannelChangesDeps;
  /** By channel, the last change that came. */
  readonly #turns = new Map<string, Promise<void>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: ChannelChangesDeps) {
    this.#deps = deps;
  }

  /** What the settings, with these values, lack or get wrong. Nothing is written. */
  async validate(
    { name, values, instanceId }: ChannelValues,
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

  /** Writes values, or what is to be made of the section. `by` stands in the record. */
  async set(
    { name, values, instanceId }: Omit<ChannelValues, "values"> & { values: ValuesFor },
    by: string,
  ): Promise<ChangedChannel> {
    const channel = findChannel(this.#deps.registry, name);
    const plan = async () => {
      const { text } = await readConfig(this.#deps);
      const planned = this.#planValues(channel, text, { values, instanceId });
      requireEditable(planned.keys);
      return { text, planned, instance: instanceIn(channel, planned.after, instanceId) };
    };
    const keyOf = ({ instance }: Awaited<ReturnType<typeof plan>>) =>
      JSON.stringify(instance.section);
    let checked: { key: string; findings: SetupFinding[] } | undefined;
    const attempt = async () => {
      if (checked === undefined) {
        const tried = await plan();
        const { planned, instance } = tried;
        const findings = [
          ...contractFindings(channel, instance, "warning"),
          ...await this.#ask(channel, planned, instance),
        ];
        const error = findings.find(({ level }) => level === "error");
        if (error !== undefined) throw refusedFor(error);
        checked = { key: keyOf(tried), findings };
      }
      const { key, findings } = checked;
      return await this.#alone(async () => {
        // The check may have taken long, and others are not held up by it.
        const made = await plan();
        if (keyOf(made) !== key) {
          checked = undefined;
          return undefined;
        }
        const { text, planned } = made;
        requireStillReady(channel, planned);
        return await this.#write({ channel, planned, findings, text, by });
      });
    };
    return await this.#inTurn(name, () => untilWritten(attempt));
  }

  /** Switches the channel, or one instance, on or off. */
  async switchTo(
    enabled: boolean,
    { name, instanceId }: Omit<ChannelValues, "values">,
    by: string,
  ): Promise<ChangedChannel> {
    return await this.#inTurn(
      name,
      () => untilWritten(() => this.#alone(() => this.#switch(enabled, { name, instanceId }, by))),
    );
  }

  async #switch(
    enabled: boolean,
    { name, instanceId }: Omit<ChannelValues, "values">,
    by: string,
  ): Promise<ChangedChannel | undefined> {
    const { registry, paths, env } = this.#deps;
    const { text } = await readConfig(this.#deps);
    const made = planSwitch({ registry, text, name, instanceId, enabled, paths, env });
    requireEditable(made.planned.keys);
    return await this.#write({ ...made, text, by });
  }

  /** Changes of one channel are made in the order in which they came, their checks included. */
  async #inTurn<T>(name: string, change: () => Promise<T>): Promise<T> {
    const mine = (this.#turns.get(name) ?? Promise.resolve()).then(change);
    const done = mine.then(() => {}, () => {});
    this.#turns.set(name, done);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(name) === done) this.#turns.delete(name);
    }
  }

  /** One change is written at a time. */
  async #alone<T>(change: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(change);
    this.#last = mine.catch(() => {});
    return await mine;
  }

  #planValues(
    channel: UsableChannel,
    text: string | undefined,
    { values, instanceId }: { values: ValuesFor; instanceId?: string },
  ): PlannedSection {
    const { paths, env } = this.#deps;
    const { descriptor: { name } } = channel;
    const valuesFor = (section: Section) => typeof values === "function" ? values(section) : values;
    const edit = (section: Section) =>
      updateSection({ channel, section, values: valuesFor(section), instanceId });
    const planned = planSection({ text, path: ["channels", name], edit, paths, env });
    const { runtimeName } = instanceIn(channel, planned.after, instanceId);
    refuseMoved({ channel, planned, values: valuesFor(planned.before.written), runtimeName });
    return planned;
  }

  #ask(
    channel: UsableChannel,
    planned: PlannedSection,
    instance: ReturnType<typeof instanceIn>,
  ): Promise<SetupFinding[]> {
    const { workers, paths } = this.#deps;
    return packageFindings(channel, instance, { next: planned.next, workers, paths });
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

function refusedFor({ field, message }: SetupFinding): ServiceError {
  return new ServiceError("invalid_request", `${message}. Nothing was written`, { param: field });
}
