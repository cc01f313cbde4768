import type { OutboxRow } from "../contract/journal.ts";

/** Columns of a row of the outbox, as {@linkcode OutboxColumns} has them, without its state. */
export const OUTBOX_COLUMNS =
  `message, id, turn_id, channel, chat_id, content, media, metadata, event, created_at, expires_at,
   attempts, not_before, error, piece`;

/** The same with the state; one that has expired is shown so, whether it was marked yet or not. */
export const SHOWN_COLUMNS = `${OUTBOX_COLUMNS},
  CASE WHEN state = 'pending' AND expires_at <= ? THEN 'expired' ELSE state END`;

/** A row, the state last. */
type OutboxColumns = [
  rowid: number,
  id: string,
  turnId: string,
  channel: string,
  chatId: string,
  content: string,
  media: string | null,
  metadata: string | null,
  event: string | null,
  createdAt: number,
  expiresAt: number,
  attempts: number,
  notBefore: number,
  error: string | null,
  piece: number,
  state: OutboxRow["state"],
];

/** The row as readers get it. */
export function toOutboxRow(
  [
    rowid,
    id,
    turnId,
    channel,
    chatId,
    content,
    media,
    metadata,
    event,
    createdAt,
    expiresAt,
    attempts,
    notBefore,
    error,
    piece,
    state,
  ]: OutboxColumns,
): OutboxRow {
  return {
    rowid,
    id,
    ...turnId !== "" && { turnId },
    channel,
    chatId,
    content: JSON.parse(content),
    ...media !== null && { media: JSON.parse(media) },
    ...metadata !== null && { metadata: JSON.parse(metadata) },
    ...event !== null && { event: JSON.parse(event) },
    state,
    createdAt,
    expiresAt,
    attempts,
    ...notBefore > 0 && { notBefore },
    ...error !== null && { error },
    ...piece === 1 && { isPiece: true as const },
  };
}
