/**
 * The named schemas of the document, and how they become JSON Schema.
 *
 * @module
 */

import type { z } from "zod";
import { APPROVALS, approveInput, denyInput } from "../../../operations/approvals.ts";
import { contentSchema } from "../chat/chat_request.ts";
import { inputContentSchema } from "../responses/input_messages.ts";
import {
  approvalResultSchema,
  chatChunkSchema,
  chatCompletionRequestSchema,
  chatCompletionSchema,
  chatFormSchema,
  chatMessageSchema,
  chatUsageSchema,
  earlierMessageSchema,
  progressSchema,
} from "./chat_schemas.ts";
import { type JsonSchema, jsonSchemas } from "./json_schemas.ts";
import {
  createResponseSchema,
  deletedResponseSchema,
  earlierItemSchema,
  inputMessageSchema,
  itemReferenceSchema,
  messageItemSchema,
  reasoningItemSchema,
  responseEventSchema,
  responseSchema,
} from "./responses_schemas.ts";
import {
  errorSchema,
  healthSchema,
  modelListSchema,
  modelSchema,
  readinessSchema,
} from "./service_schemas.ts";

const listed = APPROVALS["approvals.list"].output;

/** Schemas by the name under which the document has them. */
const COMPONENTS = {
  ChatCompletionRequest: chatCompletionRequestSchema,
  ChatForm: chatFormSchema,
  ChatMessage: chatMessageSchema,
  ChatContentPart: contentSchema.options[1].element,
  ApprovalResult: approvalResultSchema,
  EarlierMessage: earlierMessageSchema,
  ChatCompletion: chatCompletionSchema,
  ChatCompletionChunk: chatChunkSchema,
  ChatUsage: chatUsageSchema,
  Progress: progressSchema,
  CreateResponse: createResponseSchema,
  InputMessage: inputMessageSchema,
  InputContentPart: inputContentSchema.options[1].element,
  EarlierItem: earlierItemSchema,
  ItemReference: itemReferenceSchema,
  Response: responseSchema,
  ResponseEvent: responseEventSchema,
  MessageItem: messageItemSchema,
  ReasoningItem: reasoningItemSchema,
  DeletedResponse: deletedResponseSchema,
  Approval: APPROVALS["approvals.get"].output,
  ApprovalSummary: listed.shape.approvals.element,
  ApprovalList: listed,
  ApprovalOutcome: APPROVALS["approvals.approve"].output,
  Approve: approveInput.omit({ id: true }).describe(approveInput.description!),
  Deny: denyInput.omit({ id: true }).describe(denyInput.description!),
  Model: modelSchema,
  ModelList: modelListSchema,
  Health: healthSchema,
  Readiness: readinessSchema,
  Error: errorSchema,
} satisfies Record<string, z.ZodType>;

/** The name of one of them. */
export type ComponentName = keyof typeof COMPONENTS;

/** Where in the document a named schema is. */
export function refTo(name: ComponentName): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** `components.schemas` of the document. */
export function componentSchemas(): Record<ComponentName, JsonSchema> {
  return jsonSchemas(COMPONENTS) as Record<ComponentName, JsonSchema>;
}
