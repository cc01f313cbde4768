/**
 * What goes out to a channel.
 *
 * @module
 */

/** What a message is beside an answer. Further kinds come; a runtime leaves out what it does not know. */
export type OutboundEvent =
  /** What the agent is doing. `toolHint`: a short breadcrumb of a tool call. */
  | { type: "progress"; toolHint: boolean }
  /** A piece of a stream, for runtimes that take it by `send`. */
  | { type: "stream_delta"; streamId?: string }
  /** `resuming`: the turn goes on after it. */
  | { type: "stream_end"; streamId?: string; resuming: boolean }
  | { type: "reasoning_delta"; streamId?: string }
  | { type: "reasoning_end"; streamId?: string }
  /** The turn has ended: typing signals and reactions can go. `content` is empty. */
  | { type: "turn_end"; status: "done" | "failed" | "cancelled" | "timed_out" | "interrupted" }
  /** How a goal stands, in the words of `content`. */
  | { type: "goal_status" }
  /** Something waits for a person: `content` says it in words, the rest is for buttons. */
  | {
    type: "approval";
    id: string;
    /** 64 hex digits; the first 8 answer it. */
    digest: string;
    /** Milliseconds since 1970. */
    expiresAt: number;
    /** A chat can't show all of it, so here it can only be denied. */
    denyOnly?: true;
  }
  /** That approval waits no more: its buttons can go. `content` says in words how it came out. */
  | {
    type: "approval_resolved";
    id: string;
    outcome: "approved" | "denied" | "expired" | "void";
  };

/** A message. Plain data. */
export interface OutboundMessage {
  /** The same at every attempt, so that a channel that can tell sends it once. */
  id: string;
  /** Runtime name: the channel, or one of its instances. */
  channel: string;
  /** As the channel named it when the chat's message came in. */
  chatId: string;
  /** Markdown. */
  content: string;
  /** Paths on this machine, in a folder that the channel may read. */
  media: readonly string[];
  /** Of the message that it answers, such as `message_id` for threads; empty for what answers none. */
  metadata: Readonly<Record<string, unknown>>;
  /** Absent: an answer, or a message that the agent sends by itself. */
  event?: OutboundEvent;
}

/** A piece of an answer that is being written. Pieces of one stream come one after the other. */
export interface StreamDelta {
  chatId: string;
  /** Text since the piece before; empty in an end that has nothing to add. */
  delta: string;
  metadata: Readonly<Record<string, unknown>>;
  /** Buffers are kept by it, else by `chatId`. */
  streamId?: string;
  /** It is the last of its stream. */
  streamEnd: boolean;
  /** With `streamEnd`: the turn goes on, and another stream follows. */
  resuming: boolean;
}

/** A piece of what the model thinks aloud. */
export interface ReasoningDelta {
  chatId: string;
  delta: string;
  metadata: Readonly<Record<string, unknown>>;
  streamId?: string;
}
