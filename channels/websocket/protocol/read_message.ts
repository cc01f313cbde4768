/**
 * What a client's message means: an envelope, text for the connection's default chat, nothing, or a
 * fault. A pure function.
 *
 * @module
 */

import type { z } from "zod";
import { isBlank } from "../../../lib/base/is_blank.ts";
import { requireJsonBounds } from "../../../lib/base/json_bounds.ts";
import { ServiceError } from "../../../lib/base/errors.ts";
import type { ErrorPlace } from "../../../lib/listen/error_frame.ts";
import {
  type ClientEnvelope,
  ENVELOPES,
  MAX_TEXT_BYTES,
  MEDIA_LIMITS,
} from "../../../lib/contract/wire/envelopes.ts";
import { CHAT_ID } from "../../../lib/contract/wire/frames.ts";
import type { InMessage } from "../socket/connection.ts";

export type ReadMessage =
  | { kind: "envelope"; envelope: ClientEnvelope }
  | { kind: "text"; text: string }
  | { kind: "nothing" }
  /** `place` is what could be made out of the envelope, so that its sender knows which one it was. */
  | { kind: "fault"; error: ServiceError; place: ErrorPlace };

/** Fields of a legacy object that may hold the text, in the order in which they are looked at. */
const TEXT_FIELDS = ["content", "text", "message"] as const;

/** Texts up to this length are parsed as they are: no JSON of this length takes much memory. */
const UNBOUNDED_CHARS = 1024 * 1024;

/** What a message means. Never throws. */
export function readMessage(message: InMessage): ReadMessage {
  let text: string;
  if ("text" in message) {
    text = message.text;
  } else {
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(message.binary);
    } catch {
      return fault("A binary frame must hold text in UTF-8");
    }
  }
  if (isBlank(text)) return { kind: "nothing" };
  const plain: ReadMessage = { kind: "text", text };
  // Any JSON that is no object is plain text, and so need not be parsed.
  if (!/^[ \t\r\n]*\{/.test(text)) return plain;
  let json: unknown;
  try {
    if (text.length > UNBOUNDED_CHARS) requireJsonBounds(text);
    json = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof ServiceError)) return plain;
    return fault(error.message.replace("The body", "An envelope"));
  }
  const object = json as Record<string, unknown>;
  return typeof object.type === "string" ? readEnvelope(object) : readLegacy(object);
}

function readLegacy(object: Record<string, unknown>): ReadMessage {
  for (const name of TEXT_FIELDS) {
    const text = object[name];
    if (typeof text === "string" && !isBlank(text)) return { kind: "text", text };
  }
  return { kind: "nothing" };
}

function readEnvelope(object: Record<string, unknown>): ReadMessage {
  const place = placeOf(object);
  const type = object.type as string;
  if (!Object.hasOwn(ENVELOPES, type)) {
    const known = Object.keys(ENVELOPES).join(", ");
    return fault(`type is ${shown(type)}: expected one of ${known}`, place, "type");
  }
  if (
    type === "message" && Array.isArray(object.media) &&
    object.media.length > MEDIA_LIMITS.maxCount
  ) {
    // Before the list is looked at: what is wrong with each of a million items fills the memory.
    const { length } = object.media;
    return fault(`media has ${length} items: at most ${MEDIA_LIMITS.maxCount}`, place, "media");
  }
  const parsed = ENVELOPES[type as keyof typeof ENVELOPES].safeParse(object);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    return fault(issueText(issue, object), place, issue.path.join("."));
  }
  const envelope: ClientEnvelope = parsed.data;
  if (envelope.type === "message") {
    const { content, media = [] } = envelope;
    if (isBlank(content) && media.length === 0) {
      return fault("content is blank: expected text, or a file in media", place, "content");
    }
    const bytes = utf8Length(content);
    if (bytes > MAX_TEXT_BYTES) {
      return {
        kind: "fault",
        place,
        error: new ServiceError(
          "too_large",
          `content has ${bytes} bytes: at most ${MAX_TEXT_BYTES}`,
          { param: "content" },
        ),
      };
    }
  }
  return { kind: "envelope", envelope };
}

/** The message of an envelope that is not understood, in as far as it is told apart from others. */
function placeOf({ chat_id, client_msg_id, source_chat_id }: Record<string, unknown>): ErrorPlace {
  const chat = chat_id ?? source_chat_id;
  const isId = typeof client_msg_id === "string" && client_msg_id !== "" &&
    client_msg_id.length <= 128;
  return {
    ...typeof chat === "string" && CHAT_ID.test(chat) && { chat_id: chat },
    ...isId && { client_msg_id },
  };
}

function issueText({ path, message }: z.core.$ZodIssue, object: unknown): string {
  const value = path.reduce<unknown>(
    (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key],
    object,
  );
  return `${path.map(String).join(".")} is ${shown(value)}: ${message}`;
}

function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  const text = typeof value === "string" ? value.slice(0, 80) : value;
  return JSON.stringify(text) + (typeof value === "string" && value.length > 80 ? " and more" : "");
}

function utf8Length(text: string): number {
  // Three bytes for a code unit at most.
  if (text.length * 3 <= MAX_TEXT_BYTES) return text.length;
  return new TextEncoder().encode(text).length;
}

function fault(message: string, place: ErrorPlace = {}, param?: string): ReadMessage {
  return { kind: "fault", error: new ServiceError("invalid_request", message, { param }), place };
}
