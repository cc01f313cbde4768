/**
 * Asks platforms for names and pictures of instances after somebody changed their settings: once for each
 * change, behind its answer. That it fails changes nothing.
 *
 * @module
 */

import type { FeatureMetadata } from "../../channel/base_channel.ts";
import type { WorkerSource } from "../../channel_worker/worker_source.ts";
import { toErrorData } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { FeatureStore } from "./feature_store.ts";

/** What asking needs. */
export interface AskFeaturesDeps {
  refresh(source: WorkerSource, instanceId?: string): Promise<FeatureMetadata | undefined>;
  store: FeatureStore;
  log: Pick<Log, "warning">;
}

/** An instance whose settings were changed. */
export interface ChangedInstance {
  source: WorkerSource;
  instanceId?: string;
  /** Of every instance that there is. */
  runtimeNames: ReadonlySet<string>;
}

/** One instance is asked at a time. */
export class AskFeatures {
  readonly #deps: AskFeaturesDeps;
  /** By runtime name: of two changes that wait, the last counts. */
  readonly #waiting = new Map<string, ChangedInstance>();
  #running: Promise<void> | undefined;

  constructor(deps: AskFeaturesDeps) {
    this.#deps = deps;
  }

  /** Returns at once. */
  ask(changed: ChangedInstance): void {
    this.#waiting.set(changed.source.boot.runtimeName, changed);
    this.#running ??= this.#run();
  }

  /** Asks nobody who waits, and resolves when nobody is being asked. */
  async close(): Promise<void> {
    this.#waiting.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (const [runtimeName, changed] of this.#waiting) {
      this.#waiting.delete(runtimeName);
      const { source, instanceId, runtimeNames } = changed;
      try {
        const told = await this.#deps.refresh(source, instanceId);
        await this.#deps.store.keep(runtimeName, told, runtimeNames);
      } catch (error) {
        this.#deps.log.warning("The names of a channel cannot be had", {
          channel: runtimeName,
          reason: toErrorData(error).message,
        });
      }
    }
    // With the last look at who waits, so that nobody comes in between.
    this.#running = undefined;
  }
}
