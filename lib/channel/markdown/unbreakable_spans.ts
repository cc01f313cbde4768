/**
 * Where a text of Markdown is not to be cut: in links, emphasis, code in a line, escapes and addresses.
 *
 * @module
 */

import type { Token } from "marked";
import { childrenOf, lexMarkdown, MAX_MARKDOWN_CHARS } from "./lex_markdown.ts";

const SPANS: ReadonlySet<string> = new Set(["link", "image", "codespan", "strong", "em", "del"]);

/** What needs no lexer: escapes, character references, addresses. */
const PLAIN_SPANS = /\\[!-/:-@[-`{-~]|&#?\w{2,10};|\bhttps?:\/\/\S{1,2000}/g;

/**
 * For each position of a text, 1 where it lies in a span. One that is `tooLong` counts for nothing, but
 * what is in it does.
 */
export function unbreakableSpans(
  text: string,
  tooLong: (span: string) => boolean,
): Uint8Array {
  const inside = new Uint8Array(text.length + 1);
  const mark = (start: number, end: number) => inside.fill(1, start + 1, end);
  for (const { index, 0: span } of text.matchAll(PLAIN_SPANS)) {
    if (!tooLong(span)) mark(index, index + span.length);
  }
  if (text.length > MAX_MARKDOWN_CHARS) return inside;
  let at = 0;
  for (const token of lexMarkdown(text)) {
    const { raw } = token;
    const start = text.startsWith(raw, at) ? at : text.indexOf(raw, at);
    // Only where something is not as it was written, which takes no part of the others.
    if (start === -1) continue;
    at = start + raw.length;
    if (token.type !== "code") markSpans([token], { raw, start }, { mark, tooLong });
  }
  return inside;
}

/** Looks for spans in the block, in their order: lists and quotes take marks out of what they hold. */
function markSpans(
  tokens: readonly Token[],
  block: { raw: string; start: number },
  { mark, tooLong }: {
    mark: (start: number, end: number) => void;
    tooLong: (span: string) => boolean;
  },
): void {
  const walk = (token: Token, from: number): number => {
    const found = block.raw.indexOf(token.raw, from);
    const isSpan = SPANS.has(token.type) && found !== -1;
    if (isSpan && !tooLong(token.raw)) {
      mark(block.start + found, block.start + found + token.raw.length);
      return found + token.raw.length;
    }
    const children = childrenOf(token);
    let next = found === -1 ? from : found;
    for (const child of children) next = walk(child, next);
    return children.length === 0 && found !== -1 ? found + token.raw.length : next;
  };
  let from = 0;
  for (const token of tokens) from = walk(token, from);
}
