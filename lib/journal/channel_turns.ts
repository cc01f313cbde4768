import type { ChannelTurn, StreamPlace } from "../contract/delivery_store.ts";
import { checkName, invalid } from "./checks.ts";
import { Queries } from "./query.ts";
import type { TurnDelivery } from "../contract/journal.ts";

/** Characters of a turn's metadata as JSON: four times what a channel may give. */
const MAX_METADATA_CHARS = 64 * 1024;

/** A {@linkcode TurnDelivery} as it is written. */
export interface EncodedDelivery extends Omit<TurnDelivery, "metadata"> {
  /** JSON. */
  metadata: string;
}

type Row = [
  turn: number,
  id: string,
  sessionId: number,
  runtime: string,
  chatId: string,
  metadata: string,
  streaming: number,
  seq: number,
  stream: string | null,
  acked: number,
  sending: number,
];

// Of a session that is being deleted there are none any more. What came before a turn was begun
// belongs to others.
const SELECT = `SELECT c.turn, t.id, t.session_id, c.runtime, c.chat_id, c.metadata, c.streaming,
    max(c.seq, t.after_seq), c.stream, c.acked, c.sending`;
const OF_SESSIONS = "CROSS JOIN sessions AS s ON s.id = t.session_id WHERE s.key NOT NULL";

/**
 * Where answers of turns go, as rows of `channel_turns`. What changes them is called inside a batch of the
 * writer.
 */
export class ChannelTurnRows extends Queries {
  readonly #selectOne = this.query(
    `${SELECT} FROM turns AS t CROSS JOIN channel_turns AS c ON c.turn = t.turn ${OF_SESSIONS}
     AND t.id = ?`,
    toChannelTurn,
  );
  readonly #selectPage = this.query(
    `${SELECT} FROM channel_turns AS c CROSS JOIN turns AS t ON t.turn = c.turn ${OF_SESSIONS}
     AND c.turn > ? ORDER BY c.turn LIMIT ?`,
    toChannelTurn,
  );
  readonly #insert = this.query(`INSERT INTO channel_turns
    (turn, runtime, chat_id, metadata, streaming, seq) VALUES (?, ?, ?, ?, ?, ?)`);
  readonly #updateSeq = this.query(
    "UPDATE channel_turns SET seq = coalesce(?, seq) WHERE turn = ?",
  );
  readonly #updateStream = this.query(`UPDATE channel_turns
    SET seq = coalesce(?, seq), stream = ?, acked = ?, sending = ? WHERE turn = ?`);
  readonly #remove = this.query("DELETE FROM channel_turns WHERE turn = ?");

  insert(
    turn: number,
    seq: number,
    { runtimeName, chatId, metadata, streaming }: EncodedDelivery,
  ): void {
    this.#insert.run(turn, runtimeName, chatId, metadata, streaming ? 1 : 0, seq);
  }

  find(turnId: string): ChannelTurn | undefined {
    return this.#selectOne.get(turnId);
  }

  page(afterRowid: number, limit: number): ChannelTurn[] {
    return this.#selectPage.all(afterRowid, limit);
  }

  /** Changes what is named; false when there is no such row. */
  update(
    rowid: number,
    { seq = null, stream }: { seq?: number | null; stream?: StreamPlace | null },
  ): boolean {
    if (stream === undefined) return this.#updateSeq.run(seq, rowid) > 0;
    const place = stream === null
      ? [null, 0, 0]
      : [JSON.stringify(stream.streamId), stream.acked, stream.sending];
    return this.#updateStream.run(seq, ...place, rowid) > 0;
  }

  remove(rowid: number): void {
    this.#remove.run(rowid);
  }
}

/** Checks and encodes where an answer goes; throws `invalid_request`. */
export function encodeDelivery(delivery: TurnDelivery): EncodedDelivery {
  for (const name of ["runtimeName", "chatId"] as const) checkName(name, delivery[name]);
  const metadata = JSON.stringify(delivery.metadata);
  if (metadata.length > MAX_METADATA_CHARS) {
    throw invalid(
      "metadata",
      `Cannot keep metadata of ${metadata.length} characters: ${MAX_METADATA_CHARS} are the most`,
    );
  }
  return { ...delivery, metadata };
}

function toChannelTurn(
  [turn, id, sessionId, runtime, chatId, metadata, streaming, seq, stream, acked, sending]: Row,
): ChannelTurn {
  return {
    rowid: turn,
    turnId: id,
    sessionId,
    runtimeName: runtime,
    chatId,
    metadata: JSON.parse(metadata),
    streaming: streaming === 1,
    seq,
    ...stream !== null && { stream: { streamId: JSON.parse(stream), acked, sending } },
  };
}
