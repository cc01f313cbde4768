/**
 * Whether a mail was written by a program, so that two programs never answer each other for ever (RFC
 * 3834, case C37).
 *
 * @module
 */

import { type HeaderField, valuesOf } from "./header_fields.ts";
import { isOwnMessageId, messageIdsIn } from "./message_ids.ts";

/** Why nobody expects an answer; undefined for a mail of a person. `own`: the addresses of the channel. */
export function automaticReason(
  fields: readonly HeaderField[],
  { address, own }: { address: string; own: readonly string[] },
): string | undefined {
  const first = (name: string) => valuesOf(fields, name).map((value) => value.toLowerCase());
  const submitted = first("auto-submitted").map((value) => value.split(/[;\s(]/)[0]);
  if (submitted.some((value) => value !== "no")) return "Auto-Submitted says so";
  if (first("precedence").some((value) => /^(?:bulk|list|junk|auto_reply)\b/.test(value))) {
    return "its Precedence says so";
  }
  if (fields.some(({ name }) => /^list-(?:id|post|unsubscribe|help|owner)$/.test(name))) {
    return "it comes from a list";
  }
  if (first("x-auto-response-suppress").some((value) => value !== "none" && value !== "")) {
    return "X-Auto-Response-Suppress says so";
  }
  if (["x-autoreply", "x-autorespond", "x-autoresponder"].some((name) => first(name).length > 0)) {
    return "it is an automatic answer";
  }
  if (first("return-path").some((value) => value.replace(/\s/g, "") === "<>")) {
    return "its Return-Path is empty";
  }
  if (first("content-type").some((value) => /^multipart\/report\b/.test(value))) {
    return "it is a report of a mail server";
  }
  if (/^(?:mailer-daemon|mail-daemon)@/.test(address)) return "it comes from a mail server";
  if (own.includes(address)) return "it comes from the channel's own address";
  if (valuesOf(fields, "message-id").flatMap(messageIdsIn).some(isOwnMessageId)) {
    return "it was sent by this channel";
  }
  return undefined;
}
