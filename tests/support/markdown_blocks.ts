/**
 * The fenced blocks of a Markdown page.
 *
 * @module
 */

/** One block. */
export interface MarkdownBlock {
  /** Of its first line in the page, from 1. */
  line: number;
  /** First word after the fence, such as `sh`. */
  language: string;
  /** The words after it. */
  notes: string[];
  text: string;
}

/** The blocks, in order. Throws for one that does not end. */
export function markdownBlocks(page: string): MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let open: { block: MarkdownBlock; lines: string[] } | undefined;
  for (const [index, line] of page.split("\n").entries()) {
    if (open === undefined) {
      const [, info] = /^\s*```(.*)$/.exec(line) ?? [];
      if (info === undefined) continue;
      const [language = "", ...notes] = info.trim().split(/\s+/);
      open = { block: { line: index + 2, language, notes, text: "" }, lines: [] };
    } else if (/^\s*```\s*$/.test(line)) {
      blocks.push({ ...open.block, text: open.lines.join("\n") });
      open = undefined;
    } else {
      open.lines.push(line);
    }
  }
  if (open !== undefined) throw new Error(`The block at line ${open.block.line} does not end`);
  return blocks;
}
