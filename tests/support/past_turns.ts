/**
 * Turns that have ended, written straight into a journal: what no test has the time to talk about.
 *
 * @module
 */

import { NO_USAGE } from "../../lib/contract/events.ts";
import type { Journal } from "../../lib/contract/journal.ts";

/** Turns that are written in one batch. */
const BATCH = 100;

/** Turns to add to a session. */
export interface PastTurns {
  /** Such as `api:default`. */
  sessionKey: string;
  turns: number;
  /** What the person says, from 0. */
  input: (turn: number) => string;
  /** The pieces of the answer. */
  answer: (turn: number) => readonly string[];
}

/** Adds them. */
export async function addPastTurns(
  journal: Journal,
  { sessionKey, turns, input, answer }: PastTurns,
): Promise<void> {
  const channel = sessionKey.split(":")[0]!;
  for (let begin = 0; begin < turns; begin += BATCH) {
    // Not awaited one by one: writes keep their order, and a batch is one commit.
    const writes = Array.from({ length: Math.min(BATCH, turns - begin) }, (_, at) => {
      const turn = begin + at;
      const id = `${sessionKey}-${turn}`;
      const streamId = `${id}.1.1`;
      const pieces = answer(turn);
      return [
        journal.accept({
          id,
          sessionKey,
          channel,
          actor: `${channel}:anonymous`,
          input: [{ type: "text", text: input(turn) }],
          durable: false,
        }),
        journal.start(id),
        journal.append(id, [
          { type: "turn_start", model: "local/fake" },
          ...pieces.map((text) => ({ type: "text_delta", streamId, text }) as const),
        ]),
        journal.addMessage(id, { role: "assistant", text: pieces.join(""), calls: [] }, {
          events: [{ type: "segment_end", streamId, resuming: false }],
        }),
        journal.end(id, {
          event: { type: "turn_end", status: "done", finishReason: "stop", usage: NO_USAGE },
          forget: false,
        }),
      ];
    });
    await Promise.all(writes.flat());
  }
}
