/**
 * The responses wire shape: what the route takes, by its own validators, and what it answers.
 *
 * @module
 */

import { z } from "zod";
import { inputContentSchema } from "../responses/input_messages.ts";
import type { ResponseEvent } from "../responses/response_event.ts";
import type { ItemStatus, OutputItem, ResponseObject } from "../responses/response_object.ts";
import { responsesRequestSchema } from "../responses/responses_request.ts";
import { described } from "./described.ts";

/** A message of the turn. */
export const inputMessageSchema = z.looseObject({
  type: z.literal("message").nullish(),
  role: z.enum(["user", "system", "developer"]),
  content: inputContentSchema,
}).describe("A message after the last item of the assistant: part of the turn.");

/** An item before the turn. */
export const earlierItemSchema = z.looseObject({
  type: z.literal("message").nullish(),
  role: z.string(),
  content: z.unknown().optional(),
}).describe(
  "A message up to the last item of the assistant. It is dropped: the service keeps the conversation.",
);

/** An item by its id. */
export const itemReferenceSchema = z.looseObject({
  type: z.literal("item_reference").nullish(),
  id: z.string(),
}).describe("Stands for an item of the assistant.");

/** The JSON body. */
export const createResponseSchema = described(
  responsesRequestSchema.extend({
    input: z.union([
      z.string(),
      z.array(z.union([inputMessageSchema, itemReferenceSchema, earlierItemSchema])).min(1),
      inputContentSchema.options[1],
    ]),
  }),
  {
    input: "A text, a list of items, or the content parts of one message. The turn is what " +
      "follows the last item of the assistant.",
    session_id: "The conversation.",
    previous_response_id: "Goes on with the conversation of that response, at its end.",
    model: "Leave it out, or send the id of GET /v1/models.",
    stream: "true: an event stream.",
    store: "false: the id cannot be used again. Default true.",
    background: "true: the turn goes on without a reader. Needs store.",
    metadata: {
      description: "Given back with the response.",
      maxProperties: 16,
      propertyNames: { maxLength: 64 },
    },
    conversation: "Not taken; use session_id.",
    prompt: "Not taken.",
  },
).describe("Other fields of OpenAI's API are taken and have no effect.");

const itemStatus = z.enum(["in_progress", "completed", "incomplete"]) satisfies z.ZodType<
  ItemStatus
>;
const none = z.tuple([]);

const outputTextSchema = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: none,
  logprobs: none,
});

const summaryTextSchema = z.object({ type: z.literal("summary_text"), text: z.string() });

/** One stretch of text of the answer. */
export const messageItemSchema = z.object({
  id: z.string().regex(/^msg_/),
  type: z.literal("message"),
  status: itemStatus,
  role: z.literal("assistant"),
  content: z.array(outputTextSchema).max(1),
}).describe("One stretch of text of the answer.");

/** One stretch of reasoning. */
export const reasoningItemSchema = z.object({
  id: z.string().regex(/^rs_/),
  type: z.literal("reasoning"),
  status: itemStatus,
  summary: z.array(summaryTextSchema).max(1),
}).describe("One stretch of reasoning, when the model gives it.");

const outputItem = z.discriminatedUnion("type", [
  messageItemSchema,
  reasoningItemSchema,
]) satisfies z.ZodType<OutputItem>;

const seconds = z.int().describe("Seconds since 1970.");

/** The response object. */
export const responseSchema = z.object({
  id: z.string().regex(/^resp_/),
  object: z.literal("response"),
  created_at: seconds,
  completed_at: seconds.nullable(),
  status: z.enum(["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]),
  background: z.boolean(),
  error: z.object({
    code: z.enum(["server_error", "rate_limit_exceeded", "invalid_prompt"]),
    message: z.string(),
    service_code: z.string().describe("The code as in the error envelope."),
  }).nullable(),
  incomplete_details: z.object({ reason: z.literal("max_output_tokens") }).nullable(),
  instructions: z.null(),
  tools: none,
  tool_choice: z.literal("auto"),
  parallel_tool_calls: z.literal(true),
  max_output_tokens: z.null(),
  max_tool_calls: z.null(),
  frequency_penalty: z.literal(0),
  presence_penalty: z.literal(0),
  model: z.string(),
  output: z.array(outputItem),
  previous_response_id: z.string().nullable(),
  prompt_cache_key: z.null(),
  reasoning: z.object({ effort: z.null(), summary: z.null() }),
  safety_identifier: z.null(),
  service_tier: z.literal("default"),
  store: z.boolean(),
  temperature: z.literal(1),
  text: z.object({ format: z.object({ type: z.literal("text") }) }),
  top_logprobs: z.literal(0),
  top_p: z.literal(1),
  truncation: z.literal("disabled"),
  access_programs: z.null(),
  usage: z.object({
    input_tokens: z.int(),
    input_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
    output_tokens: z.int(),
    output_tokens_details: z.object({ reasoning_tokens: z.int() }),
    total_tokens: z.int(),
  }).nullable().describe("Null until the turn has ended."),
  metadata: z.record(z.string(), z.string()),
}).describe("A response. Fields that say nothing here hold what OpenAI's API has by default.");

const sequenceNumber = z.int().min(0).describe("From 0, without a gap.");
const outputIndex = z.int().min(0);
const itemPlace = { item_id: z.string(), output_index: outputIndex };
const contentPlace = { ...itemPlace, content_index: z.literal(0) };
const summaryPlace = { ...itemPlace, summary_index: z.literal(0) };

/** One event of a response's stream. */
export const responseEventSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.enum(["response.created", "response.in_progress"]),
    response: responseSchema,
    sequence_number: sequenceNumber,
  }),
  z.object({
    type: z.enum(["response.output_item.added", "response.output_item.done"]),
    output_index: outputIndex,
    item: outputItem,
    sequence_number: sequenceNumber,
  }),
  z.object({
    type: z.enum(["response.content_part.added", "response.content_part.done"]),
    ...contentPlace,
    part: outputTextSchema,
    sequence_number: sequenceNumber,
  }),
  z.object({
    type: z.literal("response.output_text.delta"),
    ...contentPlace,
    delta: z.string(),
    logprobs: none,
    sequence_number: sequenceNumber,
  }),
  z.object({
    type: z.literal("response.output_text.done"),
    ...contentPlace,
    text: z.string(),
    logprobs: none,
    sequence_number: sequenceNumber,
  }),
  z.object({
    type: z.enum([
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_part.done",
    ]),
    ...summaryPlace,
    part: summaryTextSchema,
    sequence_number: sequenceNumber,
  }),
  z.object({
    type: z.literal("response.reasoning_summary_text.delta"),
    ...summaryPlace,
    delta: z.string(),
    sequence_number: sequenceNumber,
  }),
  z.object({
    type: z.literal("response.reasoning_summary_text.done"),
    ...summaryPlace,
    text: z.string(),
    sequence_number: sequenceNumber,
  }),
  z.object({
    type: z.enum(["response.completed", "response.incomplete", "response.failed"]),
    response: responseSchema,
    sequence_number: sequenceNumber,
  }).describe("The last event. response.failed has a response that failed or was cancelled."),
]).describe("One event of a response's stream.") satisfies z.ZodType<ResponseEvent>;

/** Of DELETE. */
export const deletedResponseSchema = z.object({
  id: z.string().regex(/^resp_/),
  object: z.literal("response"),
  deleted: z.literal(true),
}).describe("The response is no longer on record.");

/** Ties the object to the code that makes it, both ways. */
responseSchema satisfies z.ZodType<ResponseObject>;
