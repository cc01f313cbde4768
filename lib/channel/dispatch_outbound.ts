/**
 * Gives a message to the member of a runtime that is for it, whether its event is a typed one or a
 * legacy flag.
 *
 * @module
 */

import { withTypedEvent } from "./outbound_event.ts";
import type { OutboundMessage, ReasoningDelta, StreamDelta } from "../contract/outbound_message.ts";

/** The members of a runtime that take something out. */
export interface OutboundMembers {
  send(message: OutboundMessage): Promise<void>;
  sendDelta?(piece: StreamDelta): Promise<void>;
  sendReasoningDelta(piece: ReasoningDelta): Promise<void>;
  sendReasoningEnd(end: Omit<ReasoningDelta, "delta">): Promise<void>;
}

/**
 * Resolves and rejects as the member does. Pieces of a stream go to `sendDelta`, or to `send` of a
 * runtime without one; what is thought aloud never goes to `send`; everything else goes there.
 */
export async function dispatchOutbound(
  runtime: OutboundMembers,
  message: OutboundMessage,
): Promise<void> {
  const typed = withTypedEvent(message);
  const { chatId, content, metadata, event } = typed;
  switch (event?.type) {
    case "stream_delta":
    case "stream_end": {
      if (runtime.sendDelta === undefined) return await runtime.send(typed);
      const streamEnd = event.type === "stream_end";
      return await runtime.sendDelta({
        chatId,
        delta: content,
        metadata,
        ...event.streamId !== undefined && { streamId: event.streamId },
        streamEnd,
        resuming: streamEnd && event.resuming,
      });
    }
    case "reasoning_delta":
    case "reasoning_end": {
      const end = {
        chatId,
        metadata,
        ...event.streamId !== undefined && { streamId: event.streamId },
      };
      if (event.type === "reasoning_delta") {
        return await runtime.sendReasoningDelta({ ...end, delta: content });
      }
      if (content !== "") await runtime.sendReasoningDelta({ ...end, delta: content });
      return await runtime.sendReasoningEnd(end);
    }
    default:
      return await runtime.send(typed);
  }
}
