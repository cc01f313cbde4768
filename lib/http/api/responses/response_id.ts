/**
 * Ids of responses: a response is a turn as this wire shape shows it, so its id is the turn's.
 *
 * @module
 */

import { ServiceError } from "../../../base/errors.ts";

const PREFIX = "resp_";

/** Characters of an id that are looked up, and shown in an error. */
const MAX_ID_CHARS = 200;

/** Id of the response that a turn is. */
export function responseId(turnId: string): string {
  return PREFIX + turnId;
}

/** Id of the turn that a response is; undefined for a text that is no response's id. */
export function turnIdOf(id: string): string | undefined {
  return id.startsWith(PREFIX) && id.length <= MAX_ID_CHARS ? id.slice(PREFIX.length) : undefined;
}

/** The error for an id that is not on record, or not for whoever asks. */
export function responseNotFound(id: string, param?: string): ServiceError {
  return new ServiceError(
    "response_not_found",
    `There is no response ${
      JSON.stringify(id.slice(0, MAX_ID_CHARS))
    }: it was not stored, was deleted, or is too old; session_id names a conversation for good`,
    { param },
  );
}
