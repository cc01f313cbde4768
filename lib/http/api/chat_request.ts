/**
 * The JSON body of POST /v1/chat/completions (document 1 part 2, decisions B).
 *
 * Fields that are not named here, such as `temperature` or `tools`, are what OpenAI clients send to
 * any server; they are taken and ignored.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../errors.ts";
import { requestError } from "./request_error.ts";

/** What a conversation may be called. */
export const SESSION_ID = /^[A-Za-z0-9._:-]{1,128}$/;

const SESSION_ID_RULE = "1 to 128 characters of A-Z a-z 0-9 . _ : -";

const flag = z.boolean("true or false").nullish();

/** A message as far as every one is looked at: those that are not part of the turn may hold anything. */
const anyMessage = z.looseObject(
  { role: z.string("a role, such as user"), content: z.unknown() },
  "an object with role and content",
);

/** The body; its messages are checked further by the tail rule. */
export const chatRequestSchema = z.looseObject({
  messages: z.array(anyMessage, "a list of messages").min(1, "a list of at least one message"),
  session_id: z.string(SESSION_ID_RULE).regex(SESSION_ID, SESSION_ID_RULE).nullish(),
  model: z.string("the id that GET /v1/models shows, or no model").nullish(),
  stream: flag,
  stream_options: z.looseObject(
    { include_usage: flag, include_progress: flag },
    "an object with include_usage or include_progress",
  ).nullish(),
}, "an object with messages");

/** A message of the list, its content not yet looked at. */
export type AnyMessage = z.infer<typeof anyMessage>;

const textPart = z.looseObject({
  type: z.literal("text"),
  text: z.string("a string"),
});

const imagePart = z.looseObject({
  type: z.literal("image_url"),
  image_url: z.looseObject(
    { url: z.string("a data URL with base64 data") },
    "an object with url, a data URL with base64 data",
  ),
});

/** Content of a message of the turn. */
export const contentSchema = z.union([
  z.string(),
  z.array(
    z.discriminatedUnion("type", [textPart, imagePart], "a part of type text or image_url"),
  ).min(1, "a string, or a list of at least one content part"),
], "a string, or a list of content parts");

/** Content of a message of the turn, checked. */
export type Content = z.infer<typeof contentSchema>;

/** A request, checked as far as it can be without its tail. */
export interface ChatRequest {
  messages: AnyMessage[];
  sessionId: string;
  model: string | undefined;
  stream: boolean;
  includeUsage: boolean;
  includeProgress: boolean;
}

/** Session of a request that names none (document 1). */
const DEFAULT_SESSION_ID = "default";

/**
 * Checks a body and the header X-Session-Id. Throws `invalid_request`, naming the field, its value
 * and what was expected.
 */
export function parseChatRequest(body: unknown, sessionHeader: string | null): ChatRequest {
  const parsed = chatRequestSchema.safeParse(body);
  if (!parsed.success) throw requestError(parsed.error, body);
  const { messages, session_id, model, stream, stream_options } = parsed.data;
  return {
    messages,
    sessionId: chooseSession(session_id ?? undefined, sessionHeader),
    model: model ?? undefined,
    stream: stream ?? false,
    includeUsage: stream_options?.include_usage ?? false,
    includeProgress: stream_options?.include_progress ?? false,
  };
}

function chooseSession(field: string | undefined, header: string | null): string {
  if (header === null) return field ?? DEFAULT_SESSION_ID;
  if (!SESSION_ID.test(header)) {
    throw new ServiceError(
      "invalid_request",
      `The header X-Session-Id must be ${SESSION_ID_RULE}, got ${
        JSON.stringify(header.slice(0, 140))
      }`,
      { param: "X-Session-Id" },
    );
  }
  if (field !== undefined && field !== header) {
    throw new ServiceError(
      "invalid_request",
      `session_id and the header X-Session-Id name different sessions, "${field}" and "${header}"`,
      { param: "session_id" },
    );
  }
  return header;
}
