/**
 * Markdown as Message Styling (XEP-0393), which XMPP programs and WhatsApp show as bold, italics and code,
 * and which reads well where they do not.
 *
 * A mark counts only at the beginning of a line, behind a blank or behind another mark, and there is no
 * way to write one that does not count. So a style that would not be seen is left out, and what looks
 * like a style in plain text stays as it is: it is shown as one.
 *
 * @module
 */

import { lexMarkdown } from "./lex_markdown.ts";
import { blocksToText, isSameLink, PLAIN, type TextFormat, wrapped } from "./to_plain_text.ts";

/** Where a style begins and ends, until it is known whether it can be shown. */
const OPEN = { "*": "\x01", "_": "\x02", "~": "\x03", "`": "\x04" } as const;
const CLOSE = { "*": "\x05", "_": "\x06", "~": "\x07", "`": "\x08" } as const;

type Mark = keyof typeof OPEN;

const MARK_OF_OPEN = new Map<string, Mark>(
  Object.entries(OPEN).map(([mark, code]) => [code, mark as Mark]),
);
const MARK_OF_CLOSE = new Map<string, Mark>(
  Object.entries(CLOSE).map(([mark, code]) => [code, mark as Mark]),
);

/** A `>` of plain text, which means something at the beginning of a line alone. */
const PLAIN_QUOTE = "\x0E";

/** Between the lines of a block of code, in which nothing is a mark. */
const CODE_LINE = "\x10";

/** What XML cannot hold (XML 1.0, 2.2), and the controls that nobody sees. */
const NO_XML = /(?![\t\n])[\p{Cc}\uFFFE\uFFFF\u2028\u2029]/gu;

/** A text without what XML cannot hold, line ends as they are in XML. */
export function cleanXmlText(text: string): string {
  return text.replace(/\r\n?/g, "\n").toWellFormed().replace(NO_XML, "");
}

/** The text of a message. Takes bounded time; never throws. */
export function toStyling(markdown: string): string {
  const marked = blocksToText(lexMarkdown(cleanXmlText(markdown)), FORMAT);
  return marked.split("\n").map(resolveLine).join("\n").trim();
}

const FORMAT: TextFormat = {
  ...PLAIN,
  text: (text) => cleanXmlText(text).replaceAll(">", PLAIN_QUOTE),
  strong: (inner) => styled("*", inner),
  em: (inner) => styled("_", inner),
  del: (inner) => styled("~", inner),
  code(text) {
    const clean = cleanXmlText(text).replaceAll("\n", " ");
    // A backtick would end it.
    return clean.includes("`") ? clean : styled("`", clean);
  },
  link({ href, label, plain }) {
    const address = cleanXmlText(href).replace(/\s/g, "");
    if (isSameLink(href, plain)) return label;
    return label.trim() === "" ? address : `${label} (${address})`;
  },
  codeBlock(text) {
    const lines = cleanXmlText(text).split("\n")
      // A fence of the code would end the block.
      .map((line) => CODE_LINE + (line.startsWith("```") ? ` ${line}` : line));
    return ["```", ...lines, "```"].map((line) => line === "```" ? CODE_LINE + line : line).join(
      "\n",
    );
  },
  heading: (inner) => styled("*", inner),
};

/** A style holds within a line. */
function styled(mark: Mark, inner: string): string {
  const [open, close] = [OPEN[mark], CLOSE[mark]];
  return inner.replaceAll(open, "").replaceAll(close, "").split("\n")
    .map((line) => wrapped(open, line, close)).join("\n");
}

/** Writes the marks of a line that count, and leaves the others out. */
function resolveLine(line: string): string {
  const quote = /^(?:> ?)*/.exec(line)![0];
  const code = line.indexOf(CODE_LINE);
  if (code !== -1) {
    // A block begins at the beginning of a line: behind the marks of a quote, and of no item.
    const item = line.slice(quote.length, code).trimEnd();
    return `${item.trim() === "" ? "" : `${quote}${item}\n`}${quote}${line.slice(code + 1)}`;
  }
  let text = line.slice(quote.length);
  if (text.startsWith(PLAIN_QUOTE)) text = ` ${text}`;
  const shown = spansThatCount(text);
  let written = "";
  for (const [at, character] of [...text].entries()) {
    const mark = MARK_OF_OPEN.get(character) ?? MARK_OF_CLOSE.get(character);
    if (mark === undefined) written += character;
    else if (shown.has(at)) written += mark;
  }
  // A fence that is none.
  if (written.startsWith("```")) written = ` ${written}`;
  return quote + written.replaceAll(PLAIN_QUOTE, ">").trimEnd();
}

/** Positions of the marks that a reader takes for marks. */
function spansThatCount(text: string): ReadonlySet<number> {
  const characters = [...text];
  const shown = new Set<number>();
  const open: { mark: Mark; at: number; counts: boolean }[] = [];
  let before = "";
  for (const [at, character] of characters.entries()) {
    const opens = MARK_OF_OPEN.get(character);
    const closes = MARK_OF_CLOSE.get(character);
    if (opens !== undefined) {
      const counts = before === "" || /\s/.test(before) || /[*_~]/.test(before);
      open.push({ mark: opens, at, counts });
      if (counts) before = opens;
      continue;
    }
    if (closes !== undefined) {
      const last = open.findLastIndex(({ mark }) => mark === closes);
      if (last === -1) continue;
      const [span] = open.splice(last, 1);
      const inner = characters.slice(span!.at + 1, at);
      // The first mark of its kind ends it.
      if (!span!.counts || inner.includes(closes)) continue;
      shown.add(span!.at).add(at);
      before = closes;
      continue;
    }
    before = character;
  }
  return shown;
}
