/**
 * The grammar of a turn's events, as `events.ts` states it.
 *
 * @module
 */

import type { AgentEvent } from "../../contract/events.ts";

/** Says what is wrong with the events of an ended turn; nothing if nothing is. */
export function grammarFaults(events: readonly AgentEvent[]): string[] {
  const faults: string[] = [];
  const open = new Map<string, string>();
  const closed = new Set<string>();
  const calls = new Map<string, "open" | "answered">();
  /** The call of each that waits, or that it was resolved. */
  const approvals = new Map<string, string>();
  let answers = 0;
  if (events[0]?.type !== "turn_start") faults.push(`begins with ${events[0]?.type}`);
  events.forEach((event, at) => {
    const isLast = at === events.length - 1;
    switch (event.type) {
      case "turn_start":
        if (at > 0) faults.push("a second turn_start");
        break;
      case "text_delta":
      case "reasoning_delta":
        if (event.text === "") faults.push("an empty delta");
        if (closed.has(event.streamId)) faults.push(`a delta after the end of ${event.streamId}`);
        if ((open.get(event.streamId) ?? event.type) !== event.type) faults.push("a mixed stream");
        open.set(event.streamId, event.type);
        break;
      case "segment_end":
      case "reasoning_end": {
        const wanted = event.type === "segment_end" ? "text_delta" : "reasoning_delta";
        if (open.get(event.streamId) !== wanted) faults.push(`${event.type} of no open stream`);
        open.delete(event.streamId);
        closed.add(event.streamId);
        if (event.type === "segment_end" && !event.resuming && !event.cut) answers++;
        break;
      }
      case "tool_call":
        if (calls.has(event.callId)) faults.push(`the call ${event.callId} twice`);
        calls.set(event.callId, "open");
        break;
      case "tool_progress":
        if (calls.get(event.callId) !== "open") {
          faults.push(`progress of ${event.callId}, not open`);
        }
        break;
      case "approval_requested": {
        const { callId, approval: { id } } = event;
        if (calls.get(callId) !== "open") faults.push(`an approval of ${callId}, not open`);
        if (approvals.has(id)) faults.push(`the approval ${id} twice`);
        approvals.set(id, callId);
        break;
      }
      case "approval_resolved": {
        const { callId, approvalId } = event;
        if (approvals.get(approvalId) !== callId) {
          faults.push(`the end of no approval ${approvalId}`);
        }
        approvals.set(approvalId, "resolved");
        break;
      }
      case "tool_result":
        if (calls.get(event.callId) !== "open") faults.push(`result of ${event.callId}, not open`);
        if ([...approvals.values()].includes(event.callId)) {
          faults.push(`result of ${event.callId}, whose approval waits`);
        }
        calls.set(event.callId, "answered");
        break;
      case "error":
        if (events[at + 1]?.type !== "turn_end") faults.push("an error before the end");
        break;
      case "turn_end":
        if (!isLast) faults.push("something after turn_end");
        if (answers > (event.status === "done" ? 1 : 0)) {
          faults.push(`${answers} answers of a turn with status ${event.status}`);
        }
        if ((event.status === "done") === (events[at - 1]?.type === "error")) {
          faults.push(`status ${event.status} after ${events[at - 1]?.type}`);
        }
        break;
      case "usage":
      case "notice":
      case "summary":
        break;
    }
    if (isLast && event.type !== "turn_end") faults.push(`ends with ${event.type}`);
  });
  for (const streamId of open.keys()) faults.push(`${streamId} was not closed`);
  for (const [callId, state] of calls) {
    if (state === "open") faults.push(`${callId} has no result`);
  }
  return faults;
}
