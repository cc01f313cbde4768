/**
 * What is asked of `/sync` (client-server API, "Filtering"): the events that the channel reads, without
 * members that nobody needs, presence, typing and receipts.
 *
 * @module
 */

import type { Json } from "../api/matrix_api.ts";

const READ: readonly string[] = [
  "m.room.message",
  "m.room.encrypted",
  "m.reaction",
  "m.room.redaction",
  "m.room.member",
  "m.room.encryption",
];

const STATE: readonly string[] = ["m.room.member", "m.room.encryption"];

/** Events of a room that come with one answer; a longer gap is filled from `/messages`. */
const TIMELINE_EVENTS = 50;

/** For pages of `/messages`. */
export const GAP_FILTER: Json = { types: READ, lazy_load_members: true };

/** How rooms are: for the start, where nothing is known of them. */
export const SNAPSHOT_FILTER: Json = filterOf(1);

/** What happens in them. */
export const LIVE_FILTER: Json = filterOf(TIMELINE_EVENTS);

function filterOf(limit: number): Json {
  const none = { not_types: ["*"] };
  return {
    presence: none,
    account_data: { types: ["m.direct"] },
    room: {
      account_data: none,
      ephemeral: none,
      state: { types: STATE, lazy_load_members: true },
      timeline: { types: READ, limit, lazy_load_members: true },
    },
  };
}
