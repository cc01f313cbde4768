/**
 * Makes an automation that was approved: no child, but a record that the service keeps.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../base/errors.ts";
import type { AutomationWriter } from "../contract/ports.ts";
import type { ActionContext, ActionResult, AutomationTarget } from "../contract/actions.ts";
import { canonicalJson } from "../base/canonical_json.ts";
import { sha256Hex } from "../base/sha256.ts";
import { failed } from "./results.ts";

/** Hands it to the service. Never rejects: what goes wrong is a result. `facts` are for the record. */
export async function makeAutomation(
  { target, context, writer, timeoutMs }: {
    target: AutomationTarget;
    context: Pick<ActionContext, "turnId" | "callId">;
    writer: AutomationWriter | undefined;
    timeoutMs: number;
  },
): Promise<{ result: ActionResult; facts: Record<string, unknown> }> {
  const automationId = automationIdOf(context);
  try {
    if (writer === undefined) {
      throw new ServiceError("not_enabled", "automations are not to be had here");
    }
    const { repeated } = await writer.create(target.spec, { automationId, timeoutMs });
    return {
      result: {
        status: "ok",
        output: (repeated ? "This call had made it already; not made again. " : "") +
          `The automation ${automationId} is switched on. What its runs do needs grants of their own: ` +
          `an operator does a dry run with: service automations commission ${automationId}`,
      },
      facts: { automation: automationId, repeated },
    };
  } catch (error) {
    const { code, message } = toErrorData(error);
    return {
      result: failed(code, `The automation is not confirmed as made: ${message}`),
      facts: { automation: automationId },
    };
  }
}

/** The same call makes the same automation, however often it comes; a hash, since a model chose its id. */
function automationIdOf({ turnId, callId }: Pick<ActionContext, "turnId" | "callId">): string {
  return `aut_${sha256Hex(canonicalJson(["automation", turnId, callId])).slice(0, 24)}`;
}
