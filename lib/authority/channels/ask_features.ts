/**
 * Asks platforms for names and pictures of instances after somebody changed their settings: once for each
 * change, behind its answer. That it fails changes nothing.
 *
 * @module
 */

import type { FeatureMetadata } from "../../channel/base_channel.ts";
import type { PlaceSource } from "../../channel/place/place_source.ts";
import { toErrorData } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { FeatureStore } from "./feature_store.ts";

/** What asking needs. */
export interface AskFeaturesDeps {
  refresh(source: PlaceSource, instanceId?: string): Promise<FeatureMetadata | undefined>;
  store: FeatureStore;
  log: Pick<Log, "warning">;
}

/** An instance whose settings were changed. */
export interface ChangedInstance {
  source: PlaceSource;
  instanceId?: string;
  /** Of every instance that there is. */
  runtimeNames: ReadonlySet<string>;
}

/** See the module. */
export class AskFeatures {
  readonly #deps: AskFeaturesDeps;
  /** By runtime name: what is being asked, and what is to be asked after that. */
  readonly #asking = new Map<string, { done: Promise<void>; next?: ChangedInstance }>();

  constructor(deps: AskFeaturesDeps) {
    this.#deps = deps;
  }

  /** Returns at once. While an instance is being asked, the last of its changes waits. */
  ask(changed: ChangedInstance): void {
    const { runtimeName } = changed.source.boot;
    const asking = this.#asking.get(runtimeName);
    if (asking !== undefined) asking.next = changed;
    else this.#asking.set(runtimeName, { done: this.#run(runtimeName, changed) });
  }

  /** Resolves when nothing is being asked. */
  async settled(): Promise<void> {
    while (this.#asking.size > 0) {
      await Promise.all([...this.#asking.values()].map(({ done }) => done));
    }
  }

  async #run(runtimeName: string, first: ChangedInstance): Promise<void> {
    let changed: ChangedInstance | undefined = first;
    while (changed !== undefined) {
      const { source, instanceId, runtimeNames }: ChangedInstance = changed;
      try {
        const told = await this.#deps.refresh(source, instanceId);
        await this.#deps.store.keep(runtimeName, told, runtimeNames);
      } catch (error) {
        this.#deps.log.warning("The names of a channel cannot be had", {
          channel: runtimeName,
          reason: toErrorData(error).message,
        });
      }
      const asking: { next?: ChangedInstance } | undefined = this.#asking.get(runtimeName);
      changed = asking?.next;
      delete asking?.next;
    }
    this.#asking.delete(runtimeName);
  }
}
