/**
 * What a Slack app has to be allowed and told of, as its app manifest says it
 * (https://docs.slack.dev/reference/app-manifest). `docs/channels/slack.md` has the whole of it.
 *
 * @module
 */

/** Scopes of the bot token. */
export const BOT_SCOPES = [
  "app_mentions:read",
  "channels:history",
  "channels:read",
  "chat:write",
  "files:read",
  "files:write",
  "groups:history",
  "groups:read",
  "im:history",
  "im:read",
  "im:write",
  "mpim:history",
  "mpim:read",
  "reactions:write",
  "users:read",
] as const;

/** Path of the mode http, for events and for clicks. */
export const HTTP_PATH = "/slack/events";
