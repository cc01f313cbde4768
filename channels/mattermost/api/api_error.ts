/**
 * How a request to the server fails, and what that means for a message.
 *
 * @module
 */

import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../../lib/channel/delivery_error.ts";

/** What is known of a failed request. */
export interface ApiErrorFacts {
  /** 0: the server has not answered. */
  status: number;
  /** The server's own id of the error, such as `api.context.session_expired.app_error`. */
  id?: string;
  /** With 429: milliseconds until the server may be asked again. */
  retryAfterMs?: number;
  /** Whether the server may have had the request. */
  isSent: boolean;
}

/** A request that failed. Its words hold neither the token nor an id. */
export class ApiError extends Error implements ApiErrorFacts {
  override readonly name = "ApiError";
  readonly status: number;
  readonly id: string;
  readonly retryAfterMs: number | undefined;
  readonly isSent: boolean;

  constructor(message: string, { status, id = "", retryAfterMs, isSent }: ApiErrorFacts) {
    super(message);
    this.status = status;
    this.id = id;
    this.retryAfterMs = retryAfterMs;
    this.isSent = isSent;
  }

  /** The server does not know the token, or the account is switched off. */
  get isLoginRefused(): boolean {
    return this.status === 401;
  }
}

const REFUSED =
  "The server refuses the token: it is wrong, was revoked, or the bot is switched off. " +
  "Make a new one under Integrations > Bot Accounts and set token";

/** What to do, by the ids of errors that a person can mend. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/can_not_(?:post_to|update_post_in)_deleted/, "the channel is archived; unarchive it"],
  [/town_square_read_only/, "the channel is read-only for the bot"],
  [/create_post\.(?:channel_)?root_id/, "the thread is gone; write to the channel itself"],
  [/time_limit/, "the server lets no post be edited that late"],
  [
    /restricted_dm/,
    "the server allows direct messages within a team alone; add the bot to the team",
  ],
  [/post\.channel_id|channel\.get|get_by_name/, "there is no such channel"],
];

/** An error of a send, as the service wants it. `isSafe`: the request may be repeated without harm. */
export function toDeliveryError(error: unknown, isSafe = false): unknown {
  if (!(error instanceof ApiError)) return error;
  const { status, id, message, isSent } = error;
  if (status === 429) return new RetryLaterError(message, error.retryAfterMs ?? 1_000);
  if (error.isLoginRefused) return new LoginRefusedError(REFUSED);
  // A proxy that has no server behind it answers with 503, or with 502 and 504, which leave more open.
  if (status === 0 || status === 502 || status === 503 || status === 504) {
    const mayHaveCome = isSent && !isSafe && status !== 503;
    return mayHaveCome ? new UncertainDeliveryError(message) : new NotConnectedError(message);
  }
  if (status < 400 || status >= 500 || status === 408 || status === 425) return new Error(message);
  const advice = ADVICE.find(([pattern]) => pattern.test(`${id} ${message}`))?.[1] ??
    (status === 403 ? "the bot may not write there; add it to the channel" : undefined);
  return new PermanentDeliveryError(advice === undefined ? message : `${message}: ${advice}`);
}
