/**
 * Markdown in blocks: while a text grows, only what may still change is read again.
 *
 * @module
 */

import { Lexer, type MarkedOptions, type Token, type TokensList } from "marked";

/**
 * Blocks at the end of a text that more text can change. The last one grows; and with it the one before
 * may turn out to be its begin, such as a line under `#`, or a list that goes on after a blank line.
 */
const OPEN_BLOCKS = 2;

/** A reader of one text as it grows; another text is read from its begin. */
export function markdownBlocks(options: MarkedOptions): (text: string) => readonly Token[] {
  let settled: Token[] = [];
  let settledText = "";
  let links: TokensList["links"] = {};

  return (text) => {
    if (!text.startsWith(settledText)) {
      settled = [];
      settledText = "";
      links = {};
    }
    const lexer = new Lexer(options);
    Object.assign(lexer.tokens.links, links);
    const rest = lexer.lex(text.slice(settledText.length));
    const all = [...settled, ...rest.filter(({ type }) => type !== "space")];
    const end = rest.indexOf(all.at(-OPEN_BLOCKS)!);
    if (end < 0) return all;
    const read = settledText + rest.slice(0, end).map(({ raw }) => raw).join("");
    // What ends without a blank line is a part of what follows. The reader changes some characters.
    if (read.endsWith("\n\n") && text.startsWith(read)) {
      settled = all.slice(0, -OPEN_BLOCKS);
      settledText = read;
      links = rest.links;
    }
    return all;
  };
}
