import type { Output, Span } from "./output.ts";
import { terminalWidth } from "./terminal_width.ts";
import { wrapText } from "./wrap_text.ts";

/**
 * Prints a text that may be longer than a line behind a head such as `1. `. A terminal gets lines that end
 * between words, each behind as many blanks; elsewhere it is one line.
 */
export function printParagraph(
  out: Output,
  head: Span & { text: string },
  text: string,
  { indent = 2, widthOf = terminalWidth }: {
    indent?: number;
    widthOf?: () => number | undefined;
  } = {},
): void {
  const width = out.isTerminal ? widthOf() : undefined;
  if (width === undefined) return out.line(head, text);
  const whole = head.text + text;
  const [first = ""] = wrapText(whole, Math.max(20, width));
  const end = Math.max(first.length, head.text.length);
  out.line(head, whole.slice(head.text.length, end));
  const rest = whole.slice(end).trimStart();
  if (rest === "") return;
  for (const line of wrapText(rest, Math.max(20, width - indent))) {
    out.line(" ".repeat(indent) + line);
  }
}
