/**
 * Does for operators what only the authority may: secrets, the audit, permissions, the configuration.
 * Whoever asks has been found to hold the scope for it.
 *
 * @module
 */

import type { UpkeepAnswer, UpkeepRequest } from "./upkeep_request.ts";

/** See the module. */
export interface Upkeep {
  /** `by` stands in the record of a change. Rejects with a ServiceError that repeats no secret. */
  answer(request: UpkeepRequest, by: string): Promise<UpkeepAnswer>;
}
