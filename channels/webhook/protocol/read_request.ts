/**
 * The body of a request that brings a message.
 *
 * @module
 */

import { ServiceError } from "../../../lib/base/errors.ts";
import { MEDIA_LIMITS } from "../../../lib/contract/wire/envelopes.ts";

/** A message as it came. */
export interface WebhookMessage {
  /** The sender's own id of it, given back as `reply_to`. */
  id?: string;
  chatId: string;
  senderId: string;
  senderName?: string;
  text: string;
  media: readonly WebhookFile[];
  metadata?: Record<string, unknown>;
  /** Whether the answer is wanted in the response. */
  wait: boolean;
}

/** A file of a message. */
export interface WebhookFile {
  /** Without a folder. */
  name: string;
  bytes: Uint8Array;
}

const FIELDS: ReadonlySet<string> = new Set([
  "id",
  "chat_id",
  "sender_id",
  "sender_name",
  "text",
  "media",
  "metadata",
  "wait",
]);

const MAX_NAME_CHARS = 100;

/** Reads a body. Throws `invalid_request` or `too_large`, naming the field and what is expected. */
export function readRequest(bytes: Uint8Array): WebhookMessage {
  const body = parse(bytes);
  // What this channel sends itself: a URL that leads back to it would answer without an end (C37).
  if (Object.hasOwn(body, "type")) {
    throw invalid("type", body.type, "no such field: events of this channel are not messages");
  }
  const unknown = Object.keys(body).find((name) => !FIELDS.has(name));
  if (unknown !== undefined) {
    throw invalid(unknown, body[unknown], `no such field; there are ${[...FIELDS].join(", ")}`);
  }
  const media = readMedia(body.media);
  const text = body.text === undefined && media.length > 0 ? "" : requiredText("text", body.text);
  if (text.trim() === "" && media.length === 0) {
    throw invalid("text", text, "a text that is not blank, or media");
  }
  const message: WebhookMessage = {
    chatId: requiredText("chat_id", body.chat_id),
    senderId: requiredText("sender_id", body.sender_id),
    text,
    media,
    wait: optional("wait", body.wait, "boolean", "true or false") as boolean | undefined ?? false,
  };
  if (body.id !== undefined) message.id = requiredText("id", body.id).slice(0, 256);
  if (body.sender_name !== undefined) {
    message.senderName = requiredText("sender_name", body.sender_name);
  }
  if (body.metadata !== undefined) {
    if (!isRecord(body.metadata)) throw invalid("metadata", body.metadata, "an object");
    message.metadata = body.metadata;
  }
  return message;
}

function parse(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new ServiceError("invalid_request", "The body is not JSON in UTF-8");
  }
  if (!isRecord(value)) throw new ServiceError("invalid_request", "The body is not a JSON object");
  return value;
}

/** Base64 data URLs, or objects that also name them: `{data_url, name}`. */
function readMedia(value: unknown): WebhookFile[] {
  if (value === undefined) return [];
  const { maxCount, maxFileBytes, maxTotalBytes } = MEDIA_LIMITS;
  if (!Array.isArray(value) || value.length > maxCount) {
    throw invalid("media", value, `a list of at most ${maxCount} files`);
  }
  let total = 0;
  return value.map((item: unknown, at) => {
    const { data_url: url, name } = isRecord(item) ? item : { data_url: item, name: undefined };
    const param = `media[${at}]`;
    if (typeof url !== "string") throw invalid(param, url, "a data URL, or {data_url, name}");
    const bytes = readDataUrl(url, param);
    total += bytes.length;
    if (bytes.length > maxFileBytes || total > maxTotalBytes) {
      throw new ServiceError(
        "too_large",
        `${param} is too large: at most ${maxFileBytes} bytes a file, ${maxTotalBytes} in all`,
        { param },
      );
    }
    return { name: fileName(name, at), bytes };
  });
}

function readDataUrl(url: string, param: string): Uint8Array {
  const comma = url.slice(0, 256).indexOf(",");
  if (comma === -1 || !/^data:[^,]*;\s*base64\s*$/i.test(url.slice(0, comma))) {
    throw invalid(param, url, "a data URL with base64 data, such as data:image/png;base64,…");
  }
  try {
    const bytes = Uint8Array.fromBase64(url.slice(comma + 1));
    if (bytes.length > 0) return bytes;
  } catch {
    // Said below, as for no bytes.
  }
  throw invalid(param, url, "base64 of at least one byte");
}

/** A name for the disk: the last part of a path, and nothing that means something there. */
function fileName(name: unknown, at: number): string {
  const last = typeof name === "string" ? name.split(/[/\\]/).at(-1)! : "";
  const safe = last.replace(/[^\p{L}\p{N}._ -]/gu, "_").trim().slice(-MAX_NAME_CHARS);
  return /^\.*$/.test(safe) ? `file-${at + 1}` : safe.toWellFormed();
}

function requiredText(param: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw invalid(param, value, "a text");
}

function optional(param: string, value: unknown, type: string, expected: string): unknown {
  if (value === undefined || typeof value === type) return value;
  throw invalid(param, value, expected);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(param: string, value: unknown, expected: string): ServiceError {
  const shown = value === undefined
    ? "missing"
    : typeof value === "string"
    ? JSON.stringify(value.slice(0, 60))
    : Array.isArray(value)
    ? `a list of ${value.length}`
    : value === null
    ? "null"
    : typeof value;
  return new ServiceError("invalid_request", `${param} is ${shown}: expected ${expected}`, {
    param,
  });
}
