/**
 * What a call of Slack's Web API failed with, as the service takes it.
 *
 * Names of errors: https://docs.slack.dev/reference/methods/chat.postMessage#errors
 *
 * @module
 */

import { ErrorCode } from "@slack/web-api";
import {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "../../../lib/channel/delivery_error.ts";
import { neverSent } from "../../../lib/channel/platform/never_sent.ts";

/** What Slack answered with `ok: false`; thrown where its name decides what is done. */
export class SlackRefusal extends PermanentDeliveryError {
  /** Such as `channel_not_found`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** How a method stands to being called twice. */
export type CallKind =
  /** A second call does what the first did, or nothing. */
  | "repeatable"
  /** A second call makes a second message. */
  | "once";

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

/** It may be over when it is tried again, and nothing was done. */
const TEMPORARY_CODES: ReadonlySet<string> = new Set([
  "service_unavailable",
  "request_timeout",
  "team_added_to_org",
  "accesslimited",
]);

/** Slack says of these that some of it may have been done. */
const UNCERTAIN_CODES: ReadonlySet<string> = new Set(["internal_error", "fatal_error"]);

/** What a person has to do, where the name alone does not say it. */
const ADVICE: Readonly<Record<string, string>> = {
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
};

/** How long a call waits where Slack does not say for how long, milliseconds. */
const UNSAID_WAIT_MS = 30_000;

/**
 * The error that a call is over with; `field`: whose token it was. Never holds a text of the server, which
 * might repeat a secret.
 */
export function slackFault(
  error: unknown,
  method: string,
  kind: CallKind,
  field: "botToken" | "appToken" = "botToken",
): Error {
  const { code, retryAfter, data, statusCode, headers } = partsOf(error);
  switch (code) {
    case ErrorCode.RateLimitedError:
      return new RetryLaterError(`Slack takes ${method} again later`, Number(retryAfter) * 1_000);
    case ErrorCode.PlatformError:
      return refusal(data, method, kind, field);
    case ErrorCode.HTTPError:
      // What stands before Slack says so too where it has lost an answer; with a time it has asked nobody.
      if (statusCode === 503 && (kind === "repeatable" || headers["retry-after"] !== undefined)) {
        return new NotConnectedError(`Slack is away (${method})`);
      }
      return uncertain(`Slack answered ${method} with HTTP ${statusCode}`, kind);
  }
  const words = error instanceof Error ? error.message : "";
  if (words.startsWith("Retry header did not contain")) {
    return new RetryLaterError(`Slack takes ${method} again later`, UNSAID_WAIT_MS);
  }
  if (neverSent(error)) return new NotConnectedError(`Slack cannot be reached (${method})`);
  return uncertain(`Slack did not answer (${method})`, kind);
}

function refusal(
  data: Record<string, unknown>,
  method: string,
  kind: CallKind,
  field: string,
): Error {
  const name = typeof data.error === "string" && /^[a-z0-9_.:-]{1,80}$/.test(data.error)
    ? data.error
    : undefined;
  if (name === undefined) return uncertain(`Slack gave no answer to ${method}`, kind);
  if (Object.hasOwn(LOGIN_CODES, name)) {
    return new LoginRefusedError(`Slack does not accept ${field}: ${LOGIN_CODES[name]} (${name})`);
  }
  if (name === "ratelimited" || name === "rate_limited") {
    return new RetryLaterError(`Slack takes ${method} again later`, UNSAID_WAIT_MS);
  }
  if (UNCERTAIN_CODES.has(name)) {
    return uncertain(`Slack failed at ${method}: ${name}`, kind);
  }
  if (TEMPORARY_CODES.has(name)) return new Error(`Slack cannot do ${method} now: ${name}`);
  if (name === "missing_scope") {
    const needed = typeof data.needed === "string" && /^[a-z:_., ]{1,200}$/.test(data.needed)
      ? data.needed
      : "another one";
    return new SlackRefusal(
      name,
      `The app lacks the scope ${needed} for ${method}: add it under OAuth & Permissions, ` +
        "Bot Token Scopes, and install the app again",
    );
  }
  const advice = Object.hasOwn(ADVICE, name) ? `${ADVICE[name]} (${name})` : name;
  return new SlackRefusal(name, `Slack refused ${method}: ${advice}`);
}

function uncertain(message: string, kind: CallKind): Error {
  return kind === "once" ? new UncertainDeliveryError(message) : new Error(message);
}

function partsOf(error: unknown): {
  code?: unknown;
  retryAfter?: unknown;
  data: Record<string, unknown>;
  statusCode?: unknown;
  headers: Record<string, unknown>;
} {
  const parts = typeof error === "object" && error !== null ? error as Record<string, unknown> : {};
  const { code, retryAfter, statusCode, data, headers } = parts;
  const recordOf = (value: unknown) =>
    typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
  return { code, retryAfter, statusCode, data: recordOf(data), headers: recordOf(headers) };
}
