/**
 * Whether what a runtime publishes is a message: asked in its worker, where the runtime is told what is
 * wrong, and again by the service, which believes no worker.
 *
 * @module
 */

import { isChatId, MAX_CHAT_ID_CHARS } from "../base/chat_address.ts";
import { ServiceError } from "../base/errors.ts";
import { markedText, PROVENANCES, type TextPart } from "../contract/text_part.ts";
import {
  type InboundMessage,
  MAX_INBOUND_CHARS,
  MAX_INBOUND_PARTS,
  MAX_METADATA_CHARS,
} from "../contract/inbound_message.ts";
import type { MetStranger } from "./channel_host.ts";
import { plainJson } from "./plain_json.ts";
import { isInside } from "../base/state_dir.ts";

/** Files that may come with one message. */
export const MAX_INBOUND_FILES = 20;

/** No platform of today has an older message; what is given in seconds is one. */
const FIRST_SENT_AT = Date.UTC(2000, 0, 1);

const MAX_ID_CHARS = 256;
const MAX_PATH_CHARS = 4_096;

/** What stands behind the colon of a session's key. */
const SESSION_ID = /^[^\s\p{Cc}\p{Cf}\p{Cs}]+$/u;

/** Whose message it is. */
export interface InboundSource {
  runtimeName: string;
  /** Where its files have to lie. */
  stateDir: string;
}

/** A clean copy of a message. Throws `invalid_request`, naming the field and what is expected. */
export function checkInbound(value: unknown, source: InboundSource): InboundMessage {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw fault("message", value, "an object");
  }
  const {
    senderId,
    chatId,
    content,
    parts,
    media,
    metadata,
    sessionKey,
    messageId,
    replaces,
    senderName,
    sentAt,
    streaming,
  } = value as Record<string, unknown>;
  const sender = address("senderId", senderId);
  const chat = address("chatId", chatId);
  const isTooLong = parts === undefined && (content as string)?.length > MAX_INBOUND_CHARS;
  if (typeof content !== "string" || isTooLong) {
    throw fault("content", content, `a text of at most ${MAX_INBOUND_CHARS} characters`);
  }
  if (typeof streaming !== "boolean") throw fault("streaming", streaming, "true or false");
  const key = optionalId("sessionKey", sessionKey);
  if (key !== undefined && !key.startsWith(`${source.runtimeName}:`)) {
    throw fault("sessionKey", key, `a text that begins with ${source.runtimeName}:`);
  }
  // It is shown in lists of sessions.
  if (key !== undefined && !SESSION_ID.test(key.slice(source.runtimeName.length + 1))) {
    throw fault("sessionKey", key, `${source.runtimeName}: and visible characters without spaces`);
  }
  const message: InboundMessage = { senderId: sender, chatId: chat, content, streaming };
  if (parts !== undefined) {
    message.parts = textParts(parts);
    // Marks make it longer than the texts, which have the bound.
    message.content = message.parts.map(markedText).join("\n\n");
  }
  if (media !== undefined) message.media = paths(media, source.stateDir);
  if (metadata !== undefined) message.metadata = record(metadata);
  if (key !== undefined) message.sessionKey = key;
  const platformId = optionalId("messageId", messageId);
  if (platformId !== undefined) message.messageId = platformId;
  const earlier = optionalId("replaces", replaces);
  if (earlier !== undefined) message.replaces = earlier;
  const name = optionalId("senderName", senderName);
  if (name !== undefined) message.senderName = name;
  if (sentAt !== undefined) message.sentAt = time("sentAt", sentAt);
  return message;
}

/** A clean copy of a stranger. Throws `invalid_request`, naming the field and what is expected. */
export function checkStranger(value: unknown): MetStranger {
  const { senderId, senderName, chatId } = (value ?? {}) as Record<string, unknown>;
  const name = optionalId("senderName", senderName);
  return {
    senderId: address("senderId", senderId),
    chatId: address("chatId", chatId),
    ...name !== undefined && { senderName: name },
  };
}

/** Compared exactly and shown to people, so that nothing may stand in it that nobody sees. */
function address(field: string, value: unknown): string {
  if (typeof value !== "string" || !isChatId(value)) {
    throw fault(
      field,
      value,
      `1 to ${MAX_CHAT_ID_CHARS} characters that can be seen, and not * alone`,
    );
  }
  return value;
}

function time(field: string, value: unknown): number {
  const ms = typeof value === "number" ? Math.floor(value) : NaN;
  if (Number.isSafeInteger(ms) && ms >= FIRST_SENT_AT) return ms;
  throw fault(field, value, "milliseconds since 1970, and no time before the year 2000");
}

function id(field: string, value: unknown): string {
  if (typeof value !== "string" || value.trim() === "" || value.length > MAX_ID_CHARS) {
    throw fault(field, value, `a text of 1 to ${MAX_ID_CHARS} characters`);
  }
  return value;
}

function optionalId(field: string, value: unknown): string | undefined {
  return value === undefined ? undefined : id(field, value);
}

function textParts(value: unknown): TextPart[] {
  if (!Array.isArray(value) || value.length > MAX_INBOUND_PARTS) {
    throw fault("parts", value, `a list of at most ${MAX_INBOUND_PARTS} texts`);
  }
  let left = MAX_INBOUND_CHARS;
  return Array.from(value, (part: unknown) => {
    const { text, provenance, from } = (part ?? {}) as Record<string, unknown>;
    if (typeof text !== "string" || (left -= text.length) < 0) {
      throw fault("parts", text, `texts of at most ${MAX_INBOUND_CHARS} characters together`);
    }
    const known = PROVENANCES.find((one) => one === provenance);
    if (provenance !== undefined && known === undefined) {
      throw fault("parts", provenance, `a provenance: ${PROVENANCES.join(", ")}`);
    }
    if (from !== undefined && typeof from !== "string") throw fault("parts", from, "a name");
    return {
      text,
      ...known !== undefined && { provenance: known },
      ...from !== undefined && { from: from.slice(0, MAX_ID_CHARS).toWellFormed() },
    };
  });
}

function paths(value: unknown, stateDir: string): string[] {
  if (!Array.isArray(value) || value.length > MAX_INBOUND_FILES) {
    throw fault("media", value, `a list of at most ${MAX_INBOUND_FILES} paths`);
  }
  return Array.from(value, (path: unknown) => {
    if (
      typeof path !== "string" || path.length > MAX_PATH_CHARS || !isInside(stateDir, path)
    ) throw fault("media", path, `a path in ${stateDir}, without . or ..`);
    return path;
  });
}

function record(value: unknown): Record<string, unknown> {
  const copy = plainJson(value, MAX_METADATA_CHARS);
  if (typeof copy !== "object" || copy === null || Array.isArray(copy)) {
    throw fault(
      "metadata",
      value,
      `an object of plain JSON of at most ${MAX_METADATA_CHARS} characters`,
    );
  }
  return copy as Record<string, unknown>;
}

/** Text is shown cut; of anything else, what it is. */
function fault(param: string, value: unknown, expected: string): ServiceError {
  const shown = typeof value === "string"
    ? `${JSON.stringify(value.slice(0, 80))}${value.length > 80 ? "…" : ""}`
    : value === null
    ? "null"
    : Array.isArray(value)
    ? `a list of ${value.length}`
    : typeof value === "number"
    ? String(value)
    : typeof value;
  return new ServiceError(
    "invalid_request",
    `Cannot publish a message: ${param} is ${shown}, expected ${expected}`,
    { param },
  );
}
