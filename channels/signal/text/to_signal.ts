/**
 * Markdown as Signal shows it: plain text, and which parts of it are bold, italic, struck through or code.
 *
 * @module
 */

import {
  blocksToText,
  isSameLink,
  lexMarkdown,
  PLAIN,
  splitMarkdown,
  type TextFormat,
} from "../../../lib/channel/markdown/mod.ts";

/** A text and its styles. */
export interface SignalText {
  message: string;
  /** `start:length:STYLE`, in UTF-16 code units, as `send` of signal-cli takes them. */
  textStyles: string[];
}

/** Bytes of a message; what is longer goes as a file, and programs show its begin alone. */
export const MAX_BYTES = 2_000;

/** Of Markdown, so that there is room for what is said below it and for blank lines between blocks. */
const MAX_PART_BYTES = 1_700;

/** Styles of a message that programs show. */
const MAX_STYLES = 250;

const STYLES = ["BOLD", "ITALIC", "STRIKETHROUGH", "MONOSPACE"] as const;

/** Where a style begins, until all of the text is there; where it ends. */
const OPEN = "\x01\x02\x03\x04";
const CLOSE = "\x05\x06\x0e\x0f";

const encoder = new TextEncoder();

/** Parts that each are one message; none for a blank text. */
export function signalParts(markdown: string): string[] {
  return splitMarkdown(clean(markdown), MAX_PART_BYTES, "bytes");
}

/** A part as it is sent. As it is written where it would be too long as it is shown. */
export function toSignal(markdown: string): SignalText {
  const shown = styled(blocksToText(lexMarkdown(clean(markdown)), FORMAT).trim());
  const fits = shown.message !== "" && encoder.encode(shown.message).length <= MAX_BYTES;
  return fits ? shown : { message: clean(markdown).trim(), textStyles: [] };
}

const FORMAT: TextFormat = {
  ...PLAIN,
  text: clean,
  strong: (inner) => mark(0, inner),
  em: (inner) => mark(1, inner),
  del: (inner) => mark(2, inner),
  code: (text) => mark(3, clean(text)),
  codeBlock: (text) => mark(3, clean(text)),
  heading: (inner) => mark(0, inner),
  link: ({ href, label, plain }) =>
    isSameLink(href, plain) ? label : label === "" ? clean(href) : `${label} (${clean(href)})`,
};

function mark(style: number, inner: string): string {
  return inner === "" ? "" : OPEN[style]! + inner + CLOSE[style]!;
}

function clean(text: string): string {
  return text.toWellFormed().replace(/(?![\t\n])\p{Cc}/gu, "");
}

function styled(marked: string): SignalText {
  const textStyles: string[] = [];
  const begins: number[][] = STYLES.map(() => []);
  let message = "";
  for (const character of marked) {
    const opens = OPEN.indexOf(character);
    const closes = CLOSE.indexOf(character);
    if (opens >= 0) begins[opens]!.push(message.length);
    else if (closes >= 0) {
      const start = begins[closes]!.pop()!;
      // One within another of its kind says nothing.
      if (begins[closes]!.length > 0 || start === message.length) continue;
      textStyles.push(`${start}:${message.length - start}:${STYLES[closes]}`);
    } else message += character;
  }
  return { message, textStyles: textStyles.slice(0, MAX_STYLES) };
}
