/**
 * Markdown as lines of a terminal.
 *
 * @module
 */

import { lexMarkdown, type MarkdownToken } from "../../lib/channel/markdown/mod.ts";
import { colorCode } from "./code_colors.ts";
import { type Line, LOOK, type Look, type Piece, piece } from "./look.ts";
import { hardWrap, lineWidth, wordWrap } from "./wrap.ts";

/** Columns that text keeps: what stands before it goes first where there are fewer. */
const READABLE = 8;

/** Columns that a column of a table keeps. */
const MIN_CELL = 5;

const CELL_GAP = 3;

/** A text as lines of at most `width` columns. */
export function renderMarkdown(markdown: string, width: number): Line[] {
  return renderBlocks(lexMarkdown(markdown), width);
}

/** Blocks with a blank line between two. */
export function renderBlocks(tokens: readonly MarkdownToken[], width: number): Line[] {
  const lines: Line[] = [];
  for (const token of tokens) {
    const block = renderBlock(token, width);
    if (block.length === 0) continue;
    if (lines.length > 0) lines.push([]);
    lines.push(...block);
  }
  return lines;
}

function renderBlock(token: MarkdownToken, width: number): Line[] {
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "heading":
      return wordWrap(inline(token.tokens, LOOK.heading), width);
    case "code":
      return before(
        "  ",
        "  ",
        LOOK.plain,
        width,
        (left) => hardWrap(colorCode(token.text, token.lang ?? ""), left),
      );
    case "blockquote":
      return before(
        "│ ",
        "│ ",
        LOOK.dim,
        width,
        (left) => renderBlocks(token.tokens as MarkdownToken[], left),
      );
    case "list":
      return list(token, width);
    case "table":
      return table(token, width);
    case "hr":
      return [[piece("─".repeat(Math.min(width, 40)), LOOK.dim)]];
    case "html":
      return wordWrap([piece(token.text.trimEnd())], width);
    default: {
      const { tokens, text, raw } = token as {
        tokens?: MarkdownToken[];
        text?: string;
        raw: string;
      };
      return wordWrap(tokens === undefined ? [piece(text ?? raw)] : inline(tokens), width);
    }
  }
}

type ListToken = Extract<MarkdownToken, { type: "list" }>;

function list({ ordered, start, loose, items }: ListToken, width: number): Line[] {
  const last = Number(start || 1) + items.length - 1;
  return items.flatMap((item, at) => {
    const bullet = ordered ? `${Number(start || 1) + at}.`.padEnd(String(last).length + 2) : "• ";
    const task = item.task ? (item.checked ? "[x] " : "[ ] ") : "";
    const head = bullet + task;
    const blocks = (item.tokens as MarkdownToken[]).filter(({ type }) =>
      (type as string) !== "checkbox"
    );
    const lines = before(
      head,
      " ".repeat(head.length),
      LOOK.cyan,
      width,
      (left) =>
        loose ? renderBlocks(blocks, left) : blocks.flatMap((block) => renderBlock(block, left)),
    );
    return loose && at > 0 ? [[], ...lines] : lines;
  });
}

/** Lines behind something, which is left out where too little room is. */
function before(
  first: string,
  rest: string,
  look: Look,
  width: number,
  render: (left: number) => Line[],
): Line[] {
  const columns = lineWidth([piece(first)]);
  if (width - columns < READABLE) return render(width);
  const lines = render(width - columns);
  return (lines.length === 0 ? [[]] : lines).map((line, at) => [
    piece(at === 0 ? first : rest, look),
    ...line,
  ]);
}

type TableToken = Extract<MarkdownToken, { type: "table" }>;

function table({ header, rows, align }: TableToken, width: number): Line[] {
  const head = header.map(({ tokens }) => inline(tokens as MarkdownToken[], LOOK.bold));
  const body = rows.map((row) => row.map(({ tokens }) => inline(tokens as MarkdownToken[])));
  const room = width - CELL_GAP * (head.length - 1);
  const widths = fit(
    head.map((cell, column) =>
      Math.max(1, lineWidth(cell), ...body.map((row) => lineWidth(row[column] ?? [])))
    ),
    room,
  );
  if (widths === undefined) return records(head, body, width);
  const toRow = (cells: readonly Line[]) => gridRow(cells, widths, align);
  return [
    ...toRow(head),
    [piece(widths.map((each) => "─".repeat(each)).join("─┼─"), LOOK.dim)],
    ...body.flatMap(toRow),
  ];
}

/** Widths of columns that fit, the widest made narrower first; undefined where nothing is readable. */
function fit(wanted: readonly number[], room: number): number[] | undefined {
  const widths = [...wanted];
  let over = widths.reduce((sum, each) => sum + each, 0) - room;
  while (over > 0) {
    const widest = Math.max(...widths);
    if (widest <= MIN_CELL) return undefined;
    widths[widths.indexOf(widest)] = widest - 1;
    over--;
  }
  return widths;
}

function gridRow(
  cells: readonly Line[],
  widths: readonly number[],
  align: TableToken["align"],
): Line[] {
  const wrapped = widths.map((width, column) => wordWrap(cells[column] ?? [], width));
  const height = Math.max(...wrapped.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) =>
    wrapped.flatMap((lines, column): Piece[] => {
      const line = lines[row] ?? [];
      const space = Math.max(0, widths[column]! - lineWidth(line));
      const left = align[column] === "right"
        ? space
        : align[column] === "center"
        ? Math.floor(space / 2)
        : 0;
      return [
        ...column > 0 ? [piece(" │ ", LOOK.dim)] : [],
        piece(" ".repeat(left)),
        ...line,
        ...column < widths.length - 1 ? [piece(" ".repeat(space - left))] : [],
      ];
    }));
}

/** A table without the room for its columns: each row as lines of `name: value`. */
function records(head: readonly Line[], body: readonly Line[][], width: number): Line[] {
  if (body.length === 0) return head.flatMap((cell) => wordWrap(cell, width));
  return body.flatMap((row, at) => [
    ...at > 0 ? [[]] : [],
    ...row.flatMap((cell, column) =>
      wordWrap([...head[column] ?? [], piece(": ", LOOK.bold), ...cell], width)
    ),
  ]);
}

function inline(tokens: readonly unknown[] | undefined, look: Look = LOOK.plain): Piece[] {
  return (tokens as MarkdownToken[] ?? []).flatMap((token) => {
    switch (token.type) {
      case "strong":
        return inline(token.tokens, combined(look, LOOK.bold));
      case "em":
        return inline(token.tokens, combined(look, LOOK.italic));
      case "del":
        return inline(token.tokens, combined(look, LOOK.strike));
      case "codespan":
        return [piece(token.text, combined(look, LOOK.cyan))];
      case "br":
        return [piece("\n")];
      case "link": {
        const label = inline(token.tokens, combined(look, LOOK.underline));
        const isSame = label.map(({ text }) =>
          text
        ).join("") === token.href.replace(/^mailto:/, "");
        return isSame ? label : [...label, piece(` (${token.href})`, combined(look, LOOK.dim))];
      }
      case "image":
        return [piece(token.text === "" ? token.href : `${token.text} (${token.href})`, look)];
      default: {
        const { tokens, text, raw } = token as {
          tokens?: MarkdownToken[];
          text?: string;
          raw: string;
        };
        // A line end in a paragraph is a blank.
        return tokens === undefined ? [piece((text ?? raw).replaceAll("\n", " "), look)] : inline(
          tokens,
          look,
        );
      }
    }
  });
}

function combined(look: Look, more: Look): Look {
  return look === "" ? more : `${look};${more}`;
}
