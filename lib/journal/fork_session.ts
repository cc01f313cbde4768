import type { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../base/errors.ts";
import { checkInteger, checkName, invalid } from "./checks.ts";
import { Queries } from "./query.ts";
import type { SessionRows } from "./sessions.ts";
import type { Fork, Session } from "../contract/journal.ts";
import { Refused, type Writer } from "./writer.ts";

/** What stands for the turn of a message that none said. */
const NO_TURN = 0;

type MessageRow = [id: number, turn: number];
type StartRow = [first: number, turn: number | null, summary: number | null];

/** An id of the source and the one that stands for it in the fork. */
type Ids = Map<number, number>;

/** What is copied so far. */
interface Copies {
  source: number;
  target: number;
  /** Id of the first message that stays behind. */
  end: number;
  turns: Ids;
  messages: Ids;
}

/**
 * Copies whole turns that have ended, and messages from elsewhere between them. What one was given and
 * said is copied with its row, so that nothing of the fork goes with the source when that is deleted.
 */
export class SessionForks extends Queries {
  readonly #selectUser = this.query<[number]>(
    "SELECT id FROM messages WHERE session_id = ? AND body IS NULL AND users = ?",
  );
  readonly #countUsers = this.query<[number]>(
    "SELECT count(*) FROM messages WHERE session_id = ? AND body IS NULL",
  );
  // A turn has one message of a person; its row may not name it when the turn never ran.
  readonly #selectTurns = this.query(
    `SELECT t.turn FROM messages AS m CROSS JOIN turns AS t ON t.turn = m.turn
     WHERE m.session_id = ? AND m.id < ? AND m.body IS NULL AND t.ended_at NOT NULL`,
    ([turn]: [number]) => turn,
  );
  readonly #selectMessages = this.query<MessageRow>(
    "SELECT id, turn FROM messages WHERE session_id = ? ORDER BY id",
  );
  readonly #selectStarts = this.query<StartRow>(
    "SELECT first, turn, summary FROM context_starts WHERE session_id = ? ORDER BY start",
  );
  readonly #copyTurn = this.query(
    `INSERT INTO turns (id, session_id, channel, actor, durable, status,
      attempts, after_seq, accepted_at, started_at, ended_at, usage, models, error, forgotten)
    SELECT ?, ?, channel, actor, durable, status, attempts, 0, accepted_at, started_at, ended_at,
      usage, models, error, forgotten
    FROM turns WHERE turn = ?`,
  );
  readonly #copyInput = this.query(
    "INSERT INTO inputs (turn, tokens, parts) SELECT ?, tokens, parts FROM inputs WHERE turn = ?",
  );
  readonly #copyFiles = this.query(`INSERT OR IGNORE INTO session_files (session_id, sha256)
    SELECT ?, p.value ->> '$.file.sha256'
    FROM inputs AS input CROSS JOIN json_each(input.parts) AS p
    WHERE input.turn = ? AND instr(input.parts, '"sha256"') > 0 AND p.value ->> '$.file.sha256' NOT NULL`);
  readonly #copySaidFiles = this.query(`INSERT OR IGNORE INTO session_files (session_id, sha256)
    SELECT ?, f.sha256
    FROM messages AS said CROSS JOIN json_each(said.body, '$.media') AS p
    CROSS JOIN session_files AS f ON f.session_id = ? AND f.sha256 = substr(p.value ->> '$.path', -64)
    WHERE said.session_id = ? AND said.id = ?`);
  readonly #copyMessage = this.query<[isUser: number]>(
    `INSERT INTO messages (session_id, id, turn, seq, tokens, users, summary, body)
     SELECT ?, ?, ?, 0, tokens, ?, summary, body FROM messages WHERE session_id = ? AND id = ?
     RETURNING body IS NULL`,
  );
  readonly #insertStart = this.query(
    "INSERT INTO context_starts (session_id, first, turn, summary) VALUES (?, ?, ?, ?)",
  );
  readonly #writer: Writer;
  readonly #sessions: SessionRows;

  constructor(db: DatabaseSync, writer: Writer, sessions: SessionRows) {
    super(db);
    this.#writer = writer;
    this.#sessions = sessions;
  }

  /** See `Journal.forkSession`. */
  async fork({ sourceKey, targetKey, beforeUserIndex }: Fork): Promise<Session> {
    checkName("targetKey", targetKey);
    checkInteger("before_user_index", beforeUserIndex, 0);
    return await this.#writer.write("full", () => {
      const source = this.#sessions.find(sourceKey);
      if (source === undefined) {
        const message = `There is no session ${JSON.stringify(sourceKey)}`;
        return new Refused(new ServiceError("not_found", message, { param: "sourceKey" }));
      }
      if (this.#sessions.find(targetKey) !== undefined) {
        const session = `session ${JSON.stringify(targetKey)}`;
        const message = `Cannot fork into ${session}: it exists already`;
        return new Refused(invalid("targetKey", message));
      }
      const end = this.#endOf(source.id, beforeUserIndex);
      return end instanceof Refused ? end : this.#copy(source, targetKey, end);
    });
  }

  /** Id of the message of a person at an index, past all for the index after the last. */
  #endOf(sessionId: number, index: number): number | Refused {
    const found = this.#selectUser.get(sessionId, index);
    if (found !== undefined) return found[0];
    const count = this.#countUsers.get(sessionId)![0];
    if (index === count) return Number.MAX_SAFE_INTEGER;
    return new Refused(
      invalid(
        "before_user_index",
        `Cannot use ${index} as "before_user_index": an integer from 0 to ${count}, ` +
          `the number of messages of people in the session, is needed`,
      ),
    );
  }

  #copy(source: Session, targetKey: string, end: number): Session {
    const chosen = this.#selectTurns.all(source.id, end).sort((a, b) => a - b);
    // Without a message, the first one of the fork is to name it.
    const title = chosen.length === 0 ? "" : source.title;
    const { modelPreset, folder } = source;
    const facts = { title, turns: chosen.length, modelPreset, folder };
    const target = this.#sessions.insert(targetKey, facts);
    const turns = this.#copyTurns(target, chosen);
    const messages: Ids = new Map();
    let users = 0;
    for (const [id, turn] of this.#selectMessages.all(source.id)) {
      if (turn === NO_TURN ? id >= end : !turns.has(turn)) continue;
      const copy = messages.size + 1;
      messages.set(id, copy);
      const place = [target, copy, turns.get(turn) ?? NO_TURN, users];
      users += this.#copyMessage.get(...place, source.id, id)![0];
      this.#copySaidFiles.run(target, source.id, source.id, id);
    }
    this.#copyStarts({ source: source.id, target, end, turns, messages });
    return this.#sessions.find(targetKey)!;
  }

  #copyTurns(target: number, turns: readonly number[]): Ids {
    const ids: Ids = new Map();
    for (const [at, turn] of turns.entries()) {
      // No session has the number of another, also not of one that is gone.
      const copy = this.#copyTurn.insert(`fork${target}.${at + 1}`, target, turn);
      this.#copyInput.run(copy, turn);
      this.#copyFiles.run(target, turn);
      ids.set(turn, copy);
    }
    return ids;
  }

  /** Copies the starts of the context that lie in what is copied. */
  #copyStarts({ source, target, end, turns, messages }: Copies): void {
    const copied = [...messages.keys()];
    for (const [first, turn, summary] of this.#selectStarts.all(source)) {
      if (turn === null ? first > end : !turns.has(turn)) continue;
      this.#insertStart.run(
        target,
        // Copies count from 1.
        lowerBound(copied, first) + 1,
        turn === null ? null : turns.get(turn)!,
        summary === null ? null : messages.get(summary) ?? null,
      );
    }
  }
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
