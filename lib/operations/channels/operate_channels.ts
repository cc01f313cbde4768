/**
 * Answers what operators ask about channels. Whoever asks has been found to hold the scope
 * for it. No value of a secret is in an answer, an error, the log or the record.
 *
 * @module
 */

import { instancesOf } from "../../channel/management/instances_of.ts";
import type { UsableChannel } from "../../registry/channel_registry.ts";
import { placeSource, sectionOf, unknownChannel } from "../../registry/place_source_of.ts";
import type { Clock } from "../../base/clock.ts";
import { examine, type Examined } from "../../settings/examine.ts";
import { readConfigText } from "../../config/config_file.ts";
import { readConfig } from "../../settings/load.ts";
import type { Config } from "../../config/schema.ts";
import { ServiceError, toErrorData } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { AskFeatures } from "./ask_features.ts";
import { type ChangedChannel, ChannelChanges, type ChannelChangesDeps } from "./channel_changes.ts";
import type { ChannelPlaces } from "./channel_places.ts";
import type { ChannelAnswer, ChannelListing, ChannelRequest } from "./channel_request.ts";
import { checkChannelRequest } from "./check_channel_request.ts";
import { Connects } from "./connects.ts";
import { createFeatureStore } from "./feature_store.ts";
import { findChannel, requireKnown } from "./find_channel.ts";
import { brokenListing, listChannels } from "./list_channels.ts";
import { localizedListing } from "./localized_listing.ts";
import { sectionsIn } from "./plan_section.ts";
import { instanceIn, instancesIn, isReady } from "./section_findings.ts";

/** What it works on. */
export interface ChannelOperatorDeps extends Omit<ChannelChangesDeps, "log"> {
  places: Pick<ChannelPlaces, "validate" | "connector" | "refresh">;
  /** Takes up the file now; absent: only the next start does. */
  reload?: () => Promise<void>;
  clock: Clock;
  log: Pick<Log, "warning" | "error">;
}

export interface ChannelOperator {
  /** `by` stands in the record of a change. Rejects with a ServiceError. */
  answer(request: ChannelRequest, by: string): Promise<ChannelAnswer>;
  /** Ends what is being connected, and resolves when nothing is asked any more. */
  shutdown(): Promise<void>;
}

/** Changes, and checks of settings, that are under way at the same time. */
const MAX_WAITING = 16;

