import type { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../base/errors.ts";
import { checkInteger, checkName, invalid } from "./checks.ts";
import { query } from "./query.ts";
import type { JournalParts } from "./turn_writes.ts";
import type { Fork, Session } from "../contract/journal.ts";
import { Refused, type Writer } from "./writer.ts";

/** What forks sessions. */
export interface SessionForks {
  /** See `Journal.forkSession`. */
  fork(fork: Fork): Promise<Session>;
}

/** What {@linkcode createSessionForks} needs. */
export interface SessionForksDependencies {
  db: DatabaseSync;
  writer: Writer;
  parts: Pick<JournalParts, "sessions">;
}

/** What stands for the turn of a message that none said. */
const NO_TURN = 0;

type MessageRow = [id: number, turn: number, isSummary: number];
type StartRow = [first: number, turn: number | null, summary: number | null];

/** An id of the source and the one that stands for it in the fork. */
type Ids = Map<number, number>;

/**
 * Copies whole turns that have ended, and messages from elsewhere between them. What one was given and said is copied with its row, so that
 * nothing of the fork goes with the source when that is deleted.
 */
export function createSessionForks({ db, writer, parts }: SessionForksDependencies): SessionForks {
  const { sessions } = parts;
  const selectUser = query<[number]>(
    db,
    `SELECT id FROM messages WHERE session_id = ? AND body IS NULL ORDER BY id LIMIT 1 OFFSET ?`,
  );
  const countUsers = query<[number]>(
    db,
    "SELECT count(*) FROM messages WHERE session_id = ? AND body IS NULL",
  );
  // A turn has one message of a person; its row may not name it when the turn never ran.
  const selectTurns = query<[turn: number, forgotten: number]>(
    db,
    `SELECT t.turn, t.forgotten FROM messages AS m CROSS JOIN turns AS t ON t.turn = m.turn
     WHERE m.session_id = ? AND m.id < ? AND m.body IS NULL AND t.ended_at NOT NULL`,
  );
  // Few hold the word, and only those are parsed.
  const selectMessages = query<MessageRow>(
    db,
    `SELECT id, turn, coalesce(instr(body, '"summary"') > 0 AND body ->> '$.role' = 'summary', 0)
     FROM messages WHERE session_id = ? ORDER BY id`,
  );
  const selectStarts = query<StartRow>(
    db,
    "SELECT first, turn, summary FROM context_starts WHERE session_id = ? ORDER BY start",
  );
  const copyTurn = query(
    db,
    `INSERT INTO turns (id, session_id, channel, actor, durable, status, attempts, after_seq,
       accepted_at, started_at, ended_at, usage, error, forgotten)
     SELECT ?, ?, channel, actor, durable, status, attempts, 0, accepted_at, started_at, ended_at,
       usage, error, forgotten
     FROM turns WHERE turn = ?`,
  );
  const copyInput = query(
    db,
    "INSERT INTO inputs (turn, tokens, parts) SELECT ?, tokens, parts FROM inputs WHERE turn = ?",
  );
  const copyFiles = query(
    db,
    `INSERT OR IGNORE INTO session_files (session_id, sha256)
     SELECT ?, p.value ->> '$.file.sha256'
     FROM inputs AS input CROSS JOIN json_each(input.parts) AS p
     WHERE input.turn = ? AND instr(input.parts, '"sha256"') > 0 AND p.value ->> '$.file.sha256' NOT NULL`,
  );
  const copySaidFiles = query(
    db,
    `INSERT OR IGNORE INTO session_files (session_id, sha256)
     SELECT ?, f.sha256
     FROM messages AS said CROSS JOIN json_each(said.body, '$.media') AS p
     CROSS JOIN session_files AS f ON f.session_id = ? AND f.sha256 = substr(p.value ->> '$.path', -64)
     WHERE said.id = ?`,
  );
  const copyMessage = query(
    db,
    `INSERT INTO messages (session_id, turn, seq, tokens, body)
     SELECT ?, ?, 0, tokens, body FROM messages WHERE id = ?`,
  );
  const insertStart = query(
    db,
    "INSERT INTO context_starts (session_id, first, turn, summary) VALUES (?, ?, ?, ?)",
  );
  const enter = query(
    db,
    "INSERT INTO context (session_id, place, message, turn) VALUES (?, ?, ?, ?)",
  );

  function copyTurns(target: number, turns: readonly number[]): Ids {
    const ids: Ids = new Map();
    for (const [at, turn] of turns.entries()) {
      // No session has the number of another, also not of one that is gone.
      const copy = copyTurn.insert(`fork${target}.${at + 1}`, target, turn);
      copyInput.run(copy, turn);
      copyFiles.run(target, turn);
      ids.set(turn, copy);
    }
    return ids;
  }

  function copyMessages(target: number, rows: readonly MessageRow[], turns: Ids): Ids {
    const ids: Ids = new Map();
    for (const [id, turn] of rows) {
      ids.set(id, copyMessage.insert(target, turns.get(turn) ?? NO_TURN, id));
    }
    return ids;
  }

  /**
   * The starts of the context that lie in what is copied, with the ids of the copies. Returns the
   * latest.
   */
  function copyStarts(
    source: number,
    target: number,
    { end, turns, messages }: { end: number; turns: Ids; messages: Ids },
  ): StartRow | undefined {
    const copied = [...messages.keys()];
    const past = (messages.get(copied.at(-1) ?? 0) ?? 0) + 1;
    let latest: StartRow | undefined;
    for (const [first, turn, summary] of selectStarts.all(source)) {
      if (turn === null ? first > end : !turns.has(turn)) continue;
      const kept = copied[lowerBound(copied, first)];
      latest = [
        kept === undefined ? past : messages.get(kept)!,
        turn === null ? null : turns.get(turn)!,
        summary === null ? null : messages.get(summary) ?? null,
      ];
      insertStart.run(target, ...latest);
    }
    return latest;
  }

  function copy(source: Session, { targetKey, beforeUserIndex }: Fork): Session | Refused {
    const found = selectUser.get(source.id, beforeUserIndex)?.[0];
    const count = found === undefined ? countUsers.get(source.id)![0] : Infinity;
    if (beforeUserIndex > count) {
      return new Refused(
        invalid(
          "before_user_index",
          `Cannot use ${beforeUserIndex} as "before_user_index": an integer from 0 to ${count}, ` +
            `the number of messages of people in the session, is needed`,
        ),
      );
    }
    const end = found ?? Number.MAX_SAFE_INTEGER;
    const rows = selectTurns.all(source.id, end);
    const forgotten = new Set(
      rows.filter(([, forgotten]) => forgotten === 1).map(([turn]) => turn),
    );
    const chosen = rows.map(([turn]) => turn).sort((a, b) => a - b);
    // Without a message, the first one of the fork is to name it.
    const title = chosen.length === 0 ? "" : source.title;
    const target = sessions.insertLike(source, targetKey, { title, turns: chosen.length });
    const turns = copyTurns(target, chosen);
    const copied = selectMessages.all(source.id).filter(([id, turn]) =>
      turn === NO_TURN ? id < end : turns.has(turn)
    );
    const messages = copyMessages(target, copied, turns);
    for (const [id] of copied) copySaidFiles.run(target, source.id, id);
    const [first, turn, summary] = copyStarts(source.id, target, { end, turns, messages }) ??
      [0, null, null];
    if (summary !== null) enter.run(target, 0, summary, turn);
    for (const [id, turn, isSummary] of copied) {
      const copy = messages.get(id)!;
      if (copy < first || isSummary === 1 || forgotten.has(turn)) continue;
      enter.run(target, copy, copy, turns.get(turn) ?? NO_TURN);
    }
    return sessions.find(targetKey)!;
  }

  return {
    async fork(fork) {
      const { sourceKey, targetKey, beforeUserIndex } = fork;
      checkName("targetKey", targetKey);
      checkInteger("before_user_index", beforeUserIndex, 0);
      return await writer.write("full", () => {
        const source = sessions.find(sourceKey);
        if (source === undefined) {
          const message = `There is no session ${JSON.stringify(sourceKey)}`;
          return new Refused(new ServiceError("not_found", message, { param: "sourceKey" }));
        }
        if (sessions.find(targetKey) !== undefined) {
          const message = `Cannot fork into session ${
            JSON.stringify(targetKey)
          }: it exists already`;
          return new Refused(invalid("targetKey", message));
        }
        return copy(source, fork);
      });
    },
  };
}

/** Index of the first number that is at least `least`, in rising ones. */
function lowerBound(numbers: readonly number[], least: number): number {
  let from = 0;
  for (let to = numbers.length; from < to;) {
    const middle = (from + to) >>> 1;
    if (numbers[middle]! < least) from = middle + 1;
    else to = middle;
  }
  return from;
}
