/**
 * Automations of a service: what people do with them, and the scheduler that runs them.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { Turns } from "../contract/turns.ts";
import { newId } from "../base/new_id.ts";
import { automationDigest } from "./automation_digest.ts";
import type { AutomationRecord } from "../contract/automation_record.ts";
import { changedAutomation, newAutomation } from "../schedule/automation_record.ts";
import type { Automation } from "../contract/automation.ts";
import type { AutomationStore } from "../contract/automation_store.ts";
import { type AutomationView, type RunView, toRunView } from "./automation_view.ts";
import { checkAutomation } from "../schedule/check_automation.ts";
import { Scheduler } from "./scheduler.ts";
import { attemptKey, runNowKey } from "./slot_key.ts";
import type { Config } from "../config/schema.ts";
import { ServiceError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { automationWarnings } from "./automation_warnings.ts";
import { createAutomationTurns } from "./agent_turns.ts";
import type { Outbox } from "../delivery/outbox.ts";
import { cutText, runResult } from "./run_result.ts";

/** What {@linkcode createAutomations} needs. */
export interface AutomationsDeps {
  /** `journal.automations`. */
  store: AutomationStore;
  turns: Pick<Turns, "submit" | "find" | "repeated">;
  outbox: Pick<Outbox, "enqueue">;
  /** Whether a channel, or an instance, of this name runs. */
  isEnabled: (channel: string) => boolean;
  /** The configuration in force. */
  config: () => Config;
  clock: Pick<Clock, "now" | "after">;
  /** Takes secrets out of what will be on record. */
  scrub: <T>(value: T) => T;
  /** Takes back what was granted to one that is gone. */
  onRemoved?: (id: string) => Promise<unknown>;
  log: Log;
  /** Ids of new automations, and of requests that name none. Default: random. */
  randomId?: (prefix: string) => string;
}

/** Changes of one automation that meet others before this one is given up. */
const MAX_TRIES = 20;

/** Characters of an answer in a history. */
const MAX_SHOWN_CHARS = 4_000;

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const LAST = Number.MAX_SAFE_INTEGER;

/** Makes them; nothing runs before `start`. */
export function createAutomations(deps: AutomationsDeps): Automations {
  return new Automations(deps);
}

/** Every call but `start`, `pause` and `stop` throws `not_enabled` while `automations.enabled` is false. */
export class Automations {
  readonly #deps: AutomationsDeps;
  readonly #store: AutomationStore;
  readonly #randomId: (prefix: string) => string;
  readonly #scheduler: Scheduler;
  #started = false;

