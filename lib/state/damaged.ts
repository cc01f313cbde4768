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
  /** Nothing is: another version of this program has written it. */
  isNewer?: true;
}

/** Whether a value is {@linkcode Damaged}. */
export function isDamaged(value: object | undefined): value is Damaged {
  return value !== undefined && "damaged" in value;
}

/** What a change of damaged state rejects with: an operator has to look first. */
export function damagedError({ damaged, isNewer }: Damaged, repair: string): ServiceError {
  if (isNewer) return new ServiceError("refused", `${damaged}. Nothing was changed`);
  return new ServiceError(
    "refused",
    `${damaged}. Nothing was changed; look at it, then: ${repair}`,
  );
}
