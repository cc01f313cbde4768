import type { DatabaseSync } from "node:sqlite";
import type { ChannelTurn, StreamPlace } from "../contract/delivery_store.ts";
import { checkName, invalid } from "./checks.ts";
import { query } from "./query.ts";
import type { TurnDelivery } from "../contract/journal.ts";

/** Characters of a turn's metadata as JSON: four times what a channel may give. */
const MAX_METADATA_CHARS = 64 * 1024;

/** A {@linkcode TurnDelivery} as it is written. */
export interface EncodedDelivery extends Omit<TurnDelivery, "metadata"> {
  /** JSON. */
  metadata: string;
}

/** Where answers of turns go, as rows. What changes them is called inside a batch of the writer. */
export interface ChannelTurnRows {
  insert(turn: number, seq: number, delivery: EncodedDelivery): void;
  find(turnId: string): ChannelTurn | undefined;
  page(afterRowid: number, limit: number): ChannelTurn[];
  /** Changes what is named; false when there is no such row. */
  update(rowid: number, change: { seq?: number; stream?: StreamPlace | null }): boolean;
  remove(rowid: number): void;
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

/** {@linkcode ChannelTurnRows} over the table `channel_turns`. */
export function createChannelTurnRows(db: DatabaseSync): ChannelTurnRows {
  // Of a session that is being deleted there are none any more. What came before a turn was begun
  // belongs to others.
  const select = `SELECT c.turn, t.id, t.session_id, c.runtime, c.chat_id, c.metadata, c.streaming,
      max(c.seq, t.after_seq), c.stream, c.acked, c.sending`;
  const rest = `CROSS JOIN sessions AS s ON s.id = t.session_id WHERE s.key NOT NULL`;
  const selectOne = query<Row>(
    db,
    `${select} FROM turns AS t CROSS JOIN channel_turns AS c ON c.turn = t.turn ${rest} AND t.id = ?`,
  );
  const selectPage = query<Row>(
    db,
    `${select} FROM channel_turns AS c CROSS JOIN turns AS t ON t.turn = c.turn ${rest}
     AND c.turn > ? ORDER BY c.turn LIMIT ?`,
  );
  const insert = query(
    db,
    `INSERT INTO channel_turns (turn, runtime, chat_id, metadata, streaming, seq)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const updateSeq = query(db, "UPDATE channel_turns SET seq = coalesce(?, seq) WHERE turn = ?");
  const updateStream = query(
    db,
    `UPDATE channel_turns SET seq = coalesce(?, seq), stream = ?, acked = ?, sending = ?
     WHERE turn = ?`,
  );
  const remove = query(db, "DELETE FROM channel_turns WHERE turn = ?");

  return {
    insert(turn, seq, { runtimeName, chatId, metadata, streaming }) {
      insert.run(turn, runtimeName, chatId, metadata, streaming ? 1 : 0, seq);
    },
    find(turnId) {
      const row = selectOne.get(turnId);
      return row && toChannelTurn(row);
    },
    page: (afterRowid, limit) => selectPage.all(afterRowid, limit).map(toChannelTurn),
    update(rowid, { seq, stream }) {
      if (stream === undefined) return updateSeq.run(seq ?? null, rowid) > 0;
      const place = stream === null
        ? [null, 0, 0]
        : [JSON.stringify(stream.streamId), stream.acked, stream.sending];
      return updateStream.run(seq ?? null, ...place, rowid) > 0;
    },
    remove(rowid) {
      remove.run(rowid);
    },
  };
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
