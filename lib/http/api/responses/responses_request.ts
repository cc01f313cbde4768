/**
 * The JSON body of POST /v1/responses.
 *
 * Fields that are not named here, such as `tools`, `instructions` or `temperature`, are taken and
 * ignored (`ignored_fields.ts`).
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../../base/errors.ts";
import { check } from "../../../listen/request_error.ts";
import { chooseSession, sessionIdSchema } from "../session_id.ts";
import { type RequestPart, tailStart, turnParts } from "../tail.ts";
import { inputMessages, inputSchema, outerInputSchema } from "./input_messages.ts";

/** Bounds of `metadata`, as OpenAI has them. */
const MAX_METADATA_PAIRS = 16;
const MAX_METADATA_KEY_CHARS = 64;
const MAX_METADATA_VALUE_CHARS = 512;

const flag = z.boolean("true or false").nullish();

const metadataValue = `a string of at most ${MAX_METADATA_VALUE_CHARS} characters`;

const metadataSchema = z.record(
  z.string(),
  z.string(metadataValue).max(MAX_METADATA_VALUE_CHARS, metadataValue),
  "an object of strings",
).refine(
  (metadata) => Object.keys(metadata).length <= MAX_METADATA_PAIRS,
  `an object of at most ${MAX_METADATA_PAIRS} pairs`,
).refine(
  (metadata) => Object.keys(metadata).every((key) => key.length <= MAX_METADATA_KEY_CHARS),
  `an object with keys of at most ${MAX_METADATA_KEY_CHARS} characters`,
);

const previousId = "an id that begins with resp_, as an earlier response had it";

/** The body. */
export const responsesRequestSchema = z.looseObject({
  input: inputSchema,
  session_id: sessionIdSchema.nullish(),
  previous_response_id: z.string(previousId).startsWith("resp_", previousId).nullish(),
  model: z.string("the id that GET /v1/models shows, or no model").nullish(),
  stream: flag,
  store: flag,
  background: flag,
  metadata: metadataSchema.nullish(),
  conversation: z.null("left out: session_id or previous_response_id names the conversation")
    .optional(),
  prompt: z.null("left out: what it says belongs into input").optional(),
}, "an object with input");

/** The same but for its list, whose items are checked one by one. */
const outerSchema = responsesRequestSchema.extend({ input: outerInputSchema });

/** A request, checked. */
export interface ResponsesRequest {
  parts: RequestPart[];
  /** What a repeat under the same Idempotency-Key has to say too, beside its parts. */
  fields: Record<string, unknown>;
  /** Of the field session_id or the header X-Session-Id. */
  sessionId: string | undefined;
  previousResponseId: string | undefined;
  model: string | undefined;
  stream: boolean;
  store: boolean;
  background: boolean;
  metadata: Record<string, string>;
}

/**
 * Checks a body and the header X-Session-Id. Throws `invalid_request`, naming the field, its value
 * and what was expected, and what the tail rule throws.
 */
export function parseResponsesRequest(
  body: unknown,
  sessionHeader: string | null,
): ResponsesRequest {
  const { input, session_id, ...outer } = check(outerSchema, body);
  const background = outer.background ?? false;
  const store = outer.store ?? true;
  if (background && !store) {
    throw new ServiceError(
      "invalid_request",
      "background must be false or left out when store is false: nobody could read the answer",
      { param: "background" },
    );
  }
  const messages = inputMessages(input);
  const options = {
    previousResponseId: outer.previous_response_id ?? undefined,
    model: outer.model ?? undefined,
    stream: outer.stream ?? false,
    store,
    background,
    metadata: outer.metadata ?? {},
  };
  return {
    ...options,
    parts: turnParts(messages, "input"),
    fields: { ...options, history: input.slice(0, tailStart(messages)) },
    sessionId: chooseSession(session_id, sessionHeader),
  };
}
