/**
 * What the server's errors mean for a message.
 *
 * @module
 */

import type { FailureTable } from "../../../lib/channel/platform/mod.ts";

export const MATTERMOST_FAULTS: FailureTable = {
  peer: "The server",
  // A proxy that has no server behind it answers with 503, or with this one, which leaves more open.
  kinds: { 502: "uncertain" },
  broken: "failed",
  // Of the server's own ids of errors, such as `api.context.session_expired.app_error`.
  reasons: [
    [/can_not_(?:post_to|update_post_in)_deleted/, "the channel is archived; unarchive it"],
    [/town_square_read_only/, "the channel is read-only for the bot"],
    [/create_post\.(?:channel_)?root_id/, "the thread is gone; write to the channel itself"],
    [/time_limit/, "the server lets no post be edited that late"],
    [
      /restricted_dm/,
      "the server allows direct messages within a team alone; add the bot to the team",
    ],
    [/post\.channel_id|channel\.get|get_by_name/, "there is no such channel"],
  ],
  advice: {
    401: "the token is wrong, was revoked, or the bot is switched off. Make a new one under " +
      "Integrations > Bot Accounts and set token",
    403: "the bot may not write there; add it to the channel",
  },
  unsaidMs: 1_000,
};
