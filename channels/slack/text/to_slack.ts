/**
 * Markdown as messages of Slack: a `markdown` block, which Slack renders itself (headings, lists, tables,
 * code with its language), and beside it the same as mrkdwn, for notifications and as what is sent where
 * Slack refuses the block (https://docs.slack.dev/reference/block-kit/blocks/markdown-block).
 *
 * @module
 */

import { splitMarkdown } from "../../../lib/channel/markdown/mod.ts";
import { toMrkdwn } from "./to_mrkdwn.ts";

/** Characters of all markdown blocks of one message. */
export const MAX_MARKDOWN_CHARS = 12_000;

/** Characters of `text`, past which Slack cuts it. */
export const MAX_TEXT_CHARS = 40_000;

/** Characters of `text` beside blocks: Slack wants no more for a notification. */
const MAX_NOTICE_CHARS = 4_000;

/** What is posted for one part. */
export interface SlackContent {
  blocks: readonly Record<string, unknown>[];
  /** mrkdwn, for notifications. */
  text: string;
}

/**
 * Marks that would call people, in a text that only names them. An answer may repeat what somebody else
 * has written, so it calls nobody.
 */
const CALLS = /(<|&lt;|&#0*60;|&#x0*3c;)(?=!(?:channel|here|everyone|subteam|date)|[@#][A-Z0-9])/gi;

/** The parts of a text that each fit one message; none for a blank one. */
export function splitForSlack(markdown: string): string[] {
  return splitMarkdown(withoutCalls(markdown), MAX_MARKDOWN_CHARS, sizeForSlack);
}

/** How much of a message a text takes, of {@linkcode MAX_MARKDOWN_CHARS}: as a block, and as mrkdwn. */
export function sizeForSlack(markdown: string): number {
  // As mrkdwn each of these becomes five characters at most, and 40,000 are taken.
  const escaped = markdown.length + 4 * (markdown.match(/[&<>]/g)?.length ?? 0);
  return Math.max(markdown.length, Math.ceil((escaped * MAX_MARKDOWN_CHARS) / MAX_TEXT_CHARS));
}

/** A part as what is posted. */
export function toSlack(part: string): SlackContent {
  const text = withoutCalls(part);
  return {
    blocks: [{ type: "markdown", text }],
    text: cutText(toMrkdwn(text), MAX_NOTICE_CHARS),
  };
}

/** A part as mrkdwn alone, for a Slack that refuses its block. */
export function toSlackText(part: string): string {
  return cutText(toMrkdwn(withoutCalls(part)), MAX_TEXT_CHARS);
}

function withoutCalls(markdown: string): string {
  return markdown.toWellFormed().replace(CALLS, "$1\u200B");
}

/** At most so many characters, none of them and no escape cut in half. */
function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  return text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$|&[a-z]{0,3}$|<[^<>]{0,3000}$/, "") + "…";
}
