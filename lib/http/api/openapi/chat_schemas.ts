/**
 * The chat wire shape: what the route takes, by its own validators, and what it answers.
 *
 * @module
 */

import { CAPABILITIES } from "../../../contract/actions.ts";
import { z } from "zod";
import { APPROVAL_TOOL } from "../chat/approval_call.ts";
import { chatRequestSchema, contentSchema } from "../chat/chat_request.ts";
import { sessionIdSchema } from "../session_id.ts";
import { described } from "./described.ts";

const SESSION = "The conversation. Left out: the header X-Session-Id, else default.";
const MODEL = "Leave it out, or send the id of GET /v1/models.";

/** A message of the turn. */
export const chatMessageSchema = z.looseObject({
  role: z.enum(["user", "system", "developer"]),
  content: contentSchema,
}).describe("A message after the last one of the assistant: part of the turn.");

/** A message that answers an approval. */
export const approvalResultSchema = z.looseObject({
  role: z.literal("tool"),
  tool_call_id: z.string().regex(/^approval_/),
  content: contentSchema.describe(
    'JSON such as {"decision":"approve"}: approve or deny, and where wanted the digest of the ' +
      "action, the reason of a denial, and a token with the scope approve.",
  ),
}).describe("The only message after the call service_approval of the assistant: its answer.");

/** A message before the turn. */
export const earlierMessageSchema = z.looseObject({
  role: z.string(),
  content: z.unknown().optional(),
}).describe(
  "A message up to the last one of the assistant. It is dropped: the service keeps the conversation.",
);

/** The JSON body. */
export const chatCompletionRequestSchema = described(
  chatRequestSchema.extend({
    messages: z.array(z.union([chatMessageSchema, approvalResultSchema, earlierMessageSchema]))
      .min(1),
    stream_options: described(chatRequestSchema.shape.stream_options.unwrap().unwrap(), {
      include_usage: "Send the usage in a chunk of its own before [DONE].",
      include_progress: "Send chunks with a field service while tools run.",
    }).nullish(),
  }),
  {
    messages: "The turn is what follows the last message of the assistant.",
    session_id: SESSION,
    model: MODEL,
    stream: "true: an event stream of chunks.",
    stream_options: "With stream: true.",
    tools: "With the function service_approval, what waits for a person is a call of it.",
  },
).describe("Other fields of OpenAI's API are taken and have no effect.");

/** The form. */
export const chatFormSchema = z.looseObject({
  message: z.string().optional().describe("Text of the turn. It may be left out with files."),
  files: z.array(z.string().meta({ contentMediaType: "application/octet-stream" })).max(20)
    .optional().describe("One field a file, each with a filename."),
  session_id: sessionIdSchema.optional().describe(SESSION),
  model: z.string().optional().describe(MODEL),
  stream: z.enum(["true", "false"]).optional().describe("true: an event stream of chunks."),
}).describe("Other fields of text are taken and have no effect.");

/** `usage` of both answers. */
export const chatUsageSchema = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.object({ cached_tokens: z.int() }),
  completion_tokens_details: z.object({ reasoning_tokens: z.int() }),
}).describe("Tokens of all model calls of the turn, as the provider counted them.");

const id = z.string().regex(/^chatcmpl-/);
const created = z.int().describe("Seconds since 1970.");
const model = z.string();
const reasoning = z.string().optional().describe("Only when the model gives its reasoning.");
const finishReason = z.enum(["stop", "length", "tool_calls"]);
const approvalCall = z.object({
  id: z.string().regex(/^approval_/),
  type: z.literal("function"),
  function: z.object({
    name: z.literal(APPROVAL_TOOL),
    arguments: z.string().describe("JSON: the approval, as the WebSocket has it."),
  }),
}).describe("An action waits for a person. Only where tools of the request name the function.");

/** The whole answer. */
export const chatCompletionSchema = z.object({
  id,
  object: z.literal("chat.completion"),
  created,
  model,
  choices: z.array(z.object({
    index: z.literal(0),
    message: z.object({
      role: z.literal("assistant"),
      content: z.string().describe("The texts of all steps, a blank line between them."),
      reasoning_content: reasoning,
      refusal: z.null(),
      tool_calls: z.array(approvalCall).length(1).optional(),
    }),
    logprobs: z.null(),
    finish_reason: finishReason,
  })).length(1),
  usage: chatUsageSchema,
}).describe("A whole answer.");

/** What tools are doing. */
export const progressSchema = z.union([
  z.object({
    type: z.literal("tool_call"),
    call_id: z.string(),
    tool: z.string(),
    hint: z.string().describe("A short line for people."),
  }),
  z.object({
    type: z.literal("tool_progress"),
    call_id: z.string(),
    tool: z.string(),
    text: z.string(),
  }),
  z.object({
    type: z.literal("tool_result"),
    call_id: z.string(),
    tool: z.string(),
    status: z.enum(["ok", "failed", "refused", "interrupted"]),
  }),
  z.object({
    type: z.literal("approval_requested"),
    call_id: z.string(),
    tool: z.string(),
    id: z.string().describe("Of the approval, for whoever answers it."),
    digest: z.string().describe("Binds the answer to exactly this action."),
    capability: z.enum(CAPABILITIES),
    target: z.string().describe("What the action is about, resolved."),
    expires_at: z.int().describe("Seconds since 1970."),
  }).describe("The tool waits for a person; the turn's time stands still."),
  z.object({
    type: z.literal("approval_resolved"),
    call_id: z.string(),
    id: z.string(),
    outcome: z.enum(["approved", "denied", "expired", "void"]),
  }),
  z.object({
    type: z.literal("notice"),
    text: z.string().describe("A fault that is being dealt with, such as a repeat."),
  }),
]).describe("Of a chunk that was asked for with stream_options.include_progress.");

/** One event of a streamed answer. */
export const chatChunkSchema = z.object({
  id,
  object: z.literal("chat.completion.chunk"),
  created,
  model,
  choices: z.array(z.object({
    index: z.literal(0),
    delta: z.object({
      role: z.literal("assistant").optional().describe("In the first chunk."),
      content: z.string().optional(),
      reasoning_content: reasoning,
      tool_calls: z.array(approvalCall.extend({ index: z.literal(0) })).length(1).optional(),
    }),
    logprobs: z.null(),
    finish_reason: finishReason.nullable().describe("In the last chunk with a choice."),
  })).max(1),
  usage: chatUsageSchema.nullable().optional().describe(
    "Only with stream_options.include_usage: null, and set in the last chunk, which has no choices.",
  ),
  service: progressSchema.optional(),
}).describe("One event of a streamed answer; after the last one comes the line data: [DONE].");
