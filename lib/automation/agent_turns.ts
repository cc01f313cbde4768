/**
 * How runs of automations become turns, and their results messages for chats.
 *
 * @module
 */

import type { Turns } from "../contract/turns.ts";
import { automationDigest } from "./automation_digest.ts";
import type { AutomationRecord } from "../contract/automation_record.ts";
import { MAX_HISTORY } from "../schedule/automation_record.ts";
import type { Delivery } from "../contract/automation.ts";
import type { AutomationStore } from "../contract/automation_store.ts";
import type { AutomationTurns } from "./automation_turns.ts";
import type { RunResult } from "./delivery_decision.ts";
import { ServiceError } from "../base/errors.ts";
import type { Outbox } from "../delivery/outbox.ts";
import { cutText, runResult } from "./run_result.ts";

/** What {@linkcode createAutomationTurns} needs. */
export interface AutomationTurnsDeps {
  store: Pick<AutomationStore, "find" | "history">;
  turns: Pick<Turns, "submit" | "find">;
  outbox: Pick<Outbox, "enqueue">;
}

/** Characters of an earlier result that the model is told. */
const MAX_TOLD_CHARS = 8_000;

/** Characters of a result that is delivered; it stands whole in the history. */
const MAX_DELIVERED_CHARS = 100_000;

/** The chat of a delivery. */
export function chatOf({ channel, chatId }: Delivery): { channel: string; chatId: string } {
  return { channel, chatId };
}

/** Where an automation's runs are on record. */
export function automationSession(automationId: string): string {
  return `automation:${automationId}`;
}

/** The {@linkcode AutomationTurns} over the agent and the outbox. */
export function createAutomationTurns(
  { store, turns, outbox }: AutomationTurnsDeps,
): AutomationTurns {
  async function lastResult(automationId: string): Promise<string | undefined> {
    const runs = await store.history(automationId, Number.MAX_SAFE_INTEGER, MAX_HISTORY);
    const done = runs.find(({ state, turnId }) => state === "done" && turnId !== undefined);
    const events = done && turns.find(done.turnId!)?.events();
    const result = events && await runResult(events);
    if (result?.status !== "done" || result.answer === "") return undefined;
    return "Earlier runs of this automation are not shown. The last one that succeeded, at " +
      `${new Date(done!.endedAt!).toISOString()}, had this result:\n\n` +
      cutText(result.answer, MAX_TOLD_CHARS);
  }

  return {
    async accept({ automation, key }) {
      const { id, spec } = automation;
      const actor = automationSession(id);
      const handle = await turns.submit({
        sessionKey: actor,
        channel: "automation",
        actor,
        input: [{ type: "text", text: spec.message }],
        durable: true,
        attended: false,
        automation: {
          id,
          digest: automationDigest(spec),
          maxSteps: spec.maxSteps,
          tokenBudget: spec.tokenBudget,
          ...spec.delivery !== undefined && { delivery: chatOf(spec.delivery) },
          lastResult: await lastResult(id),
        },
        // A slot that was cancelled has had its run.
        requestKey: { ...key, outlivesCancel: true },
      });
      // Nobody would follow, nor stop, the run of one that was deleted just now.
      if (await store.find(id) === undefined) handle.cancel();
      return handle.id;
    },
    async result(turnId, signal) {
      const handle = turns.find(turnId);
      if (handle === undefined) {
        return { status: "failed", error: "The turn of the run is not on record any more" };
      }
      const result = await runResult(handle.events(signal));
      signal.throwIfAborted();
      if (result === undefined) {
        throw new ServiceError(
          "turn_interrupted",
          `The turn ${turnId} is on record without an end`,
        );
      }
      return result;
    },
    async deliver({ id, turnId, automation, delivery: { channel, chatId }, result }) {
      const content = worded(automation, result);
      const media = result.status === "done" ? result.files : undefined;
      await outbox.enqueue({
        id,
        ...turnId !== undefined && { turnId },
        channel,
        chatId,
        content,
        ...media !== undefined && { media },
      });
    },
  };
}

function worded({ spec: { name } }: AutomationRecord, result: RunResult): string {
  if (result.status === "failed") {
    return `The automation "${name}" failed: ${cutText(result.error, MAX_TOLD_CHARS)}`;
  }
  // No chat takes a blank message.
  return result.answer.trim() === ""
    ? `The automation "${name}" has ended without an answer.`
    : cutText(result.answer, MAX_DELIVERED_CHARS);
}
