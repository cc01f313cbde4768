/** A stream that is taken up after a crash goes on as if nothing had happened to it. */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { AgentEvent } from "../../../contract/events.ts";
import { openJournal } from "../../../journal/open.ts";
import { crashCopy, newTurn, replay, withFolder } from "../../../journal/testing/steps.ts";
import type { Journal } from "../../../contract/journal.ts";
import { eventLines } from "./response_event.ts";
import { ResponseEvents } from "./response_events.ts";
import type { ResponseIdentity } from "./response_object.ts";
import { anyTurn } from "./testing/any_turn.ts";
import { rounds } from "../../../../tests/support/rounds.ts";

const TURN_ID = "t1";

/** What is written to a turn's journal by one run of it. */
async function write(journal: Journal, events: readonly AgentEvent[]): Promise<void> {
  for (const event of events) {
    if (event.type === "turn_end") {
      const error = events.find((event) => event.type === "error")?.error;
      await journal.end(TURN_ID, { event, error, forget: false });
    } else if (event.type !== "error") {
      await journal.append(TURN_ID, [event]);
    }
  }
}

/** The blocks of the response's stream, as far as the journal has them. */
async function blocks(journal: Journal): Promise<string[]> {
  const turn = journal.turn(TURN_ID)!;
  const identity: ResponseIdentity = {
    turnId: turn.id,
    acceptedAt: turn.acceptedAt,
    echo: {
      model: "fake/one",
      previous_response_id: null,
      metadata: {},
      store: true,
      background: true,
    },
  };
  const mapper = new ResponseEvents(identity, () => journal.turn(TURN_ID)!.endedAt);
  const events = [mapper.created()];
  for (const { event } of await replay(journal, turn.sessionId, turn.afterSeq)) {
    events.push(...mapper.next(event));
  }
  return events.map(eventLines);
}

/** A run of a turn that has been going on: its stream ids are no others'. */
function secondRun(events: readonly AgentEvent[]): AgentEvent[] {
  return events.slice(1).map((event) => {
    if ("streamId" in event) return { ...event, streamId: `again.${event.streamId}` };
    return "callId" in event ? { ...event, callId: `again.${event.callId}` } : event;
  });
}

Deno.test("W3 a stream of a response goes on after a crash, to the byte", async () => {
  await fc.assert(
    fc.asyncProperty(anyTurn, anyTurn, fc.nat(), async (first, second, at) => {
      // The process dies at some moment before the turn's end is on record.
      const said = first.slice(0, 1 + at % (first.findIndex(isEnd) - 1 || 1));
      await withFolder(async (folder) => {
        const journal = openJournal({ path: `${folder}/a.db` });
        await journal.accept(newTurn(TURN_ID, { durable: true }));
        await journal.start(TURN_ID);
        await write(journal, said);
        const before = await blocks(journal);
        crashCopy(`${folder}/a.db`, `${folder}/b.db`);
        await journal.close();

        const reopened = openJournal({ path: `${folder}/b.db` });
        assertEquals((await reopened.recover()).resume.length, 1);
        await reopened.start(TURN_ID);
        await write(reopened, secondRun(second));
        const whole = await blocks(reopened);
        assertEquals(whole.slice(0, before.length), before);
        assert(whole.length > before.length);
        await reopened.close();

        const again = openJournal({ path: `${folder}/b.db` });
        assertEquals(await blocks(again), whole);
        await again.close();
      });
    }),
    { numRuns: rounds(25) },
  );
});

function isEnd({ type }: AgentEvent): boolean {
  return type === "error" || type === "turn_end";
}
