/**
 * What a mail says: its newest words, and the files that came with it.
 *
 * @module
 */

import PostalMime from "postal-mime";
import { MAX_INBOUND_CHARS } from "../../../lib/channel/inbound_message.ts";
import { htmlToText } from "./html_to_text.ts";
import { isForward, newestPart } from "./newest_part.ts";

/** A file that came with a mail. */
export interface MailFile {
  /** As the sender calls it; to be made harmless before it is a path. */
  name: string;
  mimeType: string;
  content: Uint8Array;
}

/** See the module. */
export interface MailContent {
  subject: string;
  text: string;
  files: MailFile[];
}

const MAX_SUBJECT_CHARS = 500;

/** Reads a whole mail. Rejects for parts that lie too deep in each other. */
export async function readMail(source: Uint8Array): Promise<MailContent> {
  const email = await PostalMime.parse(source, {
    maxNestingDepth: 50,
    maxHeadersSize: 1024 * 1024,
    // A mail in a mail is a file: its words are not those of the sender.
    forceRfc822Attachments: true,
  });
  const subject = clean(email.subject ?? "").slice(0, MAX_SUBJECT_CHARS);
  const plain = email.text?.trim() ?? "";
  const whole = plain !== "" ? plain : htmlToText(email.html ?? "");
  const text = newestPart(whole, { forwarded: isForward(subject) });
  const files = email.attachments
    // Pictures of the text too: what a person shows looks just as what a signature does.
    .map(({ filename, mimeType, content }): MailFile => ({
      name: filename ?? "",
      mimeType,
      content: typeof content === "string"
        ? new TextEncoder().encode(content)
        : new Uint8Array(content as ArrayBuffer),
    }));
  return { subject, text: withoutControls(text).slice(0, MAX_INBOUND_CHARS), files };
}

/** One line. */
function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
}

function withoutControls(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "").toWellFormed();
}
