/**
 * What the routes of sessions take and give.
 *
 * @module
 */

import { z } from "zod";
import { CHAT_ID } from "../../contract/wire/frames.ts";
import { wholeNumber } from "./query_params.ts";

/** Rows of one page. */
const MAX_PAGE = 100;

/** A session in a list. */
export const sessionRow = z.object({
  key: z.string().describe("<channel>:<id>; stands in the paths of its routes."),
  chat_id: z.string().optional().describe("Of a chat of this port."),
  channel: z.string(),
  title: z.string(),
  model_preset: z.string().nullable().describe("null: the configured model answers."),
  created_at: z.int().describe("Seconds since 1970."),
  updated_at: z.int().describe("Seconds since 1970."),
  turns: z.int(),
  last_seq: z.int().describe("Its newest event; 0 for none."),
  running: z.boolean().describe("A turn runs in it."),
}).describe("A session.");

/** A page of sessions. */
export const sessionPage = z.object({
  sessions: z.array(sessionRow).describe("Newest first."),
  before: z.int().optional().describe("Cursor of the next page; absent on the last."),
}).describe("Sessions of the caller's workspace.");

/** Query of the list. */
export const sessionsQuery = z.object({
  limit: wholeNumber(1, MAX_PAGE).optional().describe("Rows; default 50."),
  before: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional()
    .describe("Only those after the page whose `before` this is."),
});

/** Query of the messages. */
export const messagesQuery = z.object({
  limit: wholeNumber(1, MAX_PAGE).optional().describe("Messages at most; default 50."),
  before: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional()
    .describe("Only those before the page whose `before` this is."),
});

const ofAny = { id: z.int(), turn_id: z.string().describe("Empty for one from elsewhere.") };

/** A message of a session. */
const messageRow = z.discriminatedUnion("role", [
  z.object({
    ...ofAny,
    role: z.literal("user"),
    user_index: z.int().describe("Its place among the messages of people, from 0."),
    text: z.string(),
    attachments: z.array(z.object({
      type: z.enum(["image", "document"]),
      name: z.string().optional(),
      media_type: z.string(),
      bytes: z.int(),
      url: z.string().optional().describe("Signed and expiring, on this port."),
    })),
    media_urls: z.array(z.string()).describe("Those of the attachments."),
  }),
  z.object({
    ...ofAny,
    role: z.literal("assistant"),
    text: z.string(),
    reasoning: z.string().optional().describe("With showReasoning alone."),
    tool_calls: z.array(z.object({ call_id: z.string(), tool: z.string(), args: z.unknown() })),
    media: z.array(z.string()).optional().describe("Paths on the server's machine."),
    media_urls: z.array(z.string()).optional().describe("Signed and expiring, on this port."),
  }),
  z.object({
    ...ofAny,
    role: z.literal("tool"),
    results: z.array(z.object({
      call_id: z.string(),
      tool: z.string(),
      output: z.string(),
      failed: z.boolean(),
    })),
  }),
  z.object({ ...ofAny, role: z.literal("summary"), text: z.string() }),
]).describe("A message.");

/** A message of a session as it is sent. */
export type MessageRow = z.infer<typeof messageRow>;

/** A page of messages. */
export const messagePage = z.object({
  key: z.string(),
  messages: z.array(messageRow).describe("Oldest first."),
  user_index: z.int().describe("Messages of people before this page."),
  before: z.int().optional().describe("Cursor of the page before; absent on the first."),
}).describe("A stretch of a session's messages.");

const TITLE = "text of 1 to 200 characters";

/** Body of a rename. */
export const renameBody = z.object({
  // What is a title is the journal's to say; more than this is none in any way.
  title: z.string(TITLE).max(1_000, TITLE),
}, "an object");

const INDEX = "a whole number from 0";
const CHAT = "1 to 64 of A-Z a-z 0-9 _ : -";

/** Body of a fork. */
export const forkBody = z.object({
  before_user_index: z.int(INDEX).min(0, INDEX)
    .describe("Messages of people that the fork keeps, with what was answered."),
  chat_id: z.string(CHAT).regex(CHAT_ID, CHAT).optional()
    .describe("Of the new chat, which must not be there yet; absent: one is made up."),
}, "an object");

/** Answer to a delete. */
export const deletedSession = z.object({ key: z.string(), deleted: z.literal(true) });
