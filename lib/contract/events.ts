/**
 * What a turn says while it runs: the one discriminated union that everything else reads.
 *
 * A turn appends these to the journal and produces no other output; the SSE of a request, the
 * frames of a socket, a channel's deliveries and the terminal are cursors over them.
 *
 * Order inside a turn: `turn_start`, then any number of segments, calls and results, then exactly
 * one `turn_end`, preceded by an `error` when the status is not `done`. A `text_delta` or
 * `reasoning_delta` belongs to the stream of its `streamId`; `segment_end` or `reasoning_end`
 * closes that stream, comes after its last delta, and comes for every stream that had a delta,
 * however the turn ends. Every `tool_call` is followed by exactly one `tool_result` of its callId;
 * between the two, every `approval_requested` is followed by exactly one `approval_resolved`.
 *
 * @module
 */

import type { ApprovalBrief, ApprovalOutcome, ApprovalView, Remedy } from "./actions.ts";
import type { ErrorData } from "../base/errors.ts";
import type { OutFile } from "./messages.ts";

/** Tokens of a turn or a model call, as the provider counted them; 0 when it did not say. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  /** Part of `outputTokens` that was reasoning. */
  reasoningTokens: number;
  /** Part of `inputTokens` that the provider read from its cache. */
  cachedTokens: number;
}

/** What a turn used of a model. */
export interface ModelUsage {
  /** `<provider>/<model id>`. */
  model: string;
  /** Absent: all that the turn used. */
  usage?: Usage;
}

/** How a turn ended. `interrupted`: the process stopped or died under it. */
export type TurnStatus = "done" | "failed" | "cancelled" | "timed_out" | "interrupted";

/** Why the model stopped: at its own end, or at its output limit. */
export type FinishReason = "stop" | "length";

/**
 * A session was changed by somebody, at any time: `scope` says what of it, the rest is how the session
 * is now. `context`: from here on, what was before is not sent to the model. It belongs to no turn, so
 * its `turnId` is empty, and readers of a turn do not get it.
 */
export interface SessionUpdated {
  type: "session_updated";
  scope: "title" | "model" | "context";
  /** Absent while the configured model is used. */
  modelPreset?: string;
  title: string;
}

/**
 * A message of the agent that no turn of this session said: one that another session, or an automation,
 * sent here. Its `turnId` is empty.
 */
export interface SaidFromElsewhere {
  type: "message";
  text: string;
  media?: readonly OutFile[];
  replyTo?: string;
}

/** One thing that happened in a turn. */
export type AgentEvent =
  /** `replyTo`: the id of the message that it answers, as its sender named it. */
  | { type: "turn_start"; model: string; replyTo?: string }
  | { type: "text_delta"; streamId: string; text: string }
  /**
   * `resuming`: the turn goes on after this segment (a tool call follows). `cut`: the turn broke off in
   * it. A segment with neither is the complete answer, and the turn ends as done.
   */
  | { type: "segment_end"; streamId: string; resuming: boolean; cut?: true }
  | { type: "reasoning_delta"; streamId: string; text: string }
  | { type: "reasoning_end"; streamId: string }
  /** `hint` is a short breadcrumb for people, such as `read_file notes.md`. */
  | { type: "tool_call"; callId: string; tool: string; args: unknown; hint: string }
  | { type: "tool_progress"; callId: string; tool: string; text: string }
  | {
    type: "tool_result";
    callId: string;
    tool: string;
    /** `refused`: the gate said no. `interrupted`: unknown whether it ran. */
    status: "ok" | "failed" | "refused" | "interrupted";
    /** What the model is given, the cut stated where it was cut. */
    output: string;
    /** Absent where nothing ran, or nobody saw its end. */
    tookMs?: number;
    /** What would have allowed a refused call; absent where nothing would. */
    remedy?: Remedy;
  }
  /** The call waits for a person; the turn's time stands still meanwhile. */
  | {
    type: "approval_requested";
    callId: string;
    tool: string;
    approval: ApprovalView;
    /** What a chat is shown. Absent in what was recorded before there was one, which waits no more. */
    brief?: ApprovalBrief;
  }
  | { type: "approval_resolved"; callId: string; approvalId: string; outcome: ApprovalOutcome }
  /** Files that go out with the turn's answer. */
  | { type: "files"; files: readonly OutFile[]; replyTo?: string }
  /** Tokens of one model call, and which model answered it (a fallback, maybe). */
  | { type: "usage"; model: string; usage: Usage }
  /** A transient fault that is being dealt with: a retry, a fallback, a compaction. */
  | { type: "notice"; text: string }
  /** The context was compacted: `text` stands for every message before it. */
  | { type: "summary"; text: string }
  | { type: "error"; error: ErrorData }
  | SessionUpdated
  | SaidFromElsewhere
  | {
    type: "turn_end";
    status: TurnStatus;
    finishReason: FinishReason;
    usage: Usage;
    /** The same by model, the one that it was begun with first; the journal adds it. */
    models?: readonly ModelUsage[];
    /** From its start to its end; the journal adds it. */
    tookMs?: number;
  };

/** An event as the journal holds it. */
export interface StoredEvent {
  /** Position in its session, from 1, without gaps. */
  seq: number;
  /** Which turn said it; empty for `session_updated`. */
  turnId: string;
  event: AgentEvent;
}

/** Usage of nothing. */
export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cachedTokens: 0,
};

/** Both together. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
  };
}
