/**
 * Answers what operators ask about channels. Whoever asks has been found to hold the scope
 * for it. No value of a secret is in an answer, an error, the log or the record.
 *
 * @module
 */

import type { SetupFinding } from "../../channel/descriptor.ts";
import type { Section } from "../../channel/management.ts";
import type { Stranger } from "../../state/pairing_store.ts";
import { instancesOf } from "../../channel/management/instances_of.ts";
import { withInstance } from "../../channel/management/update_section.ts";
import type { UsableChannel } from "../../registry/channel_registry.ts";
import type { WorkerSource } from "../../channel_worker/worker_source.ts";
import { sectionOf, unknownChannel, workerSource } from "../../registry/worker_source_of.ts";
import type { Clock } from "../../base/clock.ts";
import { examine, type Examined } from "../../settings/examine.ts";
import { readConfigText } from "../../config/config_file.ts";
import { readConfig } from "../../settings/load.ts";
import type { Config } from "../../config/schema.ts";
import { ServiceError, toErrorData } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { valuesAllowing } from "./allow_sender.ts";
import { AskFeatures } from "./ask_features.ts";
import { type ChangedChannel, ChannelChanges, type ChannelChangesDeps } from "./channel_changes.ts";
import type { ChannelWorkers } from "./channel_workers.ts";
import type { ChangedListing, ChannelListing, ChannelValues } from "./channel_listing.ts";
import { type ConnectRequest, Connects, type ShownConnection } from "./connects.ts";
import { createFeatureStore, type FeatureStore } from "./feature_store.ts";
import { findChannel } from "./find_channel.ts";
import { brokenListing, listChannels } from "./list_channels.ts";
import { localizedListing } from "./localized_listing.ts";
import { sectionsIn } from "./plan_section.ts";
import { instanceIn, instancesIn, isReady } from "./section_findings.ts";

/** What it works on. */
export interface ChannelOperatorDeps extends Omit<ChannelChangesDeps, "log"> {
  workers: Pick<ChannelWorkers, "validate" | "connector" | "refresh">;
  /** Takes up the file now; absent: only the next start does. */
  reload?: () => Promise<void>;
  /** An instance was connected: the next specs have it started anew. */
  connected?: (runtimeName: string) => void;
  /** Tells the gateway of the specs as they are now. */
  tellSpecs?: () => void;
  clock: Clock;
  log: Pick<Log, "warning" | "error">;
}

/** Entries of values, and of a query, that one request may hold, and their characters as JSON. */
const MAX_ENTRIES = 200;
const MAX_CHARS = 256 * 1024;

/** Changes, and checks of settings, that are under way at the same time. */
const MAX_WAITING = 16;

export class ChannelOperator {
  readonly #deps: ChannelOperatorDeps;
  readonly #changes: ChannelChanges;
  readonly #store: FeatureStore;
  readonly #features: AskFeatures;
  readonly #connects: Connects;
  #waiting = 0;

