/**
 * What an event says, as Matrix has it: text with its HTML, relations, edits. No event is over 64 KiB with
 * all that a server puts around it.
 *
 * @module
 */

import { splitMarkdown } from "../../../lib/channel/markdown/mod.ts";
import type { Json } from "../api/matrix_api.ts";
import type { MatrixPlace } from "../chat_id.ts";
import { escapeText, toMatrixHtml } from "./to_matrix_html.ts";

/** Bytes of Markdown in one message: with HTML, and twice for an edit, an event stays in its bounds. */
export const MAX_PART_BYTES = 10_000;

/** Bytes of an event's content, of the 65,536 that an event may have (client-server API, "Size limits"). */
export const MAX_CONTENT_BYTES = 60_000;

/** Characters of the text for clients that know no edits, where an edit would be too large. */
const MAX_FALLBACK_CHARS = 200;

/**
 * Says that a program has written an event which is no notice, as answers are that people are to be notified
 * of: no program of the kind answers it, ours neither (MSC3955, by the name that it has until it is stable).
 */
export const AUTOMATED: Json = { "org.matrix.msc1767.automated": true };

/** Where a message belongs. */
export interface Relation {
  threadId?: string;
  /** Event that it answers. */
  replyTo?: string;
  /** Who is to notice it. */
  mentions?: readonly string[];
}

/** Where an answer stands: in the thread, and in a room beside the question that it answers. */
export function relationOf(
  { threadId }: MatrixPlace,
  { eventId, senderId, isShared }: Readonly<Record<string, unknown>>,
): Relation {
  const answers = isShared === true && typeof eventId === "string" && eventId.startsWith("$");
  return {
    ...threadId !== undefined && { threadId },
    ...answers && { replyTo: eventId },
    ...answers && typeof senderId === "string" && { mentions: [senderId] },
  };
}

const encoder = new TextEncoder();

/** A text in parts that each fit a message. */
export function partsOf(markdown: string): string[] {
  return splitMarkdown(markdown, MAX_PART_BYTES, "bytes");
}

/** A message. `m.notice`: of a program, which nobody is notified of and no program answers. */
export function textContent(
  markdown: string,
  msgtype: "m.text" | "m.notice",
  relation: Relation = {},
): Json {
  const text = { msgtype, ...bodyOf(markdown), ...relates(relation) };
  return sizeOf(text) <= MAX_CONTENT_BYTES ? text : withoutHtml(text);
}

/** The edit that gives an event a new text (client-server API, "Event replacements"). */
export function editContent(
  eventId: string,
  markdown: string,
  msgtype: "m.text" | "m.notice",
): Json {
  const text: Json = { msgtype, ...bodyOf(markdown), "m.mentions": {} };
  const make = (shown: Json, next: Json): Json => ({
    ...shown,
    "m.new_content": next,
    "m.relates_to": { rel_type: "m.replace", event_id: eventId },
  });
  const fallback: Json = {
    ...text,
    body: `* ${text.body}`,
    ...text.formatted_body !== undefined && { formatted_body: `* ${text.formatted_body}` },
  };
  const short: Json = {
    msgtype,
    body: `* ${[...String(text.body)].slice(0, MAX_FALLBACK_CHARS).join("")}…`,
    "m.mentions": {},
  };
  const contents = [make(fallback, text), make(short, text), make(short, withoutHtml(text))];
  return contents.find((content) => sizeOf(content) <= MAX_CONTENT_BYTES) ?? contents.at(-1)!;
}

/** `m.mentions` stands in each message: without it, clients look for names in the text. */
export function relates({ threadId, replyTo, mentions = [] }: Relation): Json {
  const inReplyTo = replyTo === undefined ? undefined : { event_id: replyTo };
  const relation = threadId !== undefined
    ? {
      rel_type: "m.thread",
      event_id: threadId,
      // For clients that know no threads; those that do show no quote.
      is_falling_back: true,
      "m.in_reply_to": inReplyTo ?? { event_id: threadId },
    }
    : inReplyTo && { "m.in_reply_to": inReplyTo };
  return {
    "m.mentions": mentions.length === 0 ? {} : { user_ids: mentions },
    ...relation && { "m.relates_to": relation },
  };
}

function bodyOf(markdown: string): Json {
  const body = markdown.replaceAll("\0", "\uFFFD").toWellFormed();
  const html = toMatrixHtml(body);
  // Text without any form needs no HTML beside it.
  if (html === escapeText(body)) return { ...AUTOMATED, body };
  return { ...AUTOMATED, body, format: "org.matrix.custom.html", formatted_body: html };
}

function withoutHtml({ format: _, formatted_body: __, ...plain }: Json): Json {
  return plain;
}

function sizeOf(content: Json): number {
  return encoder.encode(JSON.stringify(content)).length;
}
