/**
 * A response that is on record, for the caller to whom it belongs.
 *
 * @module
 */

import type { TurnHandle, Turns } from "../../../contract/turns.ts";
import type { Journal } from "../../../contract/journal.ts";
import { responseNotFound, turnIdOf } from "./response_id.ts";
import { ResponseEvents } from "./response_events.ts";
import type { ResponseEcho, ResponseIdentity } from "./response_object.ts";

/** Where responses are looked up. */
export interface FindResponseDeps {
  turns: Pick<Turns, "find">;
  responses: Pick<Journal["responses"], "find">;
  /** Digest of the key that the caller has shown. */
  credential: string;
}

/** A response on record. */
export interface FoundResponse {
  handle: TurnHandle;
  identity: ResponseIdentity;
}

/** Throws `response_not_found`. */
export function findResponse(deps: FindResponseDeps, id: string): FoundResponse {
  const turnId = turnIdOf(id);
  const entry = turnId === undefined ? undefined : deps.responses.find(turnId, deps.credential);
  const handle = entry && deps.turns.find(entry.turnId);
  if (handle === undefined) throw responseNotFound(id);
  const echo = entry!.request as unknown as ResponseEcho;
  return { handle, identity: { turnId: handle.id, acceptedAt: handle.acceptedAt, echo } };
}

/** The events of a response, none of them given yet. */
export function eventsOf(identity: ResponseIdentity, turns: Pick<Turns, "find">): ResponseEvents {
  return new ResponseEvents(identity, () => turns.find(identity.turnId)?.turn.endedAt);
}
