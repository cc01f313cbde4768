/**
 * What happened in a room between two answers of `/sync` and stands in neither.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { matrixFault } from "../api/matrix_faults.ts";
import type { MatrixApi } from "../api/matrix_api.ts";
import { GAP_FILTER } from "./filters.ts";
import { events, type MatrixEvent } from "./sync_answer.ts";

const PAGE_EVENTS = 100;
const MAX_PAGES = 10;

/** A gap in the timeline of a room. */
export interface Gap {
  roomId: string;
  /** Where the timeline begins that is known: its `prev_batch`. */
  from: string;
  /** Where the answer before ended: its `next_batch`. */
  to: string;
}

/** Events of a gap, the oldest first. */
export interface FilledGap {
  events: MatrixEvent[];
  /** Whether there was more than is fetched. */
  isCut: boolean;
}

/** Fetches the newest 1,000 at most. Rejects where the server cannot be asked; one that refuses has none. */
export async function fillGap(
  api: Pick<MatrixApi, "messages">,
  { roomId, from, to }: Gap,
): Promise<FilledGap> {
  const found: MatrixEvent[] = [];
  let at = from;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    let answer;
    try {
      answer = await api.messages(roomId, {
        from: at,
        to,
        limit: PAGE_EVENTS,
        filter: GAP_FILTER,
      });
    } catch (error) {
      if (!(matrixFault(error) instanceof PermanentDeliveryError)) throw error;
      return { events: found.reverse(), isCut: true };
    }
    found.push(...events(answer.chunk));
    const { end } = answer;
    // Servers say the same place again at the end, or none. A page without events is not the last: what
    // the filter leaves out was looked at for it.
    if (typeof end !== "string" || end === at || end === to) {
      return { events: found.reverse(), isCut: false };
    }
    at = end;
  }
  return { events: found.reverse(), isCut: true };
}
