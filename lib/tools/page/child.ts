/**
 * The child that makes a text of a page. It works on a stranger's HTML with packages of others, so it
 * has no permission at all: the page comes over its standard input, the text goes out over its standard
 * output.
 *
 * @module
 */

import { htmlToText } from "../../base/html_to_text.ts";
import { type ChildRun, serveChild } from "../../executor/serve_child.ts";
import { pageShape } from "./page_shape.ts";

/** What the child is told beside the page. */
export interface PageArgs {
  /** Of the page; links are relative to it. */
  url: string;
  /** The article of the page, where it has one. Then the first line says what the text is. */
  wantsArticle: boolean;
}

/** Text of a page, characters, below which there is nothing to leave out. */
const MIN_TEXT_CHARS = 1_000;
/** What finding an article takes about a second for; beyond, it would take many. */
const MAX_ELEMENTS = 40_000;
const MAX_DEPTH = 400;

const WHOLE = "this is the text of the whole page";

/** Reads the bytes. */
export const run: ChildRun = async ({ task, bytes }) => {
  silenceConsole();
  const { url, wantsArticle } = task.args as PageArgs;
  const html = new TextDecoder().decode(bytes);
  const text = htmlToText(html, { baseUrl: url, markdown: true });
  if (!wantsArticle) return { type: "result", output: text };
  const why = whyNoArticle(html, text);
  if (why !== undefined) return noted(`the text of the whole page: ${why}`, text);
  const { articleText } = await import("./article_text.ts");
  try {
    const article = articleText(html, url);
    if (article === undefined) return noted(`no article was found; ${WHOLE}`, text);
    return noted('the article of the page; format "text" gives the whole page', article);
  } catch {
    // Its packages give up on some pages.
    return noted(`no article could be looked for; ${WHOLE}`, text);
  }
};

function noted(note: string, text: string): Awaited<ReturnType<ChildRun>> {
  return { type: "result", output: `[${note}]\n\n${text}` };
}

/** Why no article is looked for; undefined where one may be found. */
function whyNoArticle(html: string, text: string): string | undefined {
  if (text.length < MIN_TEXT_CHARS) return "it is short";
  const { elements, depth } = pageShape(html);
  if (depth > MAX_DEPTH) return `no article is looked for in elements ${depth} deep`;
  return elements > MAX_ELEMENTS ? `no article is looked for in ${elements} elements` : undefined;
}

/** Standard output carries frames; a library that warns would write between them. */
function silenceConsole(): void {
  const silent = () => {};
  for (const name of Object.keys(console)) {
    (console as unknown as Record<string, unknown>)[name] = silent;
  }
}

if (import.meta.main) serveChild(run);
