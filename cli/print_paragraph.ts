import type { Output, Span } from "./output.ts";
import { wrapText } from "./wrap_text.ts";

/**
 * Prints a text that may be longer than a line after a head such as `1. `. On a terminal it wraps
 * between words, indented; elsewhere it is one line.
 */
export function printParagraph(
  out: Output,
  head: Span | Span[],
  text: string,
  { indent = 2 }: { indent?: number } = {},
): void {
  const spans = [head].flat();
  const width = out.columns;
  if (width === undefined) return out.line(...spans, text);
  const start = spans.map((span) => span.text).join("");
  const whole = start + text;
  // Wrapping takes away blanks at the start, and those of the head count.
  const measured = whole.replace(/^ +/, (blanks) => "-".repeat(blanks.length));
  const [first = ""] = wrapText(measured, Math.max(20, width));
  const end = Math.max(first.length, start.length);
  out.line(...spans, whole.slice(start.length, end));
  const rest = whole.slice(end).trimStart();
  if (rest === "") return;
  for (const line of wrapText(rest, Math.max(20, width) - indent)) {
    out.line(" ".repeat(indent) + line);
  }
}
