import type { TurnAutomation } from "../contract/turns.ts";
import { invalid } from "./checks.ts";
import type { EventSource } from "./delta_log.ts";
import type { EventLog } from "./events.ts";
import type { MessageLog } from "./messages.ts";
import { newTurnState, noteEvent, noteMessage, type TurnState } from "./turn_state.ts";
import type { TurnRows } from "./turns.ts";
import { Refused } from "./writer.ts";

/** A turn that is queued or running. */
export interface OpenTurn extends EventSource {
  durable: boolean;
  attempts: number;
  /** Its events come after this seq. */
  afterSeq: number;
  /** Id of its user message; undefined until it was started. */
  firstMessage: number | undefined;
  /** When it was started first. */
  startedAt: number | undefined;
  automation?: TurnAutomation;
  state: TurnState;
}

/**
 * The turns that have not ended, kept in memory so that an event costs no read. All of it can be
 * derived from the tables, so an undone batch is answered by forgetting all of it.
 */
export interface OpenTurns {
  /** The turn, read from the tables when it is not in memory; refuses an unknown and an ended one. */
  get(id: string): OpenTurn | Refused;
  /** The turn if it is in memory. */
  peek(id: string): OpenTurn | undefined;
  add(open: OpenTurn): void;
  delete(id: string): void;
  clear(): void;
  size(): number;
}

/** An {@linkcode OpenTurns} over the rows of a journal. */
export function createOpenTurns(
  { turns, events, messages }: { turns: TurnRows; events: EventLog; messages: MessageLog },
): OpenTurns {
  const known = new Map<string, OpenTurn>();

  function load(id: string): OpenTurn | undefined {
    const row = turns.findOpen(id);
    if (row === undefined) return undefined;
    const open: OpenTurn = { ...row, id, state: newTurnState() };
    const { state, sessionId, afterSeq, firstMessage } = open;
    const written = firstMessage === undefined ? [] : messages.ofTurn(open, firstMessage);
    let next = 0;
    for (const { seq, turnId, event } of events.read(sessionId, afterSeq)) {
      while (next < written.length && written[next]!.seq < seq) {
        noteMessage(state, written[next++]!.message);
      }
      if (turnId === id) noteEvent(state, event);
    }
    for (; next < written.length; next++) noteMessage(state, written[next]!.message);
    return open;
  }

  return {
    get(id) {
      const open = known.get(id) ?? load(id);
      if (open === undefined) {
        const why = turns.exists(id) ? "it has ended" : "there is none";
        return new Refused(invalid("turnId", `Cannot write to turn ${JSON.stringify(id)}: ${why}`));
      }
      known.set(id, open);
      return open;
    },
    peek: (id) => known.get(id),
    add(open) {
      known.set(open.id, open);
    },
    delete(id) {
      known.delete(id);
    },
    clear() {
      known.clear();
    },
    size: () => known.size,
  };
}
