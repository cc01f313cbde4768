/**
 * Which conversation a request belongs to, as both POST routes are told: by a field of the body, or
 * by the header X-Session-Id for clients that cannot add one.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";

/** What a conversation may be called. */
export const SESSION_ID = /^[A-Za-z0-9._:-]{1,128}$/;

const RULE = "1 to 128 characters of A-Z a-z 0-9 . _ : -";

/** The field `session_id`. */
export const sessionIdSchema = z.string(RULE).regex(SESSION_ID, RULE);

/** Session of a request that names none. */
export const DEFAULT_SESSION_ID = "default";

/**
 * The session that field and header name; undefined when neither does. Throws `invalid_request` when
 * the header is no session id, or when the two differ.
 */
export function chooseSession(
  field: string | null | undefined,
  header: string | null,
): string | undefined {
  if (header === null) return field ?? undefined;
  if (!SESSION_ID.test(header)) {
    throw new ServiceError(
      "invalid_request",
      `The header X-Session-Id must be ${RULE}, got ${JSON.stringify(header.slice(0, 140))}`,
      { param: "X-Session-Id" },
    );
  }
  if (field !== undefined && field !== null && field !== header) {
    throw new ServiceError(
      "invalid_request",
      `session_id and the header X-Session-Id name different sessions, "${field}" and "${header}"`,
      { param: "session_id" },
    );
  }
  return header;
}