  constructor(deps: ChannelOperatorDeps) {
    const { workers, clock, paths, log } = deps;
    this.#deps = deps;
    this.#changes = new ChannelChanges(deps);
    this.#store = createFeatureStore({ file: `${paths.dataDir}/channel_features.json`, log });
    this.#features = new AskFeatures({
      refresh: (source, instanceId) => workers.refresh(source, instanceId),
      store: this.#store,
      log,
    });
    this.#connects = new Connects({
      workers,
      clock,
      sourceOf: (name, instanceId) => this.#connectorOf(name, instanceId),
      isSecret: (name, field) =>
        findChannel(deps.registry, name).descriptor.setup.fields[field]?.kind === "secret",
      apply: async ({ by, ...asked }) => {
        const changed = await this.#changes.set(asked, by);
        const { channel, planned, written } = changed;
        const { runtimeName } = instanceIn(channel!, planned.after, asked.instanceId);
        deps.connected?.(runtimeName);
        await this.#finish(changed, asked.instanceId, true);
        // The same account, connected once more: nothing was written, and it is to run with its new login.
        if (!written) deps.tellSpecs?.();
      },
    });
  }

  /** All of them; in another language, where they have it. */
  list(locale?: string): Promise<ChannelListing[]> {
    return visible(() => this.#list(locale));
  }

  /** What the settings, with these values, lack or get wrong. Writes nothing. */
  validate(asked: ChannelValues): Promise<SetupFinding[]> {
    checkSize(asked.values, "values");
    return this.#change(() => this.#changes.validate(asked));
  }

  /** Writes values: a blank secret keeps the stored one, null clears one. `by` is for the audit log. */
  set(asked: ChannelValues, by: string): Promise<ChangedListing> {
    checkSize(asked.values, "values");
    return this.#change(async () =>
      await this.#changed(asked, await this.#changes.set(asked, by), true)
    );
  }

  /** Lets one more sender write. */
  allow({ channel: name, instanceId, senderId }: Stranger, by: string): Promise<ChangedListing> {
    return this.#change(async () => {
      const channel = findChannel(this.#deps.registry, name);
      const values = (written: Section) =>
        valuesAllowing(channel, { instanceId, senderId }, written);
      const changed = await this.#changes.set({ name, instanceId, values }, by);
      return await this.#changed({ name, instanceId }, changed, false);
    });
  }

  switchTo(
    enabled: boolean,
    asked: Pick<ChannelValues, "name" | "instanceId">,
    by: string,
  ): Promise<ChangedListing> {
    return this.#change(async () =>
      await this.#changed(asked, await this.#changes.switchTo(enabled, asked, by), enabled)
    );
  }

  /** A poll holds nobody up, and a cancellation isn't to be held up. */
  connect(asked: ConnectRequest): Promise<ShownConnection> {
    checkSize(asked.query, "query");
    return visible(async () => {
      if (findChannel(this.#deps.registry, asked.name).connector === undefined) {
        throw new ServiceError("not_found", `${asked.name} is not connected interactively`, {
          param: "name",
        });
      }
      return await this.#connects.answer(asked);
    });
  }

  /** Ends what is being connected, and resolves when nothing is asked any more. */
  async shutdown(): Promise<void> {
    this.#connects.close();
    await this.#features.close();
  }

  async #change<T>(run: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING) {
      throw new ServiceError("overloaded", `${MAX_WAITING} changes of channels are under way`, {
        retryAfterS: 1,
      });
    }
    this.#waiting++;
    try {
      return await visible(run);
    } finally {
      this.#waiting--;
    }
  }

  async #changed(
    { name, instanceId }: Pick<ChannelValues, "name" | "instanceId">,
    changed: ChangedChannel,
    asks: boolean,
  ): Promise<ChangedListing> {
    await this.#finish(changed, instanceId, asks);
    return { channel: await this.#listOne(name), findings: changed.findings };
  }

  async #connectorOf(name: string, instanceId: string | undefined): Promise<WorkerSource> {
    const { registry, paths: { dataDir } } = this.#deps;
    const channel = findChannel(registry, name);
    const examined = await this.#readSettings();
    const { written, resolved } = sectionsIn(examined, name);
    const added = (section: Section) =>
      withInstance({ channel, section, ...instanceId !== undefined && { instanceId } });
    const sections = { written: added(written), resolved: added(resolved) };
    const instance = instanceIn(channel, sections, instanceId);
    return workerSource({ config: examined.config!, dataDir }, channel, instance, "connector");
  }

  /** As the file has them; while it is broken, as they loaded last. */
  async #readSettings(): Promise<Examined> {
    const { paths, env } = this.#deps;
    const text = await readConfig({ paths }).then(({ text }) => text, () => "{");
    const examined = examine({ text, paths, env });
    if (examined.config !== undefined && examined.problems.length === 0) return examined;
    const kept = await readConfigText(paths.lastGoodFile).catch(() => undefined);
    const shown = examine({ text: kept, paths, env });
    return shown.config === undefined ? examine({ text: undefined, paths, env }) : shown;
  }

  async #listAll(): Promise<{ all: ChannelListing[]; examined: Examined }> {
    const { registry, paths: { dataDir } } = this.#deps;
    const [examined, features] = await Promise.all([this.#readSettings(), this.#store.read()]);
    return { all: listChannels({ registry, examined, features, dataDir }), examined };
  }

  async #list(locale: string | undefined): Promise<ChannelListing[]> {
    const { all } = await this.#listAll();
    if (locale === undefined) return all;
    return await Promise.all(
      all.map((each) => localizedListing(each, this.#deps.registry, locale)),
    );
  }

  /** After a change; what is left of a channel that is gone has no place in the list once it is off. */
  async #listOne(name: string): Promise<ChannelListing> {
    const { all, examined } = await this.#listAll();
    return all.find((one) => one.name === name) ??
      brokenListing(name, unknownChannel(name), examined);
  }

  /** Puts a change in force, and asks for the names of what it is about. */
  async #finish(
    { channel, written, planned }: ChangedChannel,
    instanceId: string | undefined,
    asks: boolean,
  ): Promise<void> {
    const { reload, log } = this.#deps;
    if (written) await reload?.();
    try {
      if (channel !== undefined && asks) this.#askFeatures(channel, planned, instanceId);
    } catch (error) {
      // It is written; that names cannot be had changes nothing about it.
      log.warning("The names of a channel cannot be asked for", {
        channel: channel?.folder,
        reason: toErrorData(error).message,
      });
    }
  }

  #askFeatures(
    channel: UsableChannel,
    { next, after }: ChangedChannel["planned"],
    instanceId: string | undefined,
  ): void {
    // One in the service has no worker to be asked in, and one that is off is never loaded.
    if (channel.descriptor.capabilities.includes("in_service")) return;
    const { dataDir } = this.#deps.paths;
    const runtimeNames = this.#namesIn(next);
    for (const instance of instancesIn(channel, after)) {
      const { instanceId: id, enabled } = instance;
      const isMeant = instanceId === undefined || instanceId === id;
      if (!isMeant || !enabled || !isReady(channel, instance)) continue;
      const source = workerSource({ config: next, dataDir }, channel, instance, "runtime");
      this.#features.ask({ source, ...id !== undefined && { instanceId: id }, runtimeNames });
    }
  }

  /** Runtime names of every instance of every channel that has some. */
  #namesIn(config: Config): Set<string> {
    return new Set(
      [...this.#deps.registry.usable.values()].flatMap((each) => {
        try {
          return instancesOf(each, sectionOf(config, each)).map(({ runtimeName }) => runtimeName);
        } catch (error) {
          if (error instanceof ServiceError) return [];
          throw error;
        }
      }),
    );
  }
}

function checkSize(held: Readonly<Record<string, unknown>>, param: string): void {
  const tooLarge = Object.keys(held).length > MAX_ENTRIES
    ? `${MAX_ENTRIES} entries`
    : JSON.stringify(held).length > MAX_CHARS
    ? `${MAX_CHARS} characters together`
    : undefined;
  if (tooLarge === undefined) return;
  throw new ServiceError("too_large", `${param} must have at most ${tooLarge}`, { param });
}

/** What is wrong with the configuration is for whoever asked to change it. */
async function visible<T>(answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "config_invalid") throw error;
    throw new ServiceError("invalid_request", error.message, { param: error.details.param });
  }
}
