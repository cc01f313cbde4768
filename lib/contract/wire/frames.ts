/**
 * What the server says over a WebSocket: one discriminated union by `event`, each frame with its schema.
 * `docs/websocket.md` and the JSON Schema are generated from here.
 *
 * Frames of a chat's events carry `seq`, its place in the chat, from 1. A frame that stands for several
 * events carries the first of them as `seq_from` too, so that the frames of a chat cover every number
 * once, in order and without a gap. What is about the connection, or an answer to one envelope alone,
 * has none.
 *
 * @module
 */

import { z } from "zod";

/** What a chat's id looks like. It is a capability. */
export const CHAT_ID = /^[A-Za-z0-9_:-]{1,64}$/;

/** A chat's id. */
export const chatId = z.string().regex(CHAT_ID, "1 to 64 of A-Z a-z 0-9 _ : -");

const place = {
  chat_id: chatId,
  seq: z.int().min(1).describe("Place of the (last) event in the chat"),
  seq_from: z.int().min(1).optional().describe("First event that the frame covers, if not seq"),
};
const inTurn = { ...place, turn_id: z.string() };
const ofStream = { ...inTurn, stream_id: z.string() };

/** Tokens of a turn, as the provider counted them. */
export const usage = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  reasoning_tokens: z.int(),
  cached_tokens: z.int(),
});

/** The same by model. */
export const modelUsages = z.array(usage.extend({ model: z.string() }))
  .describe("The same by model, the one that the turn was begun with first");

/** How long a turn took. */
export const turnTookMs = z.int().describe("From the turn's start to its end");

/** How long a tool call took. */
export const callTookMs = z.int()
  .describe("How long the call took, the wait for a person included");

const resume = z.string().optional()
  .describe("For a token that may chat and not read: a later attach repeats it to go on");

const approval = z.object({
  id: z.string(),
  digest: z.string().describe("64 hex digits; an answer repeats them, or in a chat the first 8"),
  capability: z.string(),
  tool: z.string(),
  target: z.string(),
  details: z.string().describe("Facts first, then what is written, sent or run"),
  whole: z.boolean().describe("False: something is cut; the approvals' route gives all of it"),
  created_at: z.int().describe("Seconds since 1970"),
  expires_at: z.int().describe("Seconds since 1970"),
});

