import { assert, assertEquals } from "@std/assert";
import type { StoredEvent } from "../../contract/events.ts";
import type { StoredMessage } from "../../contract/journal.ts";

/**
 * Asserts what must hold of a session without an open turn, or with one that waits to go on: numbers
 * without a gap, every stream ended after its last delta, every call with one result, an `error`
 * before each end that is none of success, nothing of a turn after its end, and a context in which
 * every call is answered right after the step that made it.
 */
export function assertWhole(
  events: readonly StoredEvent[],
  context: readonly StoredMessage[],
): void {
  assertEquals(events.map(({ seq }) => seq), events.map((_, index) => index + 1));
  const streams = new Set<string>();
  const calls = new Set<string>();
  const approvals = new Set<string>();
  const ended = new Set<string>();
  let last: StoredEvent | undefined;
  for (const { turnId, event } of events) {
    assert(!ended.has(turnId), `${event.type} after the end of ${turnId}`);
    switch (event.type) {
      case "text_delta":
      case "reasoning_delta":
        streams.add(`${turnId} ${event.type} ${event.streamId}`);
        break;
      case "segment_end":
        streams.delete(`${turnId} text_delta ${event.streamId}`);
        break;
      case "reasoning_end":
        streams.delete(`${turnId} reasoning_delta ${event.streamId}`);
        break;
      case "tool_call":
        assert(!calls.has(event.callId), `${event.callId} is called twice`);
        calls.add(event.callId);
        break;
      case "approval_requested":
        assert(calls.has(event.callId), `an approval of ${event.callId}, not called`);
        approvals.add(event.approval.id);
        break;
      case "approval_resolved":
        assert(approvals.delete(event.approvalId), `the end of no approval ${event.approvalId}`);
        break;
      case "tool_result":
        assert(calls.delete(event.callId), `a result of ${event.callId} without a call`);
        break;
      case "turn_end":
        ended.add(turnId);
        assertEquals(event.status === "done", last?.event.type !== "error");
        break;
      default:
        break;
    }
    last = { seq: 0, turnId, event };
  }
  assertEquals([...streams], []);
  assertEquals([...approvals], []);
  assertEquals([...calls], []);

  for (const [index, { message }] of context.entries()) {
    const before = context[index - 1]?.message;
    const owed = before?.role === "assistant" ? before.calls.map(({ callId }) => callId) : [];
    if (message.role === "tool") {
      assertEquals(message.results.map(({ callId }) => callId).sort(), owed.sort());
    } else {
      assertEquals(owed, []);
    }
  }
  const end = context.at(-1)?.message;
  assert(end?.role !== "assistant" || end.calls.length === 0, "the last calls have no results");
}
