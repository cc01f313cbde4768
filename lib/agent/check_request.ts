/**
 * What a request for a turn has to be, checked before anything is stored.
 *
 * @module
 */

import { isBlank } from "../base/is_blank.ts";
import { ServiceError } from "../base/errors.ts";
import type { TurnRequest } from "../contract/turns.ts";

const SESSION_KEY = /^[A-Za-z][A-Za-z0-9_.-]*:\S{1,256}$/;

/** Throws `invalid_request`, or `no_user_message` for blank input, naming the field. */
export function checkRequest(request: TurnRequest): void {
  const { sessionKey, channel, actor, input, timeoutMs } = request;
  if (!SESSION_KEY.test(sessionKey)) {
    throw invalid("sessionKey", sessionKey, "<channel>:<id> without spaces");
  }
  if (channel === "") throw invalid("channel", channel, "a name");
  if (actor === "") throw invalid("actor", actor, "a name");
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw invalid("timeoutMs", timeoutMs, "more than 0");
  }
  if (!input.some((part) => part.type !== "text" || !isBlank(part.text))) {
    throw new ServiceError("no_user_message", "The message is blank", { param: "input" });
  }
}

function invalid(param: string, value: unknown, wanted: string): ServiceError {
  return new ServiceError(
    "invalid_request",
    `Cannot use ${JSON.stringify(value)} as "${param}": wanted is ${wanted}`,
    { param },
  );
}
