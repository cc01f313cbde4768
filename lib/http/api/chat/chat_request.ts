/**
 * The JSON body of POST /v1/chat/completions.
 *
 * Fields that are not named here, such as `temperature`, are what OpenAI clients send to any server;
 * they are taken and ignored, and of `tools` all but one.
 *
 * @module
 */

import { z } from "zod";
import {
  answeredApproval,
  type ApprovalAnswer,
  asksForApprovals,
  readApprovalAnswer,
} from "./approval_call.ts";
import { readDataUrl } from "../data_url.ts";
import { check, checkEach } from "../../../listen/request_error.ts";
import { chooseSession, DEFAULT_SESSION_ID, sessionIdSchema } from "../session_id.ts";
import { type RequestPart, tailStart, turnParts } from "../tail.ts";

const flag = z.boolean("true or false").nullish();

/** A message as far as every one is looked at: those that are not part of the turn may hold anything. */
const anyMessage = z.looseObject(
  { role: z.string("a role, such as user"), content: z.unknown().optional() },
  "an object with role and content",
);

/** The body; its messages are checked further by the tail rule. */
export const chatRequestSchema = z.looseObject({
  messages: z.array(anyMessage, "a list of messages").min(1, "a list of at least one message"),
  session_id: sessionIdSchema.nullish(),
  model: z.string("the id that GET /v1/models shows, or no model").nullish(),
  stream: flag,
  stream_options: z.looseObject(
    { include_usage: flag, include_progress: flag },
    "an object with include_usage or include_progress",
  ).nullish(),
  tools: z.unknown().optional(),
}, "an object with messages");

/** The same but for its list, whose items are checked one by one. */
const outerSchema = chatRequestSchema.extend({
  messages: z.array(z.unknown(), "a list of messages").min(1, "a list of at least one message"),
});

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

const filePart = z.looseObject({
  type: z.literal("file"),
  file: z.looseObject({
    filename: z.string("the name of the file").nullish(),
    file_data: z.string("a data URL with base64 data"),
  }, "an object with filename and file_data, a data URL with base64 data"),
});

const partSchema = z.discriminatedUnion(
  "type",
  [textPart, imagePart, filePart],
  "a part of type text, image_url or file",
);

const outerContentSchema = z.union([
  z.string(),
  z.array(z.unknown()).min(1, "a string, or a list of at least one content part"),
], "a string, or a list of content parts");

/** Content of a message of the turn. */
export const contentSchema = z.union([z.string(), z.array(partSchema).min(1)]);

/** A request of the chat route, in either form, checked. */
export interface ChatRequest {
  /** None in an answer to an approval. */
  parts: RequestPart[];
  /** What a repeat under the same Idempotency-Key has to say too, beside its parts. */
  fields: Record<string, unknown>;
  sessionId: string;
  model: string | undefined;
  stream: boolean;
  includeUsage: boolean;
  includeProgress: boolean;
  /** The client wants to be asked about what waits for a person. */
  takesApprovals: boolean;
  /** It goes on with a turn that waits, instead of opening one. */
  answer?: ApprovalAnswer;
}

/**
 * Checks a body and the header X-Session-Id. Throws `invalid_request`, naming the field, its value
 * and what was expected, and what the tail rule throws.
 */
export function parseChatRequest(body: unknown, sessionHeader: string | null): ChatRequest {
  const { session_id, model, stream, stream_options, ...outer } = check(outerSchema, body);
  const messages = checkEach(anyMessage, outer.messages, ["messages"]);
  const answer = approvalAnswer(messages);
  const parts = answer !== undefined ? [] : turnParts(
    messages.map(({ role, content }, index) => ({
      role,
      param: `messages[${index}]`,
      parts: () => contentParts(content, index),
    })),
    "messages",
  );
  const takesApprovals = asksForApprovals(outer.tools);
  const options = {
    model: model ?? undefined,
    stream: stream ?? false,
    includeUsage: stream_options?.include_usage ?? false,
    includeProgress: stream_options?.include_progress ?? false,
  };
  return {
    parts,
    fields: {
      history: messages.slice(0, tailStart(messages)),
      ...options,
      ...takesApprovals && { takesApprovals },
    },
    sessionId: chooseSession(session_id, sessionHeader) ?? DEFAULT_SESSION_ID,
    ...options,
    takesApprovals,
    answer,
  };
}

/** The answer to an approval, if that is all that follows the last message of the assistant. */
function approvalAnswer(messages: z.infer<typeof anyMessage>[]): ApprovalAnswer | undefined {
  const start = tailStart(messages);
  if (start !== messages.length - 1) return undefined;
  const id = answeredApproval(messages[start]);
  if (id === undefined) return undefined;
  const texts = contentParts(messages[start]!.content, start)
    .map((part) => part.type === "text" ? part.text : "");
  return readApprovalAnswer(id, texts.join(""), ["messages", start, "content"]);
}

function contentParts(content: unknown, index: number): RequestPart[] {
  const path = ["messages", index, "content"];
  const outer = check(outerContentSchema, content, path);
  if (typeof outer === "string") return [{ type: "text", text: outer }];
  return checkEach(partSchema, outer, path).map((part, place) =>
    requestPart(part, `messages[${index}].content[${place}]`)
  );
}

function requestPart(part: z.infer<typeof partSchema>, param: string): RequestPart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image_url":
      return {
        type: "file",
        file: readDataUrl(part.image_url.url, {
          param: `${param}.image_url.url`,
          name: "",
          expects: "image",
        }),
      };
    case "file":
      return {
        type: "file",
        file: readDataUrl(part.file.file_data, {
          param: `${param}.file.file_data`,
          name: part.file.filename ?? "",
          expects: "any",
        }),
      };
  }
}