/** Every server frame by its event. */
export const FRAMES = {
  ready: z.object({
    event: z.literal("ready"),
    chat_id: chatId.describe("The connection's default chat"),
    client_id: z.string(),
  }).describe("Right after connect"),
  attached: z.object({
    event: z.literal("attached"),
    chat_id: chatId,
    epoch: z.string().describe(
      "Another one than before: what was seen of the chat no longer counts",
    ),
    last_seq: z.int().min(0).describe("Newest event of the chat; 0 for none"),
    source_chat_id: chatId.optional().describe("What it was forked from"),
    resume,
  }).describe("Confirms new_chat, attach and fork_chat; the same for unknown and empty chats"),
  message_accepted: z.object({
    event: z.literal("message_accepted"),
    chat_id: chatId,
    client_msg_id: z.string().optional(),
    turn_id: z.string(),
    resume,
  }).describe("The message is on the disk; to its sender alone"),
  turn_start: z.object({
    event: z.literal("turn_start"),
    ...inTurn,
    model: z.string(),
  }).describe("The agent begins to work on a message"),
  delta: z.object({ event: z.literal("delta"), ...ofStream, text: z.string() })
    .describe("A piece of the answer; with streaming alone"),
  stream_end: z.object({
    event: z.literal("stream_end"),
    ...ofStream,
    resuming: z.boolean().describe("The turn goes on after it, with a tool"),
  }).describe("The end of a stretch of the answer"),
  reasoning_delta: z.object({ event: z.literal("reasoning_delta"), ...ofStream, text: z.string() })
    .describe("A piece of the model's reasoning; with showReasoning alone"),
  reasoning_end: z.object({ event: z.literal("reasoning_end"), ...ofStream })
    .describe("The end of a stretch of reasoning"),
  message: z.object({
    event: z.literal("message"),
    chat_id: chatId,
    text: z.string(),
    media: z.array(z.string()).optional().describe("Paths on the server's machine"),
    media_urls: z.array(z.string()).optional().describe("Signed, expiring URLs of the same files"),
    reply_to: z.string().optional(),
    turn_id: z.string().optional(),
    client_msg_id: z.string().optional().describe("Of the command that this answers"),
    seq: z.int().min(1).optional().describe(
      "Absent in the answer to a command, which is on no record",
    ),
    seq_from: z.int().min(1).optional(),
  }).describe(
    "A whole answer without streaming, files of an answer, a message from elsewhere, the answer to a command",
  ),
  progress: z.object({
    event: z.literal("progress"),
    ...inTurn,
    text: z.string(),
    tool_hint: z.boolean().describe("A short breadcrumb of a tool call"),
    tool: z.string().optional(),
    call_id: z.string().optional().describe("Of the tool call that it is about"),
  }).describe("What the turn is doing"),
  tool_result: z.object({
    event: z.literal("tool_result"),
    ...inTurn,
    call_id: z.string(),
    tool: z.string(),
    status: z.enum(["ok", "failed", "refused", "interrupted"]),
    took_ms: callTookMs.optional(),
  }).describe(
    "A tool call has ended; with sendToolHints alone. The messages of the session have its arguments and output",
  ),
  approval_requested: z.object({ event: z.literal("approval_requested"), ...inTurn, approval })
    .describe("An action waits for a person"),
  approval_resolved: z.object({
    event: z.literal("approval_resolved"),
    ...inTurn,
    approval_id: z.string(),
    outcome: z.enum(["approved", "denied", "expired", "void"]),
  }).describe("It does not any more"),
  turn_end: z.object({
    event: z.literal("turn_end"),
    ...inTurn,
    status: z.enum(["done", "failed", "cancelled", "timed_out", "interrupted"]),
    usage,
    models: modelUsages.optional(),
    took_ms: turnTookMs.optional(),
  }).describe("The turn has ended; nothing of it follows"),
  session_updated: z.object({
    event: z.literal("session_updated"),
    chat_id: chatId,
    scope: z.enum(["title", "model", "context", "deleted"]),
    model_preset: z.string().nullable().describe("null: the configured model answers"),
    title: z.string().optional(),
    seq: z.int().min(1).optional().describe("Absent when the chat was deleted"),
    seq_from: z.int().min(1).optional(),
  }).describe("Somebody changed the chat"),
  runtime_model_updated: z.object({
    event: z.literal("runtime_model_updated"),
    model_name: z.string(),
    model_preset: z.string().optional().describe("Absent while no named preset is in force"),
  }).describe("The default model is another one, or the list of models changed"),
  transcription_result: z.object({
    event: z.literal("transcription_result"),
    request_id: z.string(),
    text: z.string(),
  }).describe("What was said in an audio"),
  transcription_error: z.object({
    event: z.literal("transcription_error"),
    request_id: z.string(),
    detail: z.string(),
  }).describe("Why there is no transcription"),
  pong: z.object({ event: z.literal("pong") }).describe("Answer to ping"),
  error: z.object({
    event: z.literal("error"),
    detail: z.string(),
    code: z.string().optional().describe("Stable slug, as in the error table"),
    chat_id: chatId.optional(),
    client_msg_id: z.string().optional().describe("Of the message that was refused"),
    turn_id: z.string().optional().describe("Of the turn that failed"),
    seq: z.int().min(1).optional(),
    seq_from: z.int().min(1).optional(),
  }).describe("A bad envelope (the connection stays open), or a turn that fails"),
} as const;

const [first, ...others] = Object.values(FRAMES);

/** Any server frame. */
export const serverFrame = z.discriminatedUnion("event", [first!, ...others]);

/** Any server frame. */
export type ServerFrame = z.infer<typeof serverFrame>;

/** What a server said as a frame; undefined for anything else: a newer server may say more than is known here. */
export function readFrame(said: unknown): ServerFrame | undefined {
  return serverFrame.safeParse(said).data;
}

/** The frame of one event. */
export type Frame<Event extends keyof typeof FRAMES> = z.infer<typeof FRAMES[Event]>;
