/**
 * What a call of Slack's Web API failed with. Never holds a text of the server, which might repeat a secret.
 *
 * Names of errors: https://docs.slack.dev/reference/methods/chat.postMessage#errors
 *
 * @module
 */

import { ErrorCode } from "@slack/web-api";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import {
  callError,
  type CallFacts,
  failedCall,
  type FailureTable,
  neverSent,
  noAnswer,
} from "../../../lib/channel/platform/mod.ts";

/** The token is not taken any more; nothing but a new one helps. */
const LOGIN_CODES: Readonly<Record<string, string>> = {
  invalid_auth: "the token is wrong, or of another kind",
  not_authed: "the token is missing",
  token_revoked: "the token was revoked: install the app again and set the new token",
  token_expired: "the token has expired: set a new one, and switch token rotation off",
  account_inactive: "the app was removed from the workspace, or its user deactivated",
  user_removed_from_team: "the app was removed from the workspace",
  team_disabled: "the workspace was closed",
};

const SLACK_FAULTS: FailureTable = {
  peer: "Slack",
  kinds: {
    ...Object.fromEntries(Object.keys(LOGIN_CODES).map((code) => [code, "login"] as const)),
    ratelimited: "later",
    rate_limited: "later",
    // It may be over when it is tried again, and nothing was done.
    service_unavailable: "failed",
    request_timeout: "failed",
    team_added_to_org: "failed",
    accesslimited: "failed",
    // Slack says of these that some of it may have been done.
    internal_error: "uncertain",
    fatal_error: "uncertain",
    // What Slack refuses is an answer with `ok: false`. A proxy says little of what became of a call.
    ...{ 200: "refused", 502: "uncertain" },
  },
  advice: {
    channel_not_found: "there is no such conversation, or the app was never invited to it: " +
      "write /invite and the app's name there",
    not_in_channel: "the app is no member of it: write /invite and the app's name there",
    is_archived: "it is archived: unarchive it",
    restricted_action: "the workspace does not let the app post there",
    msg_too_long: "the text is too long for Slack",
    messages_tab_disabled: "allow messages in the app's settings: App Home, Messages Tab",
    user_not_found: "there is no such member",
    cannot_dm_bot: "Slack lets no app write to another app",
    thread_not_found: "its thread was deleted",
    message_not_found: "the message was deleted",
    not_allowed_token_type: "the token is of another kind: botToken begins with xoxb-, " +
      "appToken with xapp-",
  },
  unsaidMs: 30_000,
};

/** Slack's name for what it refused, such as `channel_not_found`; "" for what it has not refused. */
export function refusedAs(error: unknown): string {
  return error instanceof PermanentDeliveryError ? failedCall(error)?.code ?? "" : "";
}

/** Slack wants no more of a method for so long, milliseconds; default: it does not say for how long. */
export function slackPause(method: string, retryAfterMs?: number): Error {
  return callError(SLACK_FAULTS, { what: method, status: 429, retryAfterMs });
}

/** The error that a call is over with; `field`: whose token it was. */
export function slackFault(
  error: unknown,
  method: string,
  field: "botToken" | "appToken" = "botToken",
): Error {
  const { code, retryAfter, data, statusCode, headers, original, message } = Object(error);
  const fault = (facts: CallFacts) => callError(SLACK_FAULTS, { what: method, ...facts });
  switch (code) {
    case ErrorCode.RateLimitedError:
      return slackPause(method, Number(retryAfter) * 1_000);
    case ErrorCode.PlatformError: {
      const { error: name, needed } = Object(data) as Record<string, unknown>;
      if (!isWord(name, /^[a-z0-9_.:-]{1,80}$/)) break;
      return fault({ status: 200, code: name, advice: adviceOf(name, field, needed) });
    }
    case ErrorCode.HTTPError: {
      // What stands before Slack says 503 too where it has lost an answer; with a time it has asked nobody.
      const isAway = statusCode === 503 && Object(headers)["retry-after"] !== undefined;
      return fault({ status: Number(statusCode), kind: isAway ? "away" : "uncertain" });
    }
  }
  if (failedCall(original) !== undefined) return original;
  if (String(message).startsWith("Retry header did not contain")) return slackPause(method);
  return neverSent(error) ? fault({ kind: "away" }) : noAnswer(`Slack did not answer (${method})`);
}

/** What depends on the token, or on what is asked for. */
function adviceOf(code: string, field: string, needed: unknown): string | undefined {
  if (Object.hasOwn(LOGIN_CODES, code)) return `${field}: ${LOGIN_CODES[code]} (${code})`;
  if (code !== "missing_scope") return undefined;
  const scope = isWord(needed, /^[a-z:_., ]{1,200}$/) ? needed : "that it takes";
  return `the app lacks the scope ${scope}: add it under OAuth & Permissions, ` +
    "Bot Token Scopes, and install the app again";
}

function isWord(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}
