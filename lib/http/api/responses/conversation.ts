/**
 * Which conversation a request goes on with.
 *
 * @module
 */

import { ServiceError } from "../../../base/errors.ts";
import type { Journal } from "../../../contract/journal.ts";
import { DEFAULT_SESSION_ID } from "../session_id.ts";
import { responseNotFound, turnIdOf } from "./response_id.ts";

/** What a request says of its conversation. */
export interface ConversationNames {
  /** Of the field session_id or the header X-Session-Id. */
  sessionId: string | undefined;
  previousResponseId: string | undefined;
}

/** Where earlier responses are looked up. */
export interface ConversationDeps {
  responses: Pick<Journal["responses"], "find">;
  /** Digest of the key that the caller has shown. */
  credential: string;
}

/**
 * Id of the session: the named one, else that of the earlier response, whose own session's end is
 * where it goes on, else the default one. Throws `response_not_found` for an id that is not on
 * record for this caller, and `invalid_request` when two different conversations are named.
 */
export function chooseConversation(
  { responses, credential }: ConversationDeps,
  { sessionId, previousResponseId }: ConversationNames,
): string {
  if (previousResponseId === undefined) return sessionId ?? DEFAULT_SESSION_ID;
  const turnId = turnIdOf(previousResponseId);
  const entry = turnId === undefined ? undefined : responses.find(turnId, credential);
  if (entry === undefined) throw responseNotFound(previousResponseId, "previous_response_id");
  const previous = entry.sessionKey.slice(entry.sessionKey.indexOf(":") + 1);
  if (sessionId !== undefined && sessionId !== previous) {
    throw new ServiceError(
      "invalid_request",
      `session_id and previous_response_id name different conversations, "${sessionId}" and ` +
        `"${previous}": send one of them`,
      { param: "previous_response_id" },
    );
  }
  return previous;
}
