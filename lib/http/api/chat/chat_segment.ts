/**
 * What one response tells of a turn: from its start, or from the approval that the request answers, to
 * its end, or to the next approval that its client is asked about. Segments follow each other without
 * a gap and without an overlap, whenever they are read.
 *
 * @module
 */

import type { ApprovalView } from "../../../contract/actions.ts";
import {
  addUsage,
  type AgentEvent,
  NO_USAGE,
  type StoredEvent,
  type Usage,
} from "../../../contract/events.ts";

/** Ends a segment: the client is asked. */
export interface ApprovalAsked {
  type: "approval_asked";
  approval: ApprovalView;
  /** Of the segment. */
  usage: Usage;
}

/** What a response is made of. */
export type ChatEvent = AgentEvent | ApprovalAsked;

/** Where a segment begins and ends. */
export interface SegmentOptions {
  /** Id of the approval after which it begins; undefined: with the turn. */
  after: string | undefined;
  /** Asks the client about what waits; false: this one isn't asked. */
  ask: (approval: ApprovalView) => Promise<boolean>;
}

/** The events of a segment; usage is what was used in it. */
export async function* chatSegment(
  events: AsyncIterable<StoredEvent>,
  { after, ask }: SegmentOptions,
): AsyncGenerator<{ event: ChatEvent }> {
  let begun = after === undefined;
  let usage = NO_USAGE;
  for await (const { event } of events) {
    if (!begun) {
      begun = event.type === "approval_requested" && event.approval.id === after;
      continue;
    }
    if (event.type === "usage") usage = addUsage(usage, event.usage);
    if (event.type === "turn_end") return yield { event: { ...event, usage } };
    yield { event };
    if (event.type === "approval_requested" && await ask(event.approval)) {
      return yield { event: { type: "approval_asked", approval: event.approval, usage } };
    }
  }
}
