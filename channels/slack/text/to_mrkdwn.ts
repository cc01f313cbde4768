/**
 * Markdown as Slack's mrkdwn (https://docs.slack.dev/messaging/formatting-message-text).
 *
 * @module
 */

import {
  blocksToText,
  type InlineFormat,
  isSafeLink,
  lexMarkdown,
} from "../../../lib/channel/markdown/mod.ts";

/** The text. Nothing of it is a mark of Slack's that the Markdown did not ask for; never throws. */
export function toMrkdwn(markdown: string): string {
  return blocksToText(lexMarkdown(markdown), MRKDWN).toWellFormed();
}

/** Slack wants these three escaped, and those alone. */
function escapeMrkdwn(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const MRKDWN: InlineFormat = {
  text: escapeMrkdwn,
  strong: (inner) => wrapped("*", inner),
  em: (inner) => wrapped("_", inner),
  del: (inner) => wrapped("~", inner),
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
  br: () => "\n",
  codeBlock: (text) => `\`\`\`\n${escapeMrkdwn(text).replaceAll("```", "ˋˋˋ")}\n\`\`\``,
  heading: (inner) => wrapped("*", inner.replaceAll("*", "")),
};

/** Slack takes a style that begins and ends at a letter, within a line. */
function wrapped(mark: string, inner: string): string {
  return inner.split("\n").map((line) => {
    const [, before = "", text = "", after = ""] = /^(\s*)(.*?)(\s*)$/s.exec(line) ?? [];
    return text === "" ? line : `${before}${mark}${text}${mark}${after}`;
  }).join("\n");
}
