/**
 * The tool `message` (document 1 part 2 "Cross-channel message"). It has no child side: the gate
 * hands an allowed message to the outbox.
 *
 * @module
 */

import { z } from "zod";
import {
  CHANNEL_NAME,
  isChatId,
  MAX_CHANNEL_CHARS,
  MAX_CHAT_ID_CHARS,
} from "../channel/chat_address.ts";
import { defineTool } from "./tool.ts";

/** Characters of one message. */
const MAX_CONTENT_CHARS = 100_000;

const schema = z.strictObject({
  content: z.string().min(1).max(MAX_CONTENT_CHARS)
    .refine((text) => text.trim() !== "", "is blank")
    .refine((text) => text.isWellFormed(), "holds half of a character (a lone surrogate)")
    .describe("Text to deliver."),
  channel: z.string().max(MAX_CHANNEL_CHARS)
    .regex(CHANNEL_NAME, "expected a channel's name, such as telegram or telegram.work")
    .describe("Name of an enabled channel, with its instance if it has several."),
  chat_id: z.string().min(1).max(MAX_CHAT_ID_CHARS)
    .refine(isChatId, "expected one chat's id: not blank, not *, no hidden characters")
    .describe("Recipient chat on that channel."),
});

/** Arguments of {@linkcode message}. */
export type MessageArgs = z.infer<typeof schema>;

/** Sends a text to a chat on a channel. */
export const message = defineTool({
  name: "message",
  description: "Sends a text to a chat on another channel, such as a chat platform. Your answer " +
    "reaches the person you talk with by itself, so never use this for it. Nothing is ever " +
    "delivered anywhere else unless you call this with an explicit channel and chat_id. The " +
    "result says whether the message goes out now or waits because the channel is not enabled.",
  capability: "message.send",
  readOnly: false,
  schema,
  touches: (args) => ({ kind: "chat", channel: args.channel, chatId: args.chat_id }),
  hint: (args) => `message ${args.channel}:${args.chat_id}`,
  timeoutMs: 10_000,
});
