/**
 * The JSON body of POST /v1/responses (document 1 part 2, decisions B).
 *
 * Fields that are not named here, such as `tools`, `instructions` or `temperature`, are taken and
 * ignored (`ignored_fields.ts`).
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../../errors.ts";
import { requestError } from "../request_error.ts";
import { sessionIdSchema } from "../session_id.ts";
import type { TailMessage } from "../tail.ts";
import { inputMessages, inputSchema } from "./input_messages.ts";

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

/** The body; the tail of its input is checked further by the tail rule. */
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

/** A request, checked as far as it can be without its tail. */
export interface ResponsesRequest {
  messages: TailMessage[];
  sessionId: string | undefined;
  previousResponseId: string | undefined;
  model: string | undefined;
  stream: boolean;
  store: boolean;
  background: boolean;
  metadata: Record<string, string>;
}

/** Checks a body. Throws `invalid_request`, naming the field, its value and what was expected. */
export function parseResponsesRequest(body: unknown): ResponsesRequest {
  const parsed = responsesRequestSchema.safeParse(body);
  if (!parsed.success) throw requestError(parsed.error, body);
  const { input, session_id, previous_response_id, model, metadata, ...flags } = parsed.data;
  const background = flags.background ?? false;
  const store = flags.store ?? true;
  if (background && !store) {
    throw new ServiceError(
      "invalid_request",
      "background must be false or left out when store is false: nobody could read the answer",
      { param: "background" },
    );
  }
  return {
    messages: inputMessages(input),
    sessionId: session_id ?? undefined,
    previousResponseId: previous_response_id ?? undefined,
    model: model ?? undefined,
    stream: flags.stream ?? false,
    store,
    background,
    metadata: metadata ?? {},
  };
}