  constructor(deps: AutomationsDeps) {
    const { store, clock, config, log } = deps;
    this.#deps = deps;
    this.#store = store;
    this.#randomId = deps.randomId ?? newId;
    this.#scheduler = new Scheduler({
      store,
      turns: createAutomationTurns(deps),
      clock,
      maxRunning: config().automations.maxRunning,
      onError: (error) =>
        log.error("Automations could not be looked after; that is tried again", {
          reason: String(error),
        }),
    });
  }

  /** Begins to run what is due; for a service that stays. Nothing while they are off. */
  start(): void {
    if (this.#started || this.off() !== undefined) return;
    this.#started = true;
    this.#scheduler.start();
  }

  /** Begins nothing more, to be awaited before turns are drained; what runs is followed still. */
  async pause(): Promise<void> {
    this.#started = false;
    await this.#scheduler.pause();
  }

  /**
   * Begins nothing more, and leaves what does not end within `graceMs` to the next start. To be awaited
   * once turns are drained, so that what came of them is on record and sent before the end.
   */
  async stop(options?: { graceMs: number }): Promise<void> {
    this.#started = false;
    await this.#scheduler.stop(options);
  }

  /** What to do to have them on; undefined while they are. */
  readonly off = (): string | undefined =>
    this.#deps.config().automations.enabled
      ? undefined
      : "set automations.enabled to true and start again";

  /** In the order of ids, after one. */
  async list({ after, limit }: { after: string; limit: number }): Promise<AutomationView[]> {
    this.#checkOn();
    const records = await this.#store.list(after, limit);
    return await Promise.all(records.map((record) => this.#view(record)));
  }

  /** Throws `not_found`, as every call that names an id. */
  async get(id: string): Promise<AutomationView> {
    this.#checkOn();
    return await this.#view(await this.#find(id));
  }

  /** Throws `invalid_request`, which names each wrong field. */
  async create(automation: unknown): Promise<AutomationView> {
    this.#checkOn();
    const record = this.#newRecord(this.#randomId("aut_"), automation);
    if (!await this.#store.create(record)) {
      throw new ServiceError("internal", "The id of a new automation was taken; try again");
    }
    this.#wake();
    return await this.#view(record);
  }

  /** One that was approved, under the id that it was given; an id that is there already makes none. */
  async createAs(id: string, automation: unknown): Promise<{ repeated: boolean }> {
    this.#checkOn();
    if (await this.#store.find(id) !== undefined) return { repeated: true };
    const isNew = await this.#store.create(this.#newRecord(id, automation));
    this.#wake();
    return { repeated: !isNew };
  }

  /** Fields that are absent stay; null takes a field away, which has its default then. */
  async update(id: string, change: unknown): Promise<AutomationView> {
    this.#checkOn();
    const { clock, scrub } = this.#deps;
    const fields = checkFields(scrub(change));
    return await this.#change(
      id,
      ({ spec }) =>
        checkAutomation(patched(spec, fields), { now: clock.now(), previous: spec.schedule }),
    );
  }

  async setEnabled(id: string, enabled: boolean): Promise<AutomationView> {
    this.#checkOn();
    const record = await this.#find(id);
    if (record.spec.enabled === enabled) return await this.#view(record);
    return await this.#change(id, ({ spec }) => ({ ...spec, enabled }));
  }

  /** Cancels what runs of it. Its session, and so what it said, stays. */
  async remove(id: string): Promise<void> {
    this.#checkOn();
    const { turns, onRemoved, log } = this.#deps;
    const runs = await this.#store.history(id, LAST, 1_000);
    const open = runs.find(({ state }) => state === "running");
    if (!await this.#store.remove(id)) throw notFound(id);
    this.#wake();
    // Before its grants are taken back, which takes time; by its key, since the row may not know the
    // turn yet.
    if (open !== undefined) turns.repeated(attemptKey(open.key, open.attempts))?.cancel();
    await onRemoved?.(id).catch((error) =>
      log.warning("What was granted to a deleted automation could not be taken back", {
        id,
        reason: String(error),
      })
    );
  }

  /** Runs it now. The same `requestId` again is the same run. */
  async run(
    id: string,
    { requestId = this.#randomId("req_") }: { requestId?: string },
  ): Promise<RunView> {
    this.#checkOn();
    if (!REQUEST_ID.test(requestId)) {
      const shown = JSON.stringify(requestId.slice(0, 60));
      throw new ServiceError(
        "invalid_request",
        `requestId is ${shown}; expected 1 to 128 visible ASCII characters`,
        { param: "requestId" },
      );
    }
    const key = runNowKey(id, requestId);
    const now = this.#deps.clock.now();
    const run = await this.#store.request({ automationId: id, key, now });
    if (run === undefined) throw notFound(id);
    this.#wake();
    return toRunView(run);
  }

  /** Newest first, before one. */
  async history(
    id: string,
    { before = LAST, limit }: { before?: number; limit: number },
  ): Promise<RunView[]> {
    this.#checkOn();
    await this.#find(id);
    const views: RunView[] = [];
    for (const run of await this.#store.history(id, before, limit)) {
      const isDone = run.state === "done" && run.turnId !== undefined;
      views.push(toRunView(run, isDone ? await this.#answerOf(run.turnId!) : undefined));
    }
    return views;
  }

  #checkOn(): void {
    const remedy = this.off();
    if (remedy !== undefined) {
      throw new ServiceError("not_enabled", `Automations are off: ${remedy}`);
    }
  }

  #wake(): void {
    if (this.#started) this.#scheduler.wake();
  }

  #newRecord(id: string, given: unknown): AutomationRecord {
    const now = this.#deps.clock.now();
    return newAutomation(id, checkAutomation(this.#deps.scrub(given), { now }), now);
  }

  async #find(id: string): Promise<AutomationRecord> {
    const record = await this.#store.find(id);
    if (record === undefined) throw notFound(id);
    return record;
  }

  async #view(record: AutomationRecord): Promise<AutomationView> {
    const { id, spec, revision, createdAt, nextAt, missed, overlapped } = record;
    const [last] = await this.#store.history(id, LAST, 1);
    return {
      id,
      spec,
      digest: automationDigest(spec),
      revision,
      createdAt,
      ...nextAt !== undefined && { nextAt },
      missed,
      overlapped,
      ...last !== undefined && { lastRun: toRunView(last) },
      warnings: automationWarnings(record, {
        isEnabled: this.#deps.isEnabled,
        maxSteps: this.#deps.config().agent.maxSteps,
        runs: this.#started,
      }),
    };
  }

  async #answerOf(turnId: string): Promise<string | undefined> {
    const events = this.#deps.turns.find(turnId)?.events();
    const result = events && await runResult(events);
    return result?.status === "done" ? cutText(result.answer, MAX_SHOWN_CHARS) : undefined;
  }

  /** Changes one as it is now; again when another change or a claim came between. */
  async #change(
    id: string,
    change: (record: AutomationRecord) => Automation,
  ): Promise<AutomationView> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const record = await this.#find(id);
      const changed = changedAutomation(record, change(record), this.#deps.clock.now());
      if (!await this.#store.replace(changed, record)) continue;
      this.#wake();
      return await this.#view(await this.#find(id));
    }
    throw new ServiceError(
      "conflict",
      `Cannot change automation ${JSON.stringify(id)}: others keep changing it; try again`,
    );
  }
}

function checkFields(given: unknown): Record<string, unknown> {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) {
    return given as Record<string, unknown>;
  }
  throw new ServiceError("invalid_request", "The change must be an object with fields to change", {
    param: "automation",
  });
}

function patched(spec: Automation, change: Record<string, unknown>): unknown {
  return Object.fromEntries(
    Object.entries({ ...spec, ...change }).filter(([, value]) => value !== null),
  );
}

function notFound(id: string): ServiceError {
  const shown = JSON.stringify(id.slice(0, 100));
  return new ServiceError("not_found", `There is no automation ${shown}`, { param: "id" });
}
