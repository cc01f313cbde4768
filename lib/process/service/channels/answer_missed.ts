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
  missed: Pick<MissedMessages, "remove">;
  specs: readonly ChannelSpec[];
  inbound: Inbound;
  signal: AbortSignal;
}

/** What becomes of one. */
type Answered = Exclude<Published, { kind: "edit" }>;

/**
 * Takes it as if it had just come, and lists it no longer. Throws `not_enabled` where its channel is off,
 * and `invalid_request` for one of which not all is kept.
 */
export async function answerMissed(
  row: MissedRow,
  { missed, specs, inbound, signal }: AnswerMissedDeps,
): Promise<Answered> {
  const spec = specs.find(({ runtimeName }) => runtimeName === row.runtimeName);
  if (spec === undefined || !spec.enabled) {
    throw new ServiceError("not_enabled", `The channel ${row.runtimeName} is switched off`);
  }
  if (row.isCut) {
    throw new ServiceError(
      "invalid_request",
      `Cannot answer message ${row.rowid}: it was too long to be kept whole, it has to be sent again`,
      { param: "id" },
    );
  }
  // No edit is ever listed.
  const published = await inbound(spec, messageOf(row), signal) as Answered;
  await missed.remove(row.rowid);
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
