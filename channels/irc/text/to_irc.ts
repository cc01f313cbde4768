// deno-lint-ignore-file no-control-regex -- IRC writes styles as control characters.
/**
 * Markdown as lines of IRC.
 *
 * @module
 */

import {
  blocksToText,
  isSameLink,
  lexMarkdown,
  PLAIN,
  type TextFormat,
} from "../../../lib/channel/markdown/mod.ts";

/** Codes that turn a style on, and off again. */
const BOLD = "\x02";
const ITALIC = "\x1D";
const STRIKE = "\x1E";
const CODE = "\x11";

/** Whether styles are shown by control codes or not at all; some channels refuse lines that have them. */
export type IrcFormatting = "codes" | "plain";

/**
 * The lines of a text, not cut yet and none of them blank. No control character of the text is left: an
 * answer cannot end its line, be a CTCP request or turn a style on.
 */
export function toIrc(markdown: string, formatting: IrcFormatting): string[] {
  const tabs = markdown.replaceAll("\t", "    ");
  return blocksToText(lexMarkdown(withoutControls(tabs)), FORMATS[formatting])
    .split("\n")
    .filter((line) => withoutCodes(line).trim() !== "");
}

/** Text without the codes of styles and colours, as it comes from people. */
export function withoutCodes(text: string): string {
  return text
    .replace(/\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9A-Fa-f]{6}(?:,[0-9A-Fa-f]{6})?)?/g, "")
    .replace(/[\x00-\x1F\x7F]/g, "");
}

/** All but line ends. */
function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/(?!\n)[\p{Cc}\u2028\u2029]/gu, "");
}

function formatWith(wrap: (code: string, inner: string) => string): TextFormat {
  return {
    ...PLAIN,
    // References of HTML have been replaced by now.
    text: withoutControls,
    strong: (inner) => wrap(BOLD, inner),
    em: (inner) => wrap(ITALIC, inner),
    del: (inner) => wrap(STRIKE, inner),
    code: (text) => wrap(CODE, text),
    link({ href, label, plain }) {
      const address = withoutControls(href).replaceAll("\n", "");
      if (isSameLink(href, plain)) return label;
      return label === "" ? address : `${label} (${address})`;
    },
    codeBlock: (text) => text.split("\n").map((line) => wrap(CODE, line)).join("\n"),
    heading: (inner) => wrap(BOLD, inner),
  };
}

const FORMATS: Readonly<Record<IrcFormatting, TextFormat>> = {
  codes: formatWith((code, inner) =>
    // A line's end turns every style off.
    inner.replaceAll(code, "").split("\n")
      .map((line) => line === "" ? "" : `${code}${line}${code}`).join("\n")
  ),
  plain: formatWith((_code, inner) => inner),
};
