/**
 * What a mail says: its newest words, and the files that came with it.
 *
 * @module
 */

import PostalMime, { type PostalMimeOptions } from "postal-mime";
import { htmlToText } from "../../../lib/base/html_to_text.ts";
import type { TextPart } from "../../../lib/channel/mod.ts";
import { isForward, mailPieces } from "./mail_pieces.ts";
import { newestPart } from "./newest_part.ts";

/** A file that came with a mail. */
export interface MailFile {
  /** As the sender calls it; to be made harmless before it is a path. */
  name: string;
  mimeType: string;
  content: Uint8Array;
}

export interface MailContent {
  subject: string;
  /** Its text in pieces. */
  said: TextPart[];
  files: MailFile[];
}

const MAX_SUBJECT_CHARS = 500;
/** Of an HTML mail. */
const MAX_HTML_CHARS = 2 * 1024 * 1024;

/** What of the parser its declarations leave out. */
type WithInternals = new (options: PostalMimeOptions) => PostalMime & {
  isInlineTextNode(node: MailNode): boolean;
};

type MailNode = Readonly<
  Record<
    "contentDisposition" | "contentType",
    { parsed: { params: Readonly<Record<string, string>> } }
  >
>;

/** A text with a name is a file, and not what somebody has written into the mail. */
class MailParser extends (PostalMime as unknown as WithInternals) {
  override isInlineTextNode(node: MailNode): boolean {
    const { contentDisposition, contentType } = node;
    const name = contentDisposition.parsed.params.filename ?? contentType.parsed.params.name;
    return name === undefined && super.isInlineTextNode(node);
  }
}

/** Reads a whole mail. Rejects for parts that lie too deep in each other. */
export async function readMail(source: Uint8Array): Promise<MailContent> {
  const email = await new MailParser({
    maxNestingDepth: 50,
    maxHeadersSize: 1024 * 1024,
    // A mail in a mail is a file: its words are not those of the sender.
    forceRfc822Attachments: true,
  }).parse(source);
  const subject = clean(email.subject ?? "").slice(0, MAX_SUBJECT_CHARS);
  const plain = email.text?.trim() ?? "";
  const whole = plain !== "" ? plain : htmlToText((email.html ?? "").slice(0, MAX_HTML_CHARS));
  const forwarded = isForward(subject);
  const text = withoutControls(newestPart(whole, { forwarded }));
  const isAttached = email.attachments.some(({ mimeType }) => mimeType === "message/rfc822");
  const files = email.attachments
    // Pictures of the text too: what a person shows looks just as what a signature does.
    .map(({ filename, mimeType, content }): MailFile => ({
      name: filename ?? "",
      mimeType,
      content: typeof content === "string"
        ? new TextEncoder().encode(content)
        : new Uint8Array(content as ArrayBuffer),
    }));
  return { subject, said: mailPieces(text, { isForwarded: forwarded && !isAttached }), files };
}

/** One line. */
function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
}

function withoutControls(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "").toWellFormed();
}
