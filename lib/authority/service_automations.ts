/**
 * The authority's way to the automations, which the service holds: one that was approved goes over the
 * Worker's port and is waited for.
 *
 * @module
 */

import type { Automation } from "../contract/automation.ts";
import type { AutomationWriter, CreatedAutomation } from "../contract/ports.ts";
import type { ToAuthority, ToService } from "./bridge.ts";
import { ServiceAnswers } from "./service_answers.ts";

/** The automations as the gate sees them; every promise settles, whatever becomes of the service. */
export class ServiceAutomations implements AutomationWriter {
  readonly #answers = new ServiceAnswers<CreatedAutomation>("whether the automation was made");

  /** From now on automations go to the service. */
  connect(send: (message: ToService) => void): void {
    this.#answers.connect(send);
  }

  async create(
    spec: Automation,
    { automationId, timeoutMs }: { automationId: string; timeoutMs: number },
  ): Promise<CreatedAutomation> {
    return await this.#answers.ask(
      (id) => ({ type: "create_automation", id, automationId, spec }),
      timeoutMs,
    );
  }

  /** Takes an answer of the service. */
  receive(answer: Extract<ToAuthority, { type: "automation_created" }>): void {
    this.#answers.receive(answer);
  }

  /** The service is gone: fails what waits and everything that comes. */
  close(reason: string): void {
    this.#answers.close(reason);
  }
}
