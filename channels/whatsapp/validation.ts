/**
 * Looks at the settings of WhatsApp. Nobody is asked: a second connection with the same login would end the
 * one of a channel that runs.
 *
 * @module
 */

import type { SetupFinding } from "../../lib/channel/descriptor.ts";
import { problemsOf } from "./settings.ts";

/** What is wrong; nothing for settings that can work. */
export function validate(values: Readonly<Record<string, unknown>>): Promise<SetupFinding[]> {
  return Promise.resolve(problemsOf(values));
}
