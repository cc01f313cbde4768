/**
 * Sessions and their messages on the wire.
 *
 * @module
 */

import { z } from "zod";
import { callTookMs, modelUsages, turnTookMs, usage } from "../../contract/wire/frames.ts";
import { seconds } from "../fields.ts";

/** A session in a list. */
export const sessionRow = z.object({
  key: z.string().describe("<channel>:<id>; stands in the paths of its routes."),
  chat_id: z.string().optional().describe("Of a chat of this port."),
  channel: z.string(),
  title: z.string(),
  model_preset: z.string().nullable().describe("null: the configured model answers."),
  folder: z.string().optional()
    .describe(
      "Project that it works in, told on the service's own machine; absent: the workspace.",
    ),
  created_at: seconds,
  updated_at: seconds,
  turns: z.int(),
  last_seq: z.int().describe("Its newest event; 0 for none."),
  running: z.boolean().describe("A turn runs in it."),
  pinned: z.literal(true).optional().describe("Retention keeps it."),
}).describe("A session.");

/** A session in which something was found. */
export const foundSession = sessionRow.extend({
  count: z.int().describe("Messages in which all words are."),
  matches: z.array(z.object({
    id: z.int().describe("The message's; 0 for the title."),
    turn_id: z.string(),
    role: z.enum(["user", "assistant", "title"]),
    snippet: z.array(z.object({
      text: z.string(),
      match: z.boolean().describe("It is what was looked for."),
    })).describe("A stretch of the text, in pieces."),
  })).describe("The three newest of them."),
}).describe("A session in which something was found.");

/** A session with what is looked up for it alone. */
export const sessionDetails = sessionRow.extend({
  context_tokens: z.int().optional().describe("Estimate of what the model is sent of it."),
  max_context_tokens: z.int().optional().describe("What fits before it is summarized."),
}).describe("A session.");

const attachments = z.array(z.object({
  type: z.enum(["image", "document"]),
  name: z.string().optional(),
  media_type: z.string(),
  bytes: z.int(),
  url: z.string().optional().describe("Signed and expiring, on this port."),
}));

/** How a chat of this port goes on behind its messages. */
export const liveChat = z.object({
  epoch: z.string(),
  after_seq: z.int().describe("Attach behind it: a turn that runs is told from its begin."),
  running: z.string().optional().describe("Id of the turn that runs."),
  waiting: z.array(z.object({ turn_id: z.string(), text: z.string(), attachments }))
    .describe("Messages that wait for their turn, in order."),
}).describe("How the chat goes on; of a chat's newest page alone.");

/** A turn of messages that are listed. */
export const turnRow = z.object({
  turn_id: z.string(),
  status: z.enum(["queued", "running", "done", "failed", "cancelled", "timed_out", "interrupted"]),
  detail: z.string().optional().describe("Why it failed."),
  usage: usage.optional(),
  models: modelUsages.optional(),
  accepted_at: seconds,
  took_ms: turnTookMs.optional(),
}).describe("A turn.");

const ofAny = { id: z.int(), turn_id: z.string().describe("Empty for one from elsewhere.") };

/** A message of a session. */
export const messageRow = z.discriminatedUnion("role", [
  z.object({
    ...ofAny,
    role: z.literal("user"),
    user_index: z.int().describe("Its place among the messages of people, from 0."),
    text: z.string(),
    attachments,
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
      took_ms: callTookMs.optional(),
    })),
  }),
  z.object({ ...ofAny, role: z.literal("summary"), text: z.string() }),
]).describe("A message.");

/** A message of a session as it is sent. */
export type MessageRow = z.infer<typeof messageRow>;
