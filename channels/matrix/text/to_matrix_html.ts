/**
 * Markdown as the HTML that Matrix clients show: the elements and attributes of "m.room.message msgtypes"
 * in the client-server API and no others. What a text brings along as markup is shown as it was written.
 *
 * @module
 */

import type { Token, Tokens } from "marked";
import {
  blocksToText,
  htmlFormat,
  lexMarkdown,
  renderInline,
} from "../../../lib/channel/markdown/mod.ts";

const MATRIX = htmlFormat({
  escape: escapeText,
  gap: "",
  codeAttributes: languageOf,
  table: (header, rows) => `<table><thead>${header}</thead><tbody>${rows.join("")}</tbody></table>`,
});

/** The text as HTML, without anything around it. Takes bounded time; never throws. */
export function toMatrixHtml(markdown: string): string {
  const shown = lexMarkdown(markdown).filter(({ type }) => type !== "space" && type !== "def");
  const [only] = shown;
  // A line alone stands as it is: clients put room around paragraphs.
  if (shown.length === 1 && (only!.type === "paragraph" || only!.type === "text")) {
    return MATRIX.lines(renderInline(inlineOf(only!), MATRIX), true);
  }
  return blocksToText(shown, MATRIX);
}

/** Text for an element or an attribute in quotes; without characters that no HTML may have. */
export function escapeText(text: string): string {
  return text
    // deno-lint-ignore no-control-regex -- they are what is taken out
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, "\uFFFD")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(
      '"',
      "&quot;",
    );
}

function inlineOf(token: Token): Token[] {
  return token.type === "paragraph" ? (token as Tokens.Paragraph).tokens : [token];
}

/** Clients colour code by it. */
function languageOf(lang: string): string {
  const [, name] = /^([A-Za-z0-9_+#.-]{1,40})/.exec(lang) ?? [];
  return name === undefined ? "" : ` class="language-${name}"`;
}
