/**
 * Messages that came too late to be answered.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";
import type { MissedMessages, MissedRow } from "../contract/journal.ts";
import { CHANNELS_PATH } from "./channels.ts";
import { runningChannels } from "./channel_status.ts";
import { DEFAULT_PAGE, pageLimit, seconds, toWire, whole } from "./fields.ts";
import { gatewayOperation } from "./operation.ts";

/** What these work on. */
export interface MissedParts {
  missed: Pick<MissedMessages, "list" | "find" | "count" | "clear">;
}

const PATH = `${CHANNELS_PATH}/:name/missed`;

const nameForm = "the runtime name of a channel";
const name = z.string(nameForm).min(1, nameForm).max(200, nameForm).optional()
  .describe("Runtime name; absent: every channel.");

const missedRow = z.object({
  id: z.int(),
  channel: z.string().describe("Runtime name."),
  chat_id: z.string(),
  sender_id: z.string(),
  sender_name: z.string().optional(),
  text: z.string().describe("Without secrets; of a long one the beginning."),
  truncated: z.boolean(),
  files: z.array(z.string()).describe("Names of files, which are not kept."),
  sent_at: seconds,
  received_at: seconds,
});

/** Operations on missed messages. What people wrote is for whoever may answer it. */
export const MISSED = {
  "missed.list": gatewayOperation({
    summary: "List messages that arrived too late to be answered (channels.catchUpS)",
    scope: "operate",
    command: "channels missed",
    input: z.object({
      name,
      limit: pageLimit(),
      after: whole(0).optional().describe("Only messages that came after this one."),
    }),
    output: z.object({
      count: z.int().min(0).describe("Of all that are listed."),
      messages: z.array(missedRow),
    }).describe("In the order in which they came."),
    route: { method: "GET", path: PATH },
    run: ({ name, limit = DEFAULT_PAGE, after = 0 }, { missed }) => ({
      count: missed.count(name),
      messages: missed.list(name, after, limit).map(rowOf),
    }),
  }),
  "missed.clear": gatewayOperation({
    summary: "Remove missed messages from the list",
    scope: "operate",
    command: "channels missed --clear",
    input: z.object({ name }),
    output: z.object({ cleared: z.int().describe("How many there were.") }),
    route: { method: "DELETE", path: PATH },
    run: async ({ name }, { missed }) => ({ cleared: await missed.clear(name) }),
  }),
  "missed.answer": gatewayOperation({
    summary: "Answer a missed message after all, as if it had just come",
    scope: "operate",
    command: "channels missed --answer",
    input: z.object({ name, id: whole(1) }),
    output: z.object({
      kind: z.enum(["turn", "command", "late", "denied"]).describe(
        "late, denied: it isn't answered, as it would not be if it came now.",
      ),
      turn_id: z.string().optional(),
    }),
    route: {
      method: "POST",
      path: `${PATH}/:id/answer`,
      errors: ["invalid_request", "not_found", "not_enabled"],
    },
    async run({ name, id }, parts, { signal }) {
      const row = parts.missed.find(id);
      if (row === undefined || row.runtimeName !== (name ?? row.runtimeName)) {
        const where = name === undefined ? "" : ` of ${name}`;
        throw new ServiceError(
          "not_found",
          `There is no message ${id}${where} that came too late: service channels missed`,
          { param: "id" },
        );
      }
      const published = await runningChannels(parts).answerMissed(row, signal);
      return {
        kind: published.kind,
        ...published.kind === "turn" && { turn_id: published.turnId },
      };
    },
  }),
};

function rowOf(row: MissedRow) {
  const { rowid: id, runtimeName: channel, content: text, isCut: truncated = false } = row;
  return toWire(missedRow, { ...row, id, channel, text, truncated });
}
