/**
 * Automations over a journal in a file, the agent, and a clock that tests move by hand.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { scriptedModel } from "../../../agent/testing/scripted_model.ts";
import { type TestAgent, testAgent } from "../../../agent/testing/test_agent.ts";
import type { AutomationRun } from "../../../contract/automation_record.ts";
import { configSchema } from "../../../config/schema.ts";
import { openJournal } from "../../../journal/open.ts";
import type { Journal } from "../../../contract/journal.ts";
import type { Model } from "../../../model/port.ts";
import { type Automations, createAutomations } from "../../../automation/automations.ts";
import { createOutbox } from "../../../delivery/outbox.ts";

/** What a test may set; the rest has defaults. */
export interface AutomationWorldOptions {
  /** The journal's file; in memory unless told. */
  path?: string;
  model?: Model;
  /** Section `automations` of the configuration. */
  automations?: Record<string, unknown>;
  onRemoved?: (id: string) => Promise<unknown>;
  /** Another service over the same journal. */
  beside?: AutomationWorld;
}

export class AutomationWorld {
  readonly journal: Journal;
  readonly agent: TestAgent;
  readonly automations: Automations;
  readonly errors: string[] = [];
  readonly #beside: AutomationWorld | undefined;
  /** Added to the wall clock alone, as if it were set. */
  setAheadMs = 0;

  constructor(
    { path = ":memory:", model, automations, onRemoved, beside }: AutomationWorldOptions = {},
  ) {
    this.#beside = beside;
    this.journal = beside?.journal ?? openJournal({ path });
    this.agent = beside?.agent ?? testAgent({
      journal: this.journal,
      model: model ?? scriptedModel(),
      idPrefix: `${crypto.randomUUID()}-`,
    });
    const config = configSchema.parse({ automations: automations ?? {} });
    const { clock } = this.agent;
    let ids = 0;
    this.automations = createAutomations({
      store: this.journal.automations,
      turns: this.agent.turns,
      outbox: createOutbox({ journal: this.journal, isEnabled: () => false }),
      isEnabled: (channel) => channel === "telegram",
      config: () => config,
      clock: { now: this.now, after: (ms, run) => clock.after(ms, run) },
      scrub: (value) => value,
      onRemoved,
      log: {
        debug: () => {},
        info: () => {},
        warning: () => {},
        error: (_, fields) => void this.errors.push(String(fields?.["reason"])),
      },
      randomId: (prefix) => `${prefix}${++ids}`,
    });
  }

  readonly now = (): number => this.agent.clock.now() + this.setAheadMs;

  /** Lets time go by, in steps, and everybody do what they do then. */
  async pass(ms: number, stepMs = 30_000): Promise<void> {
    await turnsOfLoop(5);
    for (let left = ms; left > 0; left -= stepMs) {
      this.agent.clock.tick(Math.min(left, stepMs));
      await turnsOfLoop(20);
    }
  }

  /** Every run that is kept of an automation, oldest first. */
  async runs(id: string): Promise<AutomationRun[]> {
    return (await this.journal.automations.history(id, Number.MAX_SAFE_INTEGER, 1_000)).reverse();
  }

  /** What was put into the outbox. */
  get delivered(): string[] {
    return this.journal.outbox(0, 1_000).map(({ channel, chatId, content }) =>
      `${channel}:${chatId} ${content}`
    );
  }

  /** What the sessions of automations were given and said, each turn a line. */
  turnsOf(id: string): string[] {
    const session = this.journal.session(`automation:${id}`);
    if (session === undefined) return [];
    return this.journal.turns(session.id, 0, 10_000).map(({ status }) => status);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.automations.stop();
    if (this.#beside !== undefined) return;
    const drained = this.agent.turns.drain({ graceMs: 0 });
    this.agent.clock.tick(1);
    await drained;
    await this.journal.close();
  }
}

/** Resolves once the condition holds; throws when it does not after many turns of the event loop. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  turns = 20_000,
): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    if (await holds()) return;
    await turnsOfLoop(1);
  }
  throw new Error("It never came to that");
}

async function turnsOfLoop(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await new Promise((resolve) => setImmediate(resolve));
}
