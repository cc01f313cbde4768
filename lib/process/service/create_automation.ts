/**
 * Answers the authority when it hands over an automation that was approved.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../../base/errors.ts";
import type { Automations } from "../../automation/automations.ts";
import type { ToAuthority, ToService } from "../../authority/bridge.ts";

/** Makes it and tells what came of that. Never rejects. */
export async function createAutomation(
  { id, automationId, spec }: Extract<ToService, { type: "create_automation" }>,
  { automations, send }: {
    /** Undefined: this service has none. */
    automations: Pick<Automations, "createAs"> | undefined;
    send: (message: ToAuthority) => void;
  },
): Promise<void> {
  try {
    if (automations === undefined) {
      throw new ServiceError("not_enabled", "Automations are not to be had here");
    }
    send({
      type: "automation_created",
      id,
      result: await automations.createAs(automationId, spec),
    });
  } catch (error) {
    send({ type: "automation_created", id, result: { error: toErrorData(error) } });
  }
}
