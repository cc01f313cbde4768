/**
 * What of an event is shown to a client, and how: at most one frame each. A pure function, so that a
 * frame that is replayed is the frame that was seen.
 *
 * @module
 */

import type { SaidFromElsewhere, StoredEvent } from "../../../lib/contract/events.ts";
import type { OutFile } from "../../../lib/contract/messages.ts";
import { approvalOnWire } from "../../../lib/contract/wire/approval_on_wire.ts";
import { errorFrame } from "../../../lib/listen/error_frame.ts";
import type { Frame, ServerFrame } from "../../../lib/contract/wire/frames.ts";
import { modelsOnWire, usageOnWire } from "../../../lib/contract/wire/usage_on_wire.ts";

/** What a channel shows. */
export interface ShownOptions {
  /** Answers piece by piece; otherwise the complete answer as one message, what was said before it as progress. */
  streaming: boolean;
  showReasoning: boolean;
  sendProgress: boolean;
  sendToolHints: boolean;
}

/** What a frame depends on beside the event. */
export interface FrameContext extends ShownOptions {
  chatId: string;
  /** First number that the frame covers. */
  seqFrom: number;
  /** Without streaming: what was said in the stretch that ends, and what goes out with an answer. */
  segment?: { text: string; files: readonly OutFile[]; replyTo?: string };
  /** The signed link of a file, saved under that name; undefined when there is none. */
  signMedia(path: string, name: string): string | undefined;
}

/** The frame of an event; undefined for one that is not shown. */
export function eventFrame(
  { seq, turnId, event }: StoredEvent,
  context: FrameContext,
): ServerFrame | undefined {
  const { chatId, seqFrom, streaming, showReasoning, sendProgress, sendToolHints } = context;
  const place = { chat_id: chatId, seq, ...seqFrom < seq && { seq_from: seqFrom } };
  const inTurn = { ...place, turn_id: turnId };
  switch (event.type) {
    case "turn_start":
      return { event: "turn_start", ...inTurn, model: event.model };
    case "text_delta":
      if (!streaming) return undefined;
      return { event: "delta", ...inTurn, stream_id: event.streamId, text: event.text };
    case "segment_end": {
      const { streamId, resuming, cut } = event;
      if (streaming) return { event: "stream_end", ...inTurn, stream_id: streamId, resuming };
      const { text, files, replyTo } = context.segment ?? { text: "", files: [] };
      if (text.trim() === "") return undefined;
      if (!resuming && !cut) return messageFrame({ text, media: files, replyTo }, inTurn, context);
      return sendProgress ? { event: "progress", ...inTurn, text, tool_hint: false } : undefined;
    }
    case "reasoning_delta":
      if (!showReasoning) return undefined;
      return { event: "reasoning_delta", ...inTurn, stream_id: event.streamId, text: event.text };
    case "reasoning_end":
      if (!showReasoning) return undefined;
      return { event: "reasoning_end", ...inTurn, stream_id: event.streamId };
    case "tool_call": {
      if (!sendToolHints) return undefined;
      const { callId, tool, hint } = event;
      return { event: "progress", ...inTurn, text: hint, tool_hint: true, tool, call_id: callId };
    }
    case "tool_progress": {
      if (!sendProgress) return undefined;
      const { callId, tool, text } = event;
      return { event: "progress", ...inTurn, text, tool_hint: false, tool, call_id: callId };
    }
    case "notice":
      if (!sendProgress) return undefined;
      return { event: "progress", ...inTurn, text: event.text, tool_hint: false };
    case "approval_requested":
      return { event: "approval_requested", ...inTurn, approval: approvalOnWire(event.approval) };
    case "approval_resolved": {
      const { approvalId, outcome } = event;
      return { event: "approval_resolved", ...inTurn, approval_id: approvalId, outcome };
    }
    case "error":
      return errorFrame(event.error, inTurn, { ofTurn: true });
    case "session_updated": {
      const { scope, modelPreset = null, title } = event;
      return { event: "session_updated", ...place, scope, model_preset: modelPreset, title };
    }
    case "files":
      // Without streaming they are part of the one message.
      if (!streaming) return undefined;
      return messageFrame({ ...event, text: "", media: event.files }, inTurn, context);
    case "message":
      return messageFrame(event, place, context);
    case "turn_end": {
      const { status, usage, models, tookMs } = event;
      return {
        event: "turn_end",
        ...inTurn,
        status,
        usage: usageOnWire(usage),
        ...models !== undefined && { models: modelsOnWire(models, usage) },
        ...tookMs !== undefined && { took_ms: tookMs },
      };
    }
    case "tool_result": {
      if (!sendToolHints) return undefined;
      const { callId, tool, status, tookMs } = event;
      return {
        event: "tool_result",
        ...inTurn,
        call_id: callId,
        tool,
        status,
        ...tookMs !== undefined && { took_ms: tookMs },
      };
    }
    case "usage":
    case "summary":
      return undefined;
  }
}

function messageFrame(
  { text, media = [], replyTo }: Pick<SaidFromElsewhere, "text" | "media" | "replyTo">,
  place: Pick<Frame<"message">, "chat_id" | "seq" | "seq_from" | "turn_id">,
  { signMedia }: FrameContext,
): Frame<"message"> {
  const urls = media.map(({ path, name }) => signMedia(path, name)).filter((url) =>
    url !== undefined
  );
  return {
    event: "message",
    ...place,
    text,
    ...media.length > 0 && { media: media.map(({ path }) => path) },
    ...urls.length > 0 && { media_urls: urls },
    ...replyTo !== undefined && { reply_to: replyTo },
  };
}
