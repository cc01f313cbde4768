/**
 * State that cannot be trusted, as a value.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** What is there was edited, cut, rolled back, removed, or cannot be read. */
export interface Damaged {
  /** For people: which file, and what is wrong with it. */
  damaged: string;
}

/** Whether a value is {@linkcode Damaged}. */
export function isDamaged(value: object | undefined): value is Damaged {
  return value !== undefined && "damaged" in value;
}

/** What a change of damaged state rejects with: an operator has to look first (spec 5, G11). */
export function damagedError({ damaged }: Damaged, repair: string): ServiceError {
  return new ServiceError(
    "refused",
    `${damaged}. Nothing was changed; look at it, then: ${repair}`,
  );
}
