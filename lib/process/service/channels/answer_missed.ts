/**
 * Has a message that came too late answered after all, because somebody says so.
 *
 * @module
 */

import type { ChannelSpec } from "../../../channel/channel_spec.ts";
import type { InboundMessage, Published } from "../../../contract/inbound_message.ts";
import { inPieces, others, piecesOf } from "../../../channel/platform/text_pieces.ts";
import { ServiceError } from "../../../base/errors.ts";
import type { MissedMessages, MissedRow } from "../../../contract/journal.ts";
import type { Inbound } from "./inbound.ts";

/** What it takes. */
export interface AnswerMissedDeps {
  missed: Pick<MissedMessages, "find" | "remove">;
  specs: readonly ChannelSpec[];
  inbound: Inbound;
  signal: AbortSignal;
}

/**
 * Takes it as if it had just come, and lists it no longer. Throws `not_found` for one that is not listed,
 * `not_enabled` where its channel is off, and `invalid_request` for one of which not all is kept.
 */
export async function answerMissed(
  rowid: number,
  { missed, specs, inbound, signal }: AnswerMissedDeps,
): Promise<Published> {
  const row = missed.find(rowid);
  if (row === undefined) {
    throw new ServiceError(
      "not_found",
      `There is no message ${rowid} that came too late: service channels missed`,
      { param: "message" },
    );
  }
  const spec = specs.find(({ runtimeName }) => runtimeName === row.runtimeName);
  if (spec === undefined || !spec.enabled) {
    throw new ServiceError("not_enabled", `The channel ${row.runtimeName} is switched off`);
  }
  if (row.isCut) {
    throw new ServiceError(
      "invalid_request",
      `Cannot answer message ${rowid}: it was too long to be kept whole, it has to be sent again`,
      { param: "message" },
    );
  }
  const published = await inbound(spec, messageOf(row), signal);
  await missed.remove(rowid);
  return published;
}

/** Without the time at which it was written, it is not too late. */
function messageOf(row: MissedRow): InboundMessage {
  const { chatId, senderId, senderName, files, streaming } = row;
  const { metadata, sessionKey, messageId } = row;
  const gone = files.map((name) => `The file ${name} came with it and was not kept`);
  return {
    senderId,
    chatId,
    ...inPieces([...piecesOf(row), ...gone.flatMap((text) => others("file", text))]),
    streaming,
    ...senderName !== undefined && { senderName },
    ...metadata !== undefined && { metadata },
    ...sessionKey !== undefined && { sessionKey },
    ...messageId !== undefined && { messageId },
  };
}
