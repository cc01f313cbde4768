/**
 * What the operations of the local protocol about messages for channels do.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { z } from "zod";
import { CHAT_CHANNEL } from "../../contract/chat_session.ts";
import { OUTBOX_STATES } from "../../contract/outbox_states.ts";
import type { Journal, OutboxRow } from "../../contract/journal.ts";
import type { OperationHandlers } from "../../local/server.ts";
import { checkParams } from "./check_params.ts";

/** Rows that are read at once. */
const PAGE = 256;

const listParams = z.object({
  after: z.int().min(0).default(0),
  limit: z.int().min(1).max(1_000),
  states: z.array(z.enum(OUTBOX_STATES)).min(1).max(OUTBOX_STATES.length).optional(),
  channel: z.string().min(1).max(200).optional(),
});
const messageParams = z.object({ message: z.int().min(1) });

/** What the operations work on. */
export interface OutboxOperationDeps {
  journal: Pick<Journal, "outbox" | "deliveries">;
  /** `Deliveries.wake`, where there are deliveries. */
  wake?: (runtimeName: string, chatId: string) => void;
  /** `Outbox.sayWaiting`, where chats of this service run: nothing else delivers to them. */
  sayWaiting?: () => Promise<unknown>;
}

/** The handlers; each checks its parameters and names what is wrong with them. */
export function createOutboxOperations(
  { journal, wake = () => {}, sayWaiting }: OutboxOperationDeps,
): Pick<OperationHandlers, "outbox" | "outbox_resend" | "outbox_drop"> {
  return {
    async *outbox(params, signal) {
      const { after, limit, states, channel } = checkParams(listParams, params);
      const wanted = (row: OutboxRow) =>
        (states === undefined || states.includes(row.state)) &&
        (channel === undefined || row.channel === channel);
      let left = limit;
      for (let from = after; !signal.aborted;) {
        const rows = journal.outbox(from, PAGE);
        for (const row of rows) {
          if (!wanted(row)) continue;
          yield row;
          if (--left === 0) return;
        }
        if (rows.length < PAGE) return;
        from = rows.at(-1)!.rowid;
        // There may be many that are not asked for: others have their turn in between.
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async outbox_resend(params) {
      const row = await journal.deliveries.resend(checkParams(messageParams, params).message);
      if (row.channel === CHAT_CHANNEL) await sayWaiting?.();
      else wake(row.channel, row.chatId);
      return row;
    },
    async outbox_drop(params) {
      const row = await journal.deliveries.drop(checkParams(messageParams, params).message);
      // What it held up may go out.
      wake(row.channel, row.chatId);
      return row;
    },
  };
}
