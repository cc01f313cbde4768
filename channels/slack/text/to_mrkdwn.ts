/**
 * Markdown as Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text).
 *
 * @module
 */

import {
  blocksToText,
  isSafeLink,
  lexMarkdown,
  PLAIN,
  type TextFormat,
  wrapped,
} from "../../../lib/channel/markdown/mod.ts";

/** The text. Nothing of it is a mark of Slack's that the Markdown did not ask for; never throws. */
export function toMrkdwn(markdown: string): string {
  return blocksToText(lexMarkdown(markdown), MRKDWN).toWellFormed();
}

/** Slack wants these three escaped, and those alone. */
function escapeMrkdwn(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const MRKDWN: TextFormat = {
  ...PLAIN,
  text: escapeMrkdwn,
  strong: (inner) => styled("*", inner),
  em: (inner) => styled("_", inner),
  del: (inner) => styled("~", inner),
  // A mark of code in it would end it.
  code: (text) => `\`${escapeMrkdwn(text).replaceAll("`", "ˋ")}\``,
  link({ href, label, plain }) {
    const shown = label.replace(/[|\n]/g, " ");
    if (isSafeLink(href)) {
      const address = escapeMrkdwn(href).replaceAll("|", "%7C");
      return shown === "" || href === plain || href === `mailto:${plain}`
        ? `<${address}>`
        : `<${address}|${shown}>`;
    }
    return href === "" || href === plain ? label : `${label} (${escapeMrkdwn(href)})`;
  },
  codeBlock: (text) => `\`\`\`\n${escapeMrkdwn(text).replaceAll("```", "ˋˋˋ")}\n\`\`\``,
  heading: (inner) => styled("*", inner.replaceAll("*", "")),
};

/** Slack takes a style that begins and ends at a letter, within a line. */
function styled(mark: string, inner: string): string {
  return inner.split("\n").map((line) => wrapped(mark, line)).join("\n");
}
