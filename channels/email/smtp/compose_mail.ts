/**
 * A mail that goes out, from what the agent says.
 *
 * @module
 */

import { toHtml } from "../../../lib/channel/markdown/to_html.ts";
import { toPlainText } from "../../../lib/channel/markdown/to_plain_text.ts";
import { messageIdsIn } from "../mail/message_ids.ts";
import { oneLine } from "../account/settings.ts";

/** As the client takes it. */
export interface OutgoingMail {
  envelope: { from: string; to: string[] };
  from: { name: string; address: string };
  to: { name: string; address: string };
  subject: string;
  messageId: string;
  inReplyTo?: string;
  references?: string[];
  date: Date;
  headers: Record<string, string>;
  text: string;
  html: string;
  attachments: { path: string; filename: string }[];
}

/** What it is made of. */
export interface ComposeOptions {
  from: { name: string; address: string };
  to: string;
  /** Subject where it answers none. */
  subject: string;
  messageId: string;
  /** Markdown. */
  content: string;
  /** Of the mail that it answers, as the channel made it; anything that is not so is left out. */
  metadata: Readonly<Record<string, unknown>>;
  files: readonly { path: string; name: string }[];
  now: number;
}

/** Characters of a subject. */
const MAX_SUBJECT_CHARS = 200;

/** The mail. Nothing of what somebody else wrote can become a header. */
export function composeMail(options: ComposeOptions): OutgoingMail {
  const { from, to, metadata, content } = options;
  const [inReplyTo] = idsOf(metadata.messageId);
  const references = [...new Set([...idsOf(metadata.references), ...inReplyTo ? [inReplyTo] : []])];
  return {
    envelope: { from: from.address, to: [to] },
    from,
    to: { name: "", address: to },
    subject: subjectOf(metadata.subject, options.subject, inReplyTo !== undefined),
    messageId: options.messageId,
    ...inReplyTo !== undefined && { inReplyTo, references },
    date: new Date(options.now),
    headers: {
      // Nobody answers it by a program (RFC 3834 3.1.7), Exchange neither.
      "Auto-Submitted": inReplyTo === undefined ? "auto-generated" : "auto-replied",
      "X-Auto-Response-Suppress": "All",
    },
    text: `${toPlainText(content).trimEnd()}\n`,
    html: `<!DOCTYPE html>\n<html><body>\n${toHtml(content)}</body></html>\n`,
    attachments: options.files.map(({ path, name }) => ({ path, filename: name })),
  };
}

/** `Re: ` in front of the subject that is answered, once. */
function subjectOf(answered: unknown, usual: string, isAnswer: boolean): string {
  const subject = typeof answered === "string" ? oneLine(answered) : "";
  const cut = (text: string) => [...text].slice(0, MAX_SUBJECT_CHARS).join("").toWellFormed();
  if (!isAnswer) return cut(subject === "" ? usual : subject);
  return cut(
    /^(?:re|aw|antw|sv|vs|odp|r|ref)\s*(?:\[\d+\])?\s*:/i.test(subject)
      ? subject
      : `Re: ${subject}`.trim(),
  );
}

function idsOf(value: unknown): string[] {
  if (typeof value === "string") return messageIdsIn(value);
  if (!Array.isArray(value)) return [];
  return value.filter((each) => typeof each === "string").slice(0, 50).flatMap(messageIdsIn);
}
