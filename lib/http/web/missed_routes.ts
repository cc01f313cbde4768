/**
 * Messages of channels that came too late to be answered, over the port.
 *
 * @module
 */

import { z } from "zod";
import type { MissedMessages, MissedRow } from "../../contract/journal.ts";
import { CHANNELS_PATH } from "../../operations/channels.ts";
import { readQuery, wholeNumber } from "./query_params.ts";
import type { WebRoute } from "./web_route.ts";

/** What the route needs. */
export interface MissedRoutesDeps {
  missed: Pick<MissedMessages, "list" | "count">;
}

const MAX_LIMIT = 200;
const DEFAULT_LIMIT = 50;

const query = z.object({
  limit: wholeNumber(1, MAX_LIMIT).optional().describe(`Default ${DEFAULT_LIMIT}.`),
  after: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().describe(
    "Those that came after this one.",
  ),
});

const answer = z.object({
  count: z.int().min(0).describe("Of all that are listed."),
  messages: z.array(z.object({
    id: z.int(),
    chat_id: z.string(),
    sender_id: z.string(),
    sender_name: z.string().optional(),
    text: z.string().describe("Without secrets; of a long one the beginning."),
    truncated: z.boolean(),
    files: z.array(z.string()).describe("Names of files, which are not kept."),
    sent_at: z.int().describe("Seconds since 1970 at which it was written."),
    received_at: z.int(),
  })),
}).describe("In the order in which they came.");

/** The routes. */
export function createMissedRoutes({ missed }: MissedRoutesDeps): WebRoute[] {
  return [{
    method: "GET",
    path: `${CHANNELS_PATH}/:name/missed`,
    // What people wrote is for whoever may answer it.
    scope: "operate",
    summary: "Messages of an instance, by its runtime name, that came too late to be answered",
    docs: { query, answer },
    handle(call) {
      const { limit = DEFAULT_LIMIT, after = 0 } = readQuery(query, call.query);
      const name = call.params.name!;
      return Response.json({
        count: missed.count(name),
        messages: missed.list(name, after, limit).map(toWire),
      });
    },
  }];
}

function toWire(row: MissedRow): z.infer<typeof answer>["messages"][number] {
  const { rowid, chatId, senderId, senderName, content, isCut = false, files } = row;
  return {
    id: rowid,
    chat_id: chatId,
    sender_id: senderId,
    ...senderName !== undefined && { sender_name: senderName },
    text: content,
    truncated: isCut,
    files: [...files],
    sent_at: Math.floor(row.sentAt / 1_000),
    received_at: Math.floor(row.receivedAt / 1_000),
  };
}
