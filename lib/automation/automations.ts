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

/** Every call but `start` and `stop` throws `not_enabled` while `automations.enabled` is false. */
export interface Automations {
  /** Begins to run what is due; for a service that stays. Nothing while they are off. */
  start(): void;
  /** Begins nothing more, to be awaited before turns are drained; what runs is followed still. */
  pause(): Promise<void>;
  /**
   * Begins nothing more, and leaves what does not end within `graceMs` to the next start. To be awaited
   * once turns are drained, so that what came of them is on record and sent before the end.
   */
  stop(options?: { graceMs: number }): Promise<void>;
  /** What to do to have them on; undefined while they are. */
  off(): string | undefined;
  /** In the order of ids, after one. */
  list(options: { after: string; limit: number }): Promise<AutomationView[]>;
  /** Throws `not_found`, as every call that names an id. */
  get(id: string): Promise<AutomationView>;
  /** Throws `invalid_request`, which names each wrong field. */
  create(automation: unknown): Promise<AutomationView>;
  /** One that was approved, under the id that it was given; an id that is there already makes none. */
  createAs(id: string, automation: unknown): Promise<{ repeated: boolean }>;
  /** Fields that are absent stay; null takes a field away, which has its default then. */
  update(id: string, change: unknown): Promise<AutomationView>;
  setEnabled(id: string, enabled: boolean): Promise<AutomationView>;
  /** Cancels what runs of it. Its session, and so what it said, stays. */
  remove(id: string): Promise<void>;
  /** Runs it now. The same `requestId` again is the same run. */
  run(id: string, options: { requestId?: string }): Promise<RunView>;
  /** Newest first, before one. */
  history(id: string, options: { before?: number; limit: number }): Promise<RunView[]>;
}

/** Changes of one automation that meet others before this one is given up. */
const MAX_TRIES = 20;

/** Characters of an answer in a history. */
const MAX_SHOWN_CHARS = 4_000;

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const LAST = Number.MAX_SAFE_INTEGER;

/** Makes them; nothing runs before `start`. */
export function createAutomations(deps: AutomationsDeps): Automations {
  const { store, turns, clock, config, scrub, log } = deps;
  const randomId = deps.randomId ?? newId;
  const scheduler = new Scheduler({
    store,
    turns: createAutomationTurns(deps),
    clock,
    maxRunning: config().automations.maxRunning,
    onError: (error) =>
      log.error("Automations could not be looked after; that is tried again", {
        reason: String(error),
      }),
  });
  let started = false;
  const wake = () => {
    if (started) scheduler.wake();
  };

  const off = () =>
    config().automations.enabled ? undefined : "set automations.enabled to true and start again";

  function checkOn(): void {
    const remedy = off();
    if (remedy !== undefined) {
      throw new ServiceError("not_enabled", `Automations are off: ${remedy}`);
    }
  }

  async function find(id: string): Promise<AutomationRecord> {
    const record = await store.find(id);
    if (record === undefined) throw notFound(id);
    return record;
  }

  async function view(record: AutomationRecord): Promise<AutomationView> {
    const { id, spec, revision, createdAt, nextAt, missed, overlapped } = record;
    const [last] = await store.history(id, LAST, 1);
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
        isEnabled: deps.isEnabled,
        maxSteps: config().agent.maxSteps,
        runs: started,
      }),
    };
  }

  async function answerOf(turnId: string): Promise<string | undefined> {
    const events = turns.find(turnId)?.events();
    const result = events && await runResult(events);
    return result?.status === "done" ? cutText(result.answer, MAX_SHOWN_CHARS) : undefined;
  }

  /** Changes one as it is now; again when another change or a claim came between. */
  async function change(
    id: string,
    change: (record: AutomationRecord) => Automation,
  ): Promise<AutomationView> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const record = await find(id);
      const changed = changedAutomation(record, change(record), clock.now());
      if (!await store.replace(changed, record)) continue;
      wake();
      return await view(await find(id));
    }
    throw new ServiceError(
      "conflict",
      `Cannot change automation ${JSON.stringify(id)}: others keep changing it; try again`,
    );
  }

  return {
    off,
    start() {
      if (started || off() !== undefined) return;
      started = true;
      scheduler.start();
    },
    async pause() {
      started = false;
      await scheduler.pause();
    },
    async stop(options) {
      started = false;
      await scheduler.stop(options);
    },
    async list({ after, limit }) {
      checkOn();
      return await Promise.all((await store.list(after, limit)).map(view));
    },
    async get(id) {
      checkOn();
      return await view(await find(id));
    },
    async create(given) {
      checkOn();
      const spec = checkAutomation(scrub(given), { now: clock.now() });
      const record = newAutomation(randomId("aut_"), spec, clock.now());
      if (!await store.create(record)) {
        throw new ServiceError("internal", "The id of a new automation was taken; try again");
      }
      wake();
      return await view(record);
    },
    async createAs(id, given) {
      checkOn();
      if (await store.find(id) !== undefined) return { repeated: true };
      const spec = checkAutomation(scrub(given), { now: clock.now() });
      const isNew = await store.create(newAutomation(id, spec, clock.now()));
      wake();
      return { repeated: !isNew };
    },
    async update(id, given) {
      checkOn();
      const fields = checkFields(scrub(given));
      return await change(
        id,
        ({ spec }) =>
          checkAutomation(patched(spec, fields), { now: clock.now(), previous: spec.schedule }),
      );
    },
    async setEnabled(id, enabled) {
      checkOn();
      const { spec } = await find(id);
      if (spec.enabled === enabled) return await view(await find(id));
      return await change(id, ({ spec }) => ({ ...spec, enabled }));
    },
    async remove(id) {
      checkOn();
      const open = (await store.history(id, LAST, 1_000)).find(({ state }) => state === "running");
      if (!await store.remove(id)) throw notFound(id);
      wake();
      // Before its grants are taken back, which takes time; by its key, since the row may not know the
      // turn yet.
      if (open !== undefined) turns.repeated(attemptKey(open.key, open.attempts))?.cancel();
      await deps.onRemoved?.(id).catch((error) =>
        log.warning("What was granted to a deleted automation could not be taken back", {
          id,
          reason: String(error),
        })
      );
    },
    async run(id, { requestId = randomId("req_") }) {
      checkOn();
      if (!REQUEST_ID.test(requestId)) {
        throw new ServiceError(
          "invalid_request",
          `requestId is ${
            JSON.stringify(requestId.slice(0, 60))
          }; expected 1 to 128 visible ASCII characters`,
          { param: "requestId" },
        );
      }
      const key = runNowKey(id, requestId);
      const run = await store.request({ automationId: id, key, now: clock.now() });
      if (run === undefined) throw notFound(id);
      wake();
      return toRunView(run);
    },
    async history(id, { before = LAST, limit }) {
      checkOn();
      await find(id);
      const views: RunView[] = [];
      for (const run of await store.history(id, before, limit)) {
        const isDone = run.state === "done" && run.turnId !== undefined;
        views.push(toRunView(run, isDone ? await answerOf(run.turnId!) : undefined));
      }
      return views;
    },
  };
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
