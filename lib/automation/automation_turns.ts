/**
 * What the scheduler needs of the rest of the service: turns and the outbox.
 *
 * @module
 */

import type { RequestKey } from "../contract/journal.ts";
import type { AutomationRecord } from "../contract/automation_record.ts";
import type { Delivery } from "../contract/automation.ts";
import type { RunResult } from "./delivery_decision.ts";

/** Turns of automations. Every call may come again after a crash, with the same arguments. */
export interface AutomationTurns {
  /**
   * Accepts a durable, unattended turn with the automation's message, step limit and token budget, and
   * resolves with its id once it is on the disk. A key that is on record opens no second turn: its
   * turn's id is returned. Rejects when nothing was accepted.
   */
  accept(request: { automation: AutomationRecord; key: RequestKey }): Promise<string>;
  /**
   * Resolves when the turn has ended, at once for one that has, also after a restart. A turn that is
   * not on record any more has failed. Rejects when the signal aborts.
   */
  result(turnId: string, signal: AbortSignal): Promise<RunResult>;
  /**
   * Puts a result into the outbox, and resolves once it is on the disk. An id that is there already
   * queues nothing. Called for failures too; how one is worded is decided here. Rejects with
   * `invalid_request` for what can never be delivered; after any other rejection it is called again.
   */
  deliver(message: {
    id: string;
    /** Undefined when no turn could be accepted. */
    turnId?: string;
    automation: AutomationRecord;
    delivery: Delivery;
    result: RunResult;
  }): Promise<void>;
}
