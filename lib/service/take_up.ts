/**
 * Which of the turns that an earlier process left open this one goes on with.
 *
 * @module
 */

import type { OwnedTurns } from "../agent/create_turns.ts";
import type { AutomationStore } from "../automation/automation_store.ts";
import type { DeliveryStore } from "../channel/delivery/delivery_store.ts";
import type { Turn } from "../journal/types.ts";

/** What {@linkcode takeUp} works with. */
export interface TakeUpDeps {
  turns: Pick<OwnedTurns, "recovered" | "find">;
  /** `journal.automations`. */
  store: Pick<AutomationStore, "find">;
  /** `journal.deliveries`. */
  deliveries: Pick<DeliveryStore, "turn">;
  /** Whether this service runs automations. */
  runsAutomations: boolean;
  /** Whether it stays, and so runs channels. */
  runsChannels: boolean;
}

/**
 * Takes up what `Journal.recover` returned; to be awaited before the first `submit`. The run of an
 * automation goes on where automations run: a service that was started for one command would end it
 * with the command, and the run would count as failed. It stays on record until then, and so does a
 * message of a channel: whoever wrote it would be told to send it again. A run whose automation was
 * deleted is cancelled wherever that is noticed.
 */
export async function takeUp(
  resume: readonly Turn[],
  { turns, store, deliveries, runsAutomations, runsChannels }: TakeUpDeps,
): Promise<void> {
  const taken: Turn[] = [];
  const cancelled: string[] = [];
  for (const turn of resume) {
    const { id, automation } = turn;
    if (automation !== undefined && await store.find(automation.id) === undefined) {
      cancelled.push(id);
    } else if (automation !== undefined && !runsAutomations) continue;
    else if (!runsChannels && deliveries.turn(id) !== undefined) continue;
    taken.push(turn);
  }
  turns.recovered(taken);
  for (const id of cancelled) turns.find(id)?.cancel();
}
