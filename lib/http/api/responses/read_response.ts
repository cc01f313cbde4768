/**
 * A response as one object.
 *
 * @module
 */

import type { Answer, TurnHandle } from "../../../contract/turns.ts";
import { ServiceError } from "../../../base/errors.ts";
import type { ResponseEnding, ResponseEvents } from "./response_events.ts";
import { type ResponseIdentity, type ResponseObject, responseObject } from "./response_object.ts";

/** Reads an answer to its end. Throws when it has none, also because `signal` aborted. */
export async function readEnding(
  answer: Answer,
  events: ResponseEvents,
  signal: AbortSignal,
): Promise<ResponseEnding> {
  for await (const { event } of answer.events(signal, { patient: true })) events.next(event);
  if (events.ending === undefined) throw brokenOff();
  return events.ending;
}

/** The error of a turn whose events stop before its end. */
export function brokenOff(): ServiceError {
  return new ServiceError("internal", "The events of the turn broke off before its end");
}

/**
 * A response as it is now. Of one that is not finished, what was said so far is in its stream alone.
 */
export async function readResponse(
  handle: TurnHandle,
  identity: ResponseIdentity,
  events: ResponseEvents,
  signal: AbortSignal,
): Promise<ResponseObject> {
  const { status } = handle.turn;
  if (isOpen(handle)) {
    const state = status === "queued" ? "queued" : "in_progress";
    return responseObject(identity, { status: state, output: [] });
  }
  return (await readEnding(handle, events, signal)).response;
}

/** Whether a turn had not ended when its handle was made. */
export function isOpen({ turn: { status } }: TurnHandle): boolean {
  return status === "queued" || status === "running";
}

/** An object as an answer. */
export function jsonResponse(value: unknown): Response {
  return new Response(JSON.stringify(value), { headers: { "content-type": "application/json" } });
}
