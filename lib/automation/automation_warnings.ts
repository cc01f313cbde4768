/**
 * What people should know of an automation as it stands.
 *
 * @module
 */

import type { AutomationRecord } from "../contract/automation_record.ts";

/** The warnings, in words. */
export function automationWarnings(
  { spec, nextAt }: AutomationRecord,
  { isEnabled, maxSteps, runs }: {
    /** Whether a channel of this name runs. */
    isEnabled: (channel: string) => boolean;
    /** `agent.maxSteps`. */
    maxSteps: number;
    /** Whether this service runs what is due. */
    runs: boolean;
  },
): string[] {
  const { delivery, enabled } = spec;
  const warnings: string[] = [];
  if (!runs) {
    warnings.push("No service is running: automations wait until you start it with: service start");
  }
  if (enabled && nextAt === undefined) warnings.push("It never comes due any more");
  if (delivery !== undefined && !isEnabled(delivery.channel)) {
    warnings.push(
      `The channel "${delivery.channel}" is not running: results for it wait, and expire after 24 h`,
    );
  }
  if (spec.maxSteps > maxSteps) {
    warnings.push(`maxSteps is ${spec.maxSteps}, but agent.maxSteps allows ${maxSteps}`);
  }
  return warnings;
}
