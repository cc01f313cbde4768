/**
 * Markdown of a model, as elements that can do nothing: no script, no style, no form, no request to
 * another origin. While it grows, only the last piece is rendered anew.
 *
 * @module
 */

import DOMPurify from "dompurify";
import { Marked, type Token, type Tokens } from "marked";
import { useMemo } from "preact/hooks";
import { memo } from "../ui/memo.ts";
import { t } from "../locale.ts";
import { CodeBlock } from "./code_block.tsx";
import { markdownBlocks } from "./markdown_blocks.ts";

const marked = new Marked({
  gfm: true,
  renderer: {
    // Shown as it was written: a model means text by it, and where it does not, nobody misses it.
    html: ({ text, block }: Tokens.HTML | Tokens.Tag) =>
      /^<br\s*\/?>$/i.test(text) ? "<br>" : block ? `<p>${escaped(text)}</p>` : escaped(text),
    // The page has a heading of the first level.
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + 1);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
    // What stands elsewhere is a link: showing it would tell that somebody has read this.
    image: ({ href, text }) =>
      isOwnFile(href)
        ? `<img src="${escaped(href)}" alt="${escaped(text)}">`
        : `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
  },
});

const CLEAN = {
  USE_PROFILES: { html: true },
  FORBID_TAGS: [
    ...["style", "form", "input", "button", "textarea", "select", "dialog", "details", "summary"],
    ...["video", "audio", "picture", "source", "track", "map", "area", "template", "slot", "label"],
    ...["main", "nav", "aside", "header", "footer", "fieldset", "optgroup", "option", "center"],
  ],
  FORBID_ATTR: ["style", "class", "id", "name", "role", "tabindex", "srcset", "popover", "bgcolor"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_TRUSTED_TYPE: true,
};

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  }
  if (node.tagName === "IMG" && !isOwnFile(node.getAttribute("src") ?? "")) {
    node.replaceWith(node.getAttribute("alt") ?? "");
  }
});

/** HTML with nothing in it that could do anything. */
export function cleaned(html: string, config: Parameters<typeof DOMPurify.sanitize>[1] = CLEAN) {
  return DOMPurify.sanitize(html, config) as unknown as string;
}

/** Blocks that are rendered and laid out together. */
const SECTION_BLOCKS = 16;

/** Shows Markdown. `isOpen`: more of it comes. */
export function Markdown({ text, isOpen = false }: { text: string; isOpen?: boolean }) {
  const blocksOf = useMemo(() => markdownBlocks(marked.defaults), []);
  const tokens = blocksOf(text);
  const sections = Array.from(
    { length: Math.ceil(tokens.length / SECTION_BLOCKS) },
    (_, at) => tokens.slice(at * SECTION_BLOCKS, (at + 1) * SECTION_BLOCKS),
  );
  return (
    <div class="markdown">
      {sections.map((tokens, at) => (
        <Section key={at} tokens={tokens} isOpen={isOpen && at === sections.length - 1} />
      ))}
    </div>
  );
}

/** A stretch of blocks: it is rendered only when one of them changed, and laid out only in sight. */
const Section = memo(
  function Section({ tokens, isOpen }: { tokens: readonly Token[]; isOpen: boolean }) {
    return (
      <div class="blocks">
        {tokens.map((token, at) => {
          if (token.type === "code") {
            const { lang = "", text } = token as Tokens.Code;
            const isLast = at === tokens.length - 1;
            return <CodeBlock key={at} code={text} language={lang} isOpen={isOpen && isLast} />;
          }
          return <Piece key={at} raw={token.raw} token={token} />;
        })}
      </div>
    );
  },
  (before, after) =>
    before.isOpen === after.isOpen && before.tokens.length === after.tokens.length &&
    before.tokens.every((token, at) => token === after.tokens[at]),
);

/** A paragraph, a list, a table: rendered again when its text is another one. */
const Piece = memo(
  function Piece({ token }: { raw: string; token: Token }) {
    const html = { __html: cleaned(marked.parser([token])) };
    return token.type === "table"
      ? (
        <div
          class="table"
          role="region"
          aria-label={t.chat.table}
          tabIndex={0}
          dangerouslySetInnerHTML={html}
        />
      )
      : <div dangerouslySetInnerHTML={html} />;
  },
  (before, after) => before.raw === after.raw,
);

function isOwnFile(href: string): boolean {
  return /^\/media\/[0-9a-f]{64}(\?|$)/.test(href);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
