import type { Output, Span } from "./output.ts";
import { wrapText } from "./wrap_text.ts";

/**
 * Prints a text that may be longer than a line after a head such as `1. `. On a terminal it wraps
 * between words, indented; elsewhere it is one line.
 */
export function printParagraph(
  out: Output,
  head: Span & { text: string },
  text: string,
  { indent = 2 }: { indent?: number } = {},
): void {
  const width = out.columns;
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
