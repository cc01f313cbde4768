import type { DatabaseSync } from "node:sqlite";
import type { Message } from "../contract/messages.ts";
import type { MessageLog } from "./messages.ts";
import { query } from "./query.ts";
import type { TurnRows } from "./turns.ts";

/**
 * Messages of the agent that no turn of the session said, on their way into the context. One that comes
 * while a turn runs waits for its end: between a call and its result, or a question and its answer, no
 * other message may stand. Everything is called inside a batch of the writer.
 */
export interface SaidLog {
  /** `seq`: of the event that said it. `body` is the message's JSON. */
  add(sessionId: number, seq: number, message: Message, body: string): void;
  /** The turn that ran has ended: what waited enters the context. */
  release(sessionId: number, seq: number): void;
}

/** A {@linkcode SaidLog} over the table `said_waiting`. */
export function createSaidLog(
  { db, messages, turns }: { db: DatabaseSync; messages: MessageLog; turns: TurnRows },
): SaidLog {
  const insert = query(db, "INSERT INTO said_waiting (session_id, body) VALUES (?, ?)");
  const select = query<[string]>(
    db,
    "SELECT body FROM said_waiting WHERE session_id = ? ORDER BY said",
  );
  const remove = query(db, "DELETE FROM said_waiting WHERE session_id = ?");
  const noTurn = (sessionId: number) => ({ sessionId, turn: 0, id: "" });

  return {
    add(sessionId, seq, message, body) {
      if (turns.isStarted(sessionId)) insert.run(sessionId, body);
      else messages.add(noTurn(sessionId), seq, message, body);
    },
    release(sessionId, seq) {
      const waiting = select.all(sessionId);
      if (waiting.length === 0) return;
      for (const [body] of waiting) {
        messages.add(noTurn(sessionId), seq, JSON.parse(body), body);
      }
      remove.run(sessionId);
    },
  };
}
