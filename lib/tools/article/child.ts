/**
 * The child that finds the article of a page. It works on a stranger's HTML with packages of others, so
 * it has no permission at all: the page comes over its standard input, the text goes out over its
 * standard output. An empty result means that there is no article.
 *
 * @module
 */

import { type ChildRun, serveChild } from "../../executor/serve_child.ts";
import { articleText } from "./article_text.ts";

/** What the child is told beside the page. */
export interface ArticleArgs {
  /** Of the page; links are relative to it. */
  url: string;
}

/** Reads the bytes. */
export const run: ChildRun = ({ task, bytes }) => {
  silenceConsole();
  const { url } = task.args as ArticleArgs;
  const html = new TextDecoder().decode(bytes);
  return Promise.resolve({ type: "result", output: articleText(html, url) ?? "" });
};

/** Standard output carries frames; a library that warns would write between them. */
function silenceConsole(): void {
  const silent = () => {};
  for (const name of Object.keys(console)) {
    (console as unknown as Record<string, unknown>)[name] = silent;
  }
}

if (import.meta.main) serveChild(run);
