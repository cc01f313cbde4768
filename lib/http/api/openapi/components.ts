/**
 * The named schemas of the document, and how they become JSON Schema.
 *
 * @module
 */

import { z } from "zod";
import { approveSchema, denySchema } from "../../web/approvals_routes.ts";
import { contentSchema } from "../chat/chat_request.ts";
import { inputContentSchema } from "../responses/input_messages.ts";
import {
  approvalListSchema,
  approvalOutcomeSchema,
  approvalSchema,
  approvalSummarySchema,
} from "../../web/approval_schemas.ts";
import {
  chatChunkSchema,
  chatCompletionRequestSchema,
  chatCompletionSchema,
  chatFormSchema,
  chatMessageSchema,
  chatUsageSchema,
  earlierMessageSchema,
  progressSchema,
} from "./chat_schemas.ts";
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

/** Schemas by the name under which the document has them. */
const COMPONENTS = {
  ChatCompletionRequest: chatCompletionRequestSchema,
  ChatForm: chatFormSchema,
  ChatMessage: chatMessageSchema,
  ChatContentPart: contentSchema.options[1].element,
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
  Approval: approvalSchema,
  ApprovalSummary: approvalSummarySchema,
  ApprovalList: approvalListSchema,
  ApprovalOutcome: approvalOutcomeSchema,
  Approve: approveSchema,
  Deny: denySchema,
  Model: modelSchema,
  ModelList: modelListSchema,
  Health: healthSchema,
  Readiness: readinessSchema,
  Error: errorSchema,
} satisfies Record<string, z.ZodType>;

/** The name of one of them. */
export type ComponentName = keyof typeof COMPONENTS;

/** A schema as it stands in the document. */
export type JsonSchema = Record<string, unknown>;

/** Where in the document a named schema is. */
export function refTo(name: ComponentName): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

/** `components.schemas` of the document. */
export function componentSchemas(): Record<ComponentName, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(COMPONENTS)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    // What may stand in a request; and an answer may get new fields.
    io: "input",
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      // An integer of JavaScript, which is no rule of this API.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.prefixItems?.length === 0) {
        // An empty list of schemas is none (JSON Schema 2020-12, Core 10.3.1.1).
        delete jsonSchema.prefixItems;
        delete jsonSchema.items;
      }
      // A word of zod's own; the pattern beside it says the same.
      if (jsonSchema.format === "starts_with") delete jsonSchema.format;
    },
  });
  const named: Record<string, JsonSchema> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    const { $schema: _, $id: __, ...rest } = schema;
    named[name] = rest;
  }
  return named as Record<ComponentName, JsonSchema>;
}
