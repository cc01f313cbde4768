/**
 * Which of the turns that an earlier process left open this one goes on with.
 *
 * @module
 */

import type { Requester } from "../../agent/accepted_turn.ts";
import type { AgentTurns } from "../../agent/agent_turns.ts";
import type { AutomationStore } from "../../contract/automation_store.ts";
import type { DeliveryStore } from "../../contract/delivery_store.ts";
import type { Turn } from "../../contract/journal.ts";

/** What {@linkcode takeUp} works with. */
export interface TakeUpDeps {
  turns: Pick<AgentTurns, "recovered" | "find">;
  /** `journal.automations`. */
  store: Pick<AutomationStore, "find">;
  /** `journal.deliveries`. */
  deliveries: Pick<DeliveryStore, "turn">;
  /** Whether a channel, or an instance of one, is on. */
  isEnabled: (runtimeName: string) => boolean;
  /** Whether turns of the API have a requester (`api.attended`). */
  apiAttended: boolean;
  /** Whether this service runs automations. */
  runsAutomations: boolean;
  /** Whether it stays, and so runs channels. */
  runsChannels: boolean;
  /** Whether it serves the API. */
  servesApi: boolean;
}

/**
 * Takes up what `Journal.recover` returned; to be awaited before the first `submit`. The run of an
 * automation goes on where automations run: a service that was started for one command could not settle
 * it. It stays on record until then, and so does what came over a channel or the API, until the service
 * runs to which its people come back. A run whose automation was deleted is cancelled wherever that is
 * noticed.
 */
export async function takeUp(
  resume: readonly Turn[],
  deps: TakeUpDeps,
): Promise<void> {
  const { turns, store, runsAutomations, runsChannels, servesApi } = deps;
  const taken: Turn[] = [];
  const cancelled: string[] = [];
  for (const turn of resume) {
    const { id, channel, automation } = turn;
    if (automation !== undefined && await store.find(automation.id) === undefined) {
      cancelled.push(id);
    } else if (automation !== undefined) {
      if (!runsAutomations) continue;
    } else if (!runsChannels && !(servesApi && channel === "api")) continue;
    taken.push(turn);
  }
  turns.recovered(taken, (turn) => requesterOf(turn, deps));
  for (const id of cancelled) turns.find(id)?.cancel();
}

/**
 * Who is there for a turn goes by the way in that is open now, not by who was there before: whoever
 * wrote over a channel can be asked where it is on, and clients of a chat or a response may reconnect.
 */
function requesterOf(
  { id, channel, automation }: Turn,
  { deliveries, isEnabled, apiAttended }: TakeUpDeps,
): Requester {
  if (automation !== undefined) return "none";
  const delivery = deliveries.turn(id);
  if (delivery !== undefined) return isEnabled(delivery.runtimeName) ? "present" : "none";
  return channel === "api" && !apiAttended ? "none" : "expected";
}
