/**
 * The tool `message`. The gate hands an allowed message, with
 * the bytes of its files, to the outbox.
 *
 * @module
 */

import { z } from "zod";
import {
  CHANNEL_NAME,
  isChatId,
  MAX_CHANNEL_CHARS,
  MAX_CHAT_ID_CHARS,
} from "../base/chat_address.ts";
import { defineTool } from "../contract/tool.ts";

/** Characters of one message. */
const MAX_CONTENT_CHARS = 100_000;

/** Files of one message. */
const MAX_FILES = 10;

const MAX_PATH_CHARS = 4_096;

const schema = z.strictObject({
  content: z.string().min(1).max(MAX_CONTENT_CHARS)
    .refine((text) => text.trim() !== "", "is blank")
    .refine((text) => text.isWellFormed(), "holds half of a character (a lone surrogate)")
    .optional()
    .describe("Text to deliver."),
  channel: z.string().max(MAX_CHANNEL_CHARS)
    .regex(CHANNEL_NAME, "expected a channel's name, such as telegram or telegram.work")
    .optional()
    .describe("Name of an enabled channel, with its instance if it has several."),
  chat_id: z.string().min(1).max(MAX_CHAT_ID_CHARS)
    .refine(isChatId, "expected one chat's id: not blank, not *, no hidden characters")
    .optional()
    .describe("Recipient chat on that channel."),
  files: z.array(z.string().min(1).max(MAX_PATH_CHARS)).min(1).max(MAX_FILES)
    .optional()
    .describe("Paths of files to send along, at most 10 MiB each and 24 MiB together."),
}).superRefine(({ content, channel, chat_id, files }, { addIssue }) => {
  const wrong = (field: string, message: string) =>
    addIssue({ code: "custom", path: [field], message });
  if (channel === undefined && chat_id === undefined) {
    if (files === undefined) {
      wrong("channel", "is missing, and chat_id too: without them only files can be sent");
    } else if (content !== undefined) {
      wrong("content", "must be left out without channel and chat_id: say it in your answer");
    }
    return;
  }
  if (channel === undefined) wrong("channel", "is missing: it goes with chat_id");
  if (chat_id === undefined) wrong("chat_id", "is missing: it goes with channel");
  if (content === undefined && files === undefined) wrong("content", "is missing, and files too");
});

/** Arguments of {@linkcode message}. */
export type MessageArgs = z.infer<typeof schema>;

/** Sends a text, files or both to a chat on a channel, or files along with the answer. */
export const message = defineTool({
  name: "message",
  description:
    "Sends a text, files, or both to a chat on another channel, such as a chat platform; " +
    "or, without channel and chat_id, files along with your answer to the person you talk with. " +
    "The text of your answer reaches that person by itself, so never use this for it. Nothing is " +
    "ever delivered anywhere else unless you call this with an explicit channel and chat_id. The " +
    "result says whether the message goes out now or waits because the channel is not enabled.",
  capability: "message.send",
  readOnly: false,
  schema,
  touches: ({ channel, chat_id: chatId, files }) => ({
    kind: "chat",
    ...channel !== undefined && { channel },
    ...chatId !== undefined && { chatId },
    ...files !== undefined && { files },
  }),
  reads: ({ files = [] }) => files,
  hint: ({ channel, chat_id, files = [] }) => {
    const to = channel === undefined ? [] : [`${channel}:${chat_id}`];
    return ["message", ...to, ...files].join(" ");
  },
  timeoutMs: 30_000,
});
