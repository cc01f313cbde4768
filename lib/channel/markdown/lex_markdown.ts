/**
 * The tokens of a text of Markdown, by marked's lexer, in bounded time whatever the text is.
 *
 * The lexer takes time in proportion to the square of a block for a few hostile texts, and one call a
 * level for nested ones. So it is given a long text in pieces, and what it cannot take is plain text.
 *
 * @module
 */

import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { type Fence, fenceAfter } from "./fences.ts";

/** Characters that the lexer is given at once. */
const MAX_PIECE_CHARS = 8 * 1024;

/** Characters of a text that are looked at as Markdown; a longer one is plain text as a whole. */
export const MAX_MARKDOWN_CHARS = 256 * 1024;

/** Levels of quotes and lists; a text that is deeper is plain text in that piece. */
const MAX_DEPTH = 64;

export type { MarkedToken as MarkdownToken } from "marked";

/** Text as every other function here takes it: one kind of line end, no NUL and whole characters. */
export function cleanText(text: string): string {
  return text.replace(/\r\n?/g, "\n").replaceAll("\0", "\uFFFD").toWellFormed();
}

/** The tokens of a text; of plain text where it is too long or too deep. Never throws. */
export function lexMarkdown(markdown: string): MarkedToken[] {
  const text = cleanText(markdown);
  if (text.length > MAX_MARKDOWN_CHARS) return [plain(text)];
  if (text.length <= MAX_PIECE_CHARS) return lexPiece(text);
  return piecesOf(text).flatMap((piece) =>
    typeof piece === "string" ? lexPiece(piece) : codeOf(piece)
  );
}

function lexPiece(text: string): MarkedToken[] {
  if (text.length > MAX_PIECE_CHARS) return [plain(text)];
  try {
    const tokens = new Lexer({ gfm: true, async: false }).lex(text);
    return isShallow(tokens) ? tokens as MarkedToken[] : [plain(text)];
  } catch {
    // Too deep for its calls.
    return [plain(text)];
  }
}

function plain(text: string): MarkedToken {
  return { type: "text", raw: text, text };
}

/** Level by level, because a text that is too deep may be too deep for calls as well. */
function isShallow(tokens: readonly Token[]): boolean {
  let level: readonly Token[] = tokens;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const next = level.flatMap(childrenOf);
    if (next.length === 0) return true;
    level = next;
  }
  return false;
}

/** The tokens in a token; those of cells as well. */
export function childrenOf(token: Token): Token[] {
  switch (token.type) {
    case "list":
      return (token as Tokens.List).items;
    case "table": {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].flat().flatMap((cell) => cell.tokens);
    }
    default:
      return (token as Tokens.Generic).tokens ?? [];
  }
}

interface CodePiece {
  fence: Fence;
  lines: string[];
}

/** Whole blocks where they are short enough, else whole lines; a long block of code by itself. */
function piecesOf(text: string): (string | CodePiece)[] {
  const pieces: (string | CodePiece)[] = [];
  let piece = "";
  /** Where the last line began at which a new piece may begin, in `piece`. */
  let border = 0;
  let fence: Fence | undefined;
  let code: string[] = [];
  const flush = (end: number) => {
    if (end > 0) pieces.push(piece.slice(0, end));
    piece = piece.slice(end);
    border = 0;
  };
  const add = (line: string) => {
    if (piece.length + line.length + 1 > MAX_PIECE_CHARS) flush(border > 0 ? border : piece.length);
    if (piece.length + line.length + 1 > MAX_PIECE_CHARS) flush(piece.length);
    piece += line + "\n";
  };
  const addCode = (open: Fence) => {
    const chars = code.reduce((sum, line) => sum + line.length + 1, 0);
    if (chars <= MAX_PIECE_CHARS / 2) code.forEach(add);
    else {
      flush(piece.length);
      pieces.push({ fence: open, lines: code });
    }
    code = [];
  };
  let wasBlank = false;
  for (const line of text.split("\n")) {
    const after = fenceAfter(line, fence);
    if (after !== undefined) {
      // One that opens where another was open ends that one.
      if (fence !== undefined && fence !== after) addCode(fence);
      code.push(line);
    } else if (fence !== undefined) {
      code.push(line);
      addCode(fence);
    } else {
      if (wasBlank && /^[^\s>]/.test(line) && !/^([-*+]|\d+[.)])\s/.test(line)) {
        border = piece.length;
      }
      add(line);
    }
    fence = after;
    wasBlank = line.trim() === "";
  }
  if (fence !== undefined) addCode(fence);
  flush(piece.length);
  return pieces;
}

function codeOf({ fence, lines }: CodePiece): MarkedToken[] {
  const body = lines.slice(1);
  if (body.length > 0 && fenceAfter(body.at(-1)!, fence) === undefined) body.pop();
  const text = body.map((line) => withoutPrefix(line, fence.prefix)).join("\n");
  return [{ type: "code", raw: lines.join("\n"), lang: fence.info, text }];
}

/** What belongs to the quote or the list's item around a block of code. */
function withoutPrefix(line: string, prefix: string): string {
  let rest = line;
  for (const mark of prefix) {
    if (mark === ">") {
      const at = /^[ \t]*>/.exec(rest);
      if (at === null) return rest;
      rest = rest.slice(at[0].length);
    } else if (/^[ \t]/.test(rest)) rest = rest.slice(1);
  }
  return rest;
}
