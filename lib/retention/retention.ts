/**
 * Removes what is over its limits, when somebody asks and once a day.
 *
 * @module
 */

import type { AuditLog } from "../audit/log.ts";
import type { Clock } from "../base/clock.ts";
import { writeFileAtomic } from "../base/atomic_write.ts";
import { ServiceError, toErrorData } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import {
  type PrunedKind,
  type PruneReport,
  type PruneRequest,
  RETENTION_KINDS,
  type RetentionKind,
  type RetentionStore,
} from "../contract/retention.ts";
import { lastTimeOfDay } from "./daily.ts";
import { bytesOf, type Limits, pruneStore } from "./prune_store.ts";

/** The section `retention` of the configuration. */
export interface RetentionSettings extends Record<RetentionKind, LimitSettings> {
  /** `hh:mm`; empty: not by itself. */
  dailyAt: string;
}

interface LimitSettings {
  maxAgeDays: number;
  maxMiB: number;
}

/** What it works with. */
export interface RetentionDeps {
  /** As they are now. */
  settings: () => RetentionSettings;
  stores: Readonly<Record<RetentionKind, RetentionStore>>;
  audit: Pick<AuditLog, "append">;
  /** File that says when it ran last. */
  file: string;
  clock: Clock;
  log: Log;
}

const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;

/** Names of a kind that are reported. */
const MAX_NAMES = 100;

/** How often it is looked whether the time has come. */
const LOOK_MS = 60_000;

/** After a longer break the clock may be wrong, and everything look old: then a person has to ask. */
const MAX_BREAK_MS = 30 * DAY_MS;

/** Removes data. */
export class Retention {
  readonly #deps: RetentionDeps;
  #running = false;
  #stopLooking: (() => void) | undefined;
  #looking: Promise<void> = Promise.resolve();
  readonly #closing = new AbortController();
  /** The time for which it was said that it did not run. */
  #toldAt = 0;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  /** Runs once a day, at `dailyAt`, until `stop`. */
  start(): void {
    this.#stopLooking = this.#deps.clock.after(LOOK_MS, () => {
      this.#looking = this.runIfDue().catch((error) =>
        this.#deps.log.error("Retention could not run", { reason: toErrorData(error).message })
      ).finally(() => {
        if (!this.#closing.signal.aborted) this.start();
      });
    });
  }

  /** Waits until what is being removed is gone. */
  async stop(): Promise<void> {
    this.#closing.abort(new ServiceError("draining", "The service stops"));
    this.#stopLooking?.();
    await this.#looking;
  }

  /** Removes what is over its limits. Throws `conflict` while that goes on already. */
  async prune({ dryRun, by }: PruneRequest): Promise<PruneReport> {
    if (dryRun) return await this.#pruneAll({ dryRun, by });
    if (this.#running) {
      throw new ServiceError("conflict", "Retention is running already. Try again when it is done");
    }
    this.#running = true;
    try {
      const report = await this.#pruneAll({ dryRun, by });
      await this.#noteRun();
      return report;
    } finally {
      this.#running = false;
    }
  }

  async #pruneAll(request: PruneRequest): Promise<PruneReport> {
    const settings = this.#deps.settings();
    const report: PruneReport = [];
    for (const kind of RETENTION_KINDS) {
      const { maxAgeDays, maxMiB } = settings[kind];
      if (maxAgeDays === 0 && maxMiB === 0) continue;
      const limits = { maxAgeMs: maxAgeDays * DAY_MS, maxBytes: maxMiB * MIB };
      report.push(await this.#pruneKind(kind, limits, request));
    }
    return report;
  }

  async #pruneKind(
    kind: RetentionKind,
    limits: Limits,
    { dryRun, by }: PruneRequest,
  ): Promise<PrunedKind> {
    const { stores, audit, clock, log } = this.#deps;
    const pruned: PrunedKind = { kind, count: 0, bytes: 0, names: [] };
    try {
      await pruneStore(stores[kind], limits, {
        now: clock.now(),
        dryRun,
        signal: this.#closing.signal,
        async announce(items) {
          // Each file of the audit log says itself, in a record of its own, that it goes.
          if (kind === "audit") return;
          const names = items.map(({ name }) => name);
          await audit.append("retention.removed", { by, data: kind, names, bytes: bytesOf(items) });
        },
        onRemoved(items) {
          pruned.count += items.length;
          pruned.bytes += bytesOf(items);
          const names = items.slice(0, MAX_NAMES - pruned.names.length).map(({ name }) => name);
          pruned.names.push(...names);
        },
      });
    } catch (error) {
      pruned.error = toErrorData(error).message;
      log.error("Retention could not remove all that it should", { kind, reason: pruned.error });
    }
    const { count, bytes } = pruned;
    if (!dryRun && count > 0) {
      log.info("Retention removed what was over its limits", { kind, count, bytes });
    }
    return pruned;
  }

  /** Removes what is over its limits if the time of this day has come and nobody has done so since. */
  async runIfDue(): Promise<void> {
    const { settings, clock, log } = this.#deps;
    const { dailyAt } = settings();
    if (dailyAt === "") return;
    const now = clock.now();
    const ranAt = await this.#ranAt();
    // Not at once: whoever switches it on may want to see first what would go.
    if (ranAt === undefined) return await this.#noteRun();
    const dueAt = lastTimeOfDay(dailyAt, now);
    const isPlausible = Math.abs(now - ranAt) <= MAX_BREAK_MS;
    if (this.#running || isPlausible && ranAt >= dueAt) return;
    if (isPlausible) return void await this.prune({ dryRun: false, by: "schedule" });
    if (this.#toldAt === dueAt) return;
    this.#toldAt = dueAt;
    log.warning(
      "Retention did not run: it last ran more than 30 days from now, or the clock is wrong. " +
        "If the clock is right, run: service prune",
      { lastRun: new Date(ranAt).toISOString() },
    );
  }

  async #ranAt(): Promise<number | undefined> {
    try {
      const { ranAt } = JSON.parse(await Deno.readTextFile(this.#deps.file));
      return typeof ranAt === "number" ? ranAt : undefined;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  async #noteRun(): Promise<void> {
    const text = JSON.stringify({ ranAt: this.#deps.clock.now() }) + "\n";
    await writeFileAtomic(this.#deps.file, text, { mode: 0o600 });
  }
}
