/**
 * What the operations of the local protocol about messages that came too late do.
 *
 * @module
 */

import { z } from "zod";
import type { Journal } from "../../contract/journal.ts";
import type { OperationHandlers } from "../../local/server.ts";
import { checkParams } from "./check_params.ts";
import type { ServedChannels } from "./serve_channels.ts";

const channel = z.string().min(1).max(200).optional();
const listParams = z.object({
  after: z.int().min(0).default(0),
  limit: z.int().min(1).max(1_000),
  channel,
});
const clearParams = z.object({ channel });
const answerParams = z.object({ message: z.int().min(1) });

/** What the operations work on. */
export interface MissedOperationDeps {
  missed: Pick<Journal["missed"], "list" | "clear">;
  answerMissed: ServedChannels["answerMissed"];
}

/** The handlers; each checks its parameters and names what is wrong with them. */
export function createMissedOperations(
  { missed, answerMissed }: MissedOperationDeps,
): Required<Pick<OperationHandlers, "missed" | "missed_clear" | "missed_answer">> {
  return {
    async *missed(params) {
      const { after, limit, channel } = checkParams(listParams, params);
      yield* missed.list(channel, after, limit);
    },
    async missed_clear(params) {
      const { channel } = checkParams(clearParams, params);
      return { cleared: await missed.clear(channel) };
    },
    async missed_answer(params, signal) {
      const { message } = checkParams(answerParams, params);
      return await answerMissed(message, signal);
    },
  };
}
