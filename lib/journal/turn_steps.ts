import type { AgentEvent } from "../contract/events.ts";
import type { Message } from "../contract/messages.ts";
import { checkInteger, invalid } from "./checks.ts";
import { type EncodedEvent, encodeEvent } from "./event_rows.ts";
import type { OpenTurn } from "./open_turns.ts";
import type { JournalParts, TurnWrites } from "./turn_writes.ts";
import type { Durability, Journal } from "../contract/journal.ts";
import { Refused, type Writer } from "./writer.ts";

/** What {@linkcode createTurnSteps} needs. */
export interface TurnStepsDependencies {
  writer: Writer;
  parts: Pick<JournalParts, "turns" | "openTurns">;
  writes: TurnWrites;
}

/** Event types that have a write of their own. */
const RESERVED: ReadonlySet<AgentEvent["type"]> = new Set([
  "turn_end",
  "summary",
  "session_updated",
  "message",
]);

/**
 * The steps of a turn. What can be checked or encoded without the database is done before a write enters
 * the batch, so that it fails alone and is not done again.
 */
export function createTurnSteps(
  { writer, parts: { turns, openTurns }, writes }: TurnStepsDependencies,
): Pick<Journal, "start" | "append" | "addMessage" | "end" | "requeue" | "compact"> {
  function writeTurn<T>(
    turnId: string,
    durability: Durability,
    chars: number,
    run: (open: OpenTurn) => T,
  ): Promise<T> {
    return writer.write(durability, () => {
      const open = openTurns.get(turnId);
      return open instanceof Refused ? open : run(open);
    }, chars);
  }

  return {
    start(turnId) {
      // Attempts of a turn that goes on after a crash are counted on the disk, so that one that takes
      // the machine down with it is given up too. Nothing depends on those of any other.
      const durability = openTurns.peek(turnId)?.durable === false ? "normal" : "full";
      return writeTurn(turnId, durability, 0, (open) => writes.start(open));
    },
    async append(turnId, added, durability = "normal") {
      const events = encodeAll(added);
      return await writeTurn(turnId, durability, charsOf(events), (open) => (
        writes.say(open, events)
      ));
    },
    async addMessage(turnId, message, options = {}) {
      const events = encodeAll(options.events ?? []);
      const body = JSON.stringify(message);
      const durability = options.durability ?? defaultDurability(message);
      await writeTurn(turnId, durability, charsOf(events) + body.length, (open) => {
        writes.say(open, events);
        writes.tell(open, message, body);
      });
    },
    // Not `async`: whoever has read the end finds its lane free, so nothing is put between the two.
    end(turnId, { answer, ...end }) {
      const events = encodeAll(answer?.events ?? []);
      const body = answer === undefined ? "" : JSON.stringify(answer.message);
      return writeTurn(turnId, "full", charsOf(events) + body.length, (open) => {
        writes.say(open, events);
        if (answer !== undefined) writes.tell(open, answer.message, body);
        writes.end(open, end);
      });
    },
    requeue: (turnId) =>
      writeTurn(turnId, "full", 0, (open) => turns.requeue(open.turn, { crashed: false })),
    async compact(turnId, summary, keepFrom) {
      checkInteger("keepFrom", keepFrom, 1);
      await writeTurn(turnId, "normal", summary.length, (open) => (
        writes.compact(open, summary, keepFrom)
      ));
    },
  };
}

function encodeAll(events: readonly AgentEvent[]): EncodedEvent[] {
  return events.map((event) => {
    if (RESERVED.has(event.type)) {
      throw invalid("events", `Cannot append "${event.type}": it has a write of its own`);
    }
    return encodeEvent(event);
  });
}

function charsOf(events: readonly EncodedEvent[]): number {
  return events.reduce((sum, { body }) => sum + body.length, 0);
}

/** Tool results may not be lost once a model has seen them. */
function defaultDurability({ role }: Message): Durability {
  return role === "tool" ? "full" : "normal";
}
