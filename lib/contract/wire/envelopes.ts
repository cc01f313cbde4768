/**
 * What a client says over a WebSocket: typed envelopes, one discriminated union by `type`. Frames
 * without a type are legacy text for the connection's default chat.
 *
 * @module
 */

import { z } from "zod";
import { chatId } from "./frames.ts";

/** Bytes of UTF-8 in the content of a message envelope. */
export const MAX_TEXT_BYTES = 1024 * 1024;

/** Files of one message. */
export const MEDIA_LIMITS = {
  maxCount: 4,
  maxFileBytes: 8 * 1024 * 1024,
  maxTotalBytes: 24 * 1024 * 1024,
} as const;

const requestId = z.string().min(1).max(128);

/** Every envelope by its type. Fields that are not named are ignored. */
export const ENVELOPES = {
  new_chat: z.object({ type: z.literal("new_chat") })
    .describe("Makes a chat and attaches to it; answered by attached"),
  attach: z.object({
    type: z.literal("attach"),
    chat_id: chatId,
    after_seq: z.int().min(0).optional()
      .describe("Replays what came after it, then follows; absent: follows from now on"),
    epoch: z.string().max(64).optional()
      .describe("Of the client's last attached; another one now: the replay begins at 0"),
    resume: z.string().max(128).optional()
      .describe("As told last of the chat, where the token may not read"),
  }).describe("Follows a chat; answered by attached"),
  detach: z.object({ type: z.literal("detach"), chat_id: chatId })
    .describe("Follows a chat no longer, which makes room for another; not answered"),
  message: z.object({
    type: z.literal("message"),
    chat_id: chatId,
    content: z.string(),
    client_msg_id: z.string().min(1).max(128).optional()
      .describe("A repeat starts no second turn and is answered alike"),
    media: z.array(z.object({
      data_url: z.string().describe("data:<type>;base64,<…>"),
      name: z.string().max(255).optional(),
    })).optional(),
  }).describe("Sends to a chat and follows it; answered by message_accepted"),
  cancel: z.object({ type: z.literal("cancel"), chat_id: chatId })
    .describe("Ends the turn that runs in the chat"),
  fork_chat: z.object({
    type: z.literal("fork_chat"),
    source_chat_id: chatId,
    before_user_index: z.int().min(0).describe("Messages of people that the fork keeps"),
  }).describe("Makes a chat of the beginning of another; answered by attached"),
  transcribe_audio: z.object({
    type: z.literal("transcribe_audio"),
    request_id: requestId,
    data_url: z.string().describe("data:audio/<type>;base64,<…>"),
  }).describe("Answered by transcription_result or transcription_error"),
  ping: z.object({ type: z.literal("ping") }).describe("Answered by pong"),
} as const;

const [first, ...others] = Object.values(ENVELOPES);

/** Any envelope. */
export const clientEnvelope = z.discriminatedUnion("type", [first!, ...others]);

/** Any envelope. */
export type ClientEnvelope = z.infer<typeof clientEnvelope>;
