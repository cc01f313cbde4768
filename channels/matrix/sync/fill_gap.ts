/**
 * What happened in a room between two answers of `/sync` and stands in neither.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { readHistory } from "../../../lib/channel/platform/mod.ts";
import { matrixFault } from "../api/matrix_faults.ts";
import type { MatrixApi } from "../api/matrix_api.ts";
import { GAP_FILTER } from "./filters.ts";
import { events, type MatrixEvent } from "./sync_answer.ts";

const PAGE_EVENTS = 100;

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
  let isRefused = false;
  const { pages, isCut } = await readHistory(async (at = from) => {
    const query = { from: at, to, limit: PAGE_EVENTS, filter: GAP_FILTER };
    const { chunk, end } = await api.messages(roomId, query).catch((error) => {
      if (!(matrixFault(error) instanceof PermanentDeliveryError)) throw error;
      isRefused = true;
      return { chunk: [], end: undefined };
    });
    // Servers say the same place again at the end, or none. A page without events is not the last: what
    // the filter leaves out was looked at for it.
    const isLast = typeof end !== "string" || end === at || end === to;
    return { events: events(chunk), ...!isLast && { next: end } };
  });
  return { events: pages.flatMap(({ events }) => events).reverse(), isCut: isCut || isRefused };
}
