/**
 * The article of a page as text: its title, who wrote it and when, and what it says, without the
 * navigation and advertisements around it.
 *
 * @module
 */

import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { htmlToText } from "../../base/html_to_text.ts";
import { visible } from "../child/visible.ts";

/** Characters of an article beside its links; what is shorter is a teaser or a wrong guess. */
const MIN_ARTICLE_CHARS = 250;
/** Share of the page's own text below which something was left out that may matter. */
const MIN_SHARE = 0.1;
const MAX_FACT_CHARS = 300;

/** What is used of elements; the types of the two packages know a browser's global ones only. */
interface Element {
  textContent: string | null;
  innerHTML: string;
  querySelectorAll(selector: string): Iterable<Element>;
}

interface Parsed {
  document: ConstructorParameters<typeof Readability>[0] & {
    documentElement: unknown;
    body: Element | null;
  };
}

/** The text, or undefined where the page has no article. Throws on what the parser cannot take. */
export function articleText(html: string, url: string): string | undefined {
  const { document } = parseHTML(html) as unknown as Parsed;
  if (document.documentElement === null) return undefined;
  const whole = document.body?.textContent?.length ?? 0;
  const article = new Readability<Element>(document, {
    serializer: (node) => node as unknown as Element,
  }).parse();
  if (!article?.content) return undefined;
  const text = htmlToText(article.content.innerHTML, { baseUrl: url, markdown: true });
  const said = (article.content.textContent?.length ?? 0) - linkChars(article.content);
  if (said < MIN_ARTICLE_CHARS || text.length < whole * MIN_SHARE) return undefined;
  const { title, byline, siteName, publishedTime } = article;
  const about = [
    fact(byline),
    fact(siteName),
    fact(publishedTime) && `published ${fact(publishedTime)}`,
  ].filter((part) => part !== "");
  return [
    ...fact(title) === "" ? [] : [`# ${fact(title)}`],
    ...about.length === 0 ? [] : [about.join(" | ")],
    text,
  ].join("\n\n");
}

/** Characters of links: a page that has little else is a list of them, of which none is to be left out. */
function linkChars(element: Element): number {
  let chars = 0;
  for (const link of element.querySelectorAll("a")) chars += link.textContent?.length ?? 0;
  return chars;
}

/** Something that the page says of itself, on one line. */
function fact(text: string | null | undefined): string {
  const line = (text ?? "").replace(/\s+/g, " ").trim().slice(0, MAX_FACT_CHARS);
  return visible(line.toWellFormed());
}