/** Makes it for the home that this process owns. */
export function createChannelOperator(deps: ChannelOperatorDeps): ChannelOperator {
  const { registry, paths, env, places, reload, log } = deps;
  const { dataDir } = paths;
  const changes = new ChannelChanges(deps);
  const store = createFeatureStore({ file: `${dataDir}/channel_features.json`, log });
  const features = new AskFeatures({ refresh: places.refresh, store, log });
  const connects = new Connects({
    places,
    clock: deps.clock,
    async sourceOf(name, instanceId) {
      const channel = findChannel(registry, name);
      const examined = await readSettings();
      const instance = instanceIn(channel, sectionsIn(examined, name), instanceId);
      return placeSource({ config: examined.config!, dataDir }, channel, instance, "connector");
    },
    async apply({ by, ...asked }) {
      await finish(await changes.set(asked, by), asked.instanceId, true);
    },
  });
  let waiting = 0;

  /** As the file has them; while it is broken, as they loaded last. */
  async function readSettings(): Promise<Examined> {
    const text = await readConfig({ paths }).then(({ text }) => text, () => "{");
    const examined = examine({ text, paths, env });
    if (examined.config !== undefined && examined.problems.length === 0) return examined;
    const kept = await readConfigText(paths.lastGoodFile).catch(() => undefined);
    const shown = examine({ text: kept, paths, env });
    return shown.config === undefined ? examine({ text: undefined, paths, env }) : shown;
  }

  async function list(
    { name, locale }: { name?: string; locale?: string },
  ): Promise<ChannelListing[]> {
    const [examined, told] = await Promise.all([readSettings(), store.read()]);
    const all = listChannels({ registry, examined, features: told, dataDir });
    const found = name === undefined ? all : all.filter((each) => each.name === name);
    if (name !== undefined && found.length === 0) requireKnown(registry, name, []);
    if (locale === undefined) return found;
    return await Promise.all(found.map((each) => localizedListing(each, registry, locale)));
  }

  /** After a change; what is left of a channel that is gone has no place in the list once it is off. */
  async function listOne(name: string): Promise<ChannelListing> {
    const [examined, told] = await Promise.all([readSettings(), store.read()]);
    return listChannels({ registry, examined, features: told, dataDir }).find((one) =>
      one.name === name
    ) ??
      brokenListing(name, unknownChannel(name), examined);
  }

  /** Puts a change in force, and asks for the names of what it is about. */
  async function finish(
    { channel, written, planned, findings }: ChangedChannel,
    instanceId: string | undefined,
    asks: boolean,
  ): Promise<Pick<ChangedChannel, "findings">> {
    if (written) await reload?.();
    try {
      if (channel !== undefined && asks) askFeatures(channel, planned, instanceId);
    } catch (error) {
      // It is written; that names cannot be had changes nothing about it.
      log.warning("The names of a channel cannot be asked for", {
        channel: channel?.folder,
        reason: toErrorData(error).message,
      });
    }
    return { findings };
  }

  function askFeatures(
    channel: UsableChannel,
    { next, after }: ChangedChannel["planned"],
    instanceId: string | undefined,
  ): void {
    // One in the service has no place to be asked in, and one that is off is never loaded.
    if (channel.descriptor.capabilities.includes("in_service")) return;
    const runtimeNames = namesIn(next);
    for (const instance of instancesIn(channel, after)) {
      const { instanceId: id, enabled } = instance;
      const isMeant = instanceId === undefined || instanceId === id;
      if (!isMeant || !enabled || !isReady(channel, instance)) continue;
      const source = placeSource({ config: next, dataDir }, channel, instance, "runtime");
      features.ask({ source, ...id !== undefined && { instanceId: id }, runtimeNames });
    }
  }

  /** Runtime names of every instance of every channel that has some. */
  function namesIn(config: Config): Set<string> {
    return new Set(
      [...registry.usable.values()].flatMap((each) => {
        try {
          return instancesOf(each, sectionOf(config, each)).map(({ runtimeName }) => runtimeName);
        } catch (error) {
          if (error instanceof ServiceError) return [];
          throw error;
        }
      }),
    );
  }

  async function run(request: ChannelRequest, by: string): Promise<ChannelAnswer> {
    switch (request.op) {
      case "channels.list":
        return { channels: await list(request) };
      case "channels.validate":
        return { findings: await changes.validate(request) };
      case "channels.set":
      case "channels.enable":
      case "channels.disable": {
        const { op, name, instanceId } = request;
        const changed = op === "channels.set"
          ? await changes.set(request, by)
          : await changes.switchTo(op === "channels.enable", request, by);
        const { findings } = await finish(changed, instanceId, op !== "channels.disable");
        return { channel: await listOne(name), findings };
      }
      case "channels.connect": {
        const { name, action, query } = request;
        if (findChannel(registry, name).connector === undefined) {
          throw new ServiceError("not_found", `${name} is not connected interactively`, {
            param: "name",
          });
        }
        return { connect: await connects.answer({ name, action, query, by }) };
      }
    }
  }

  return {
    async answer(asked, by) {
      const request = checkChannelRequest(asked);
      // A poll holds nobody up, and a cancellation is not to be held up.
      const { op } = request;
      if (op === "channels.list" || op === "channels.connect") {
        return await visible(() => run(request, by));
      }
      if (waiting >= MAX_WAITING) {
        throw new ServiceError("overloaded", `${MAX_WAITING} changes of channels are under way`, {
          retryAfterS: 1,
        });
      }
      waiting++;
      try {
        return await visible(() => run(request, by));
      } finally {
        waiting--;
      }
    },
    async shutdown() {
      connects.close();
      await features.close();
    },
  };
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
