/**
 * The child side of `web_fetch`: one GET to an address that the gate has judged. A redirect is answered,
 * not followed: the authority judges it anew.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import { cutOutput } from "../../rpc/cut_output.ts";
import type { ChildResult } from "../../executor/action_child.ts";
import { type ChildRun, serveChild } from "../../executor/serve_child.ts";
import { MAX_FRAME_BYTES } from "../../rpc/frames.ts";
import { requestTarget } from "./http_request.ts";
import { htmlToText } from "./html_to_text.ts";
import { pageShape } from "./page_shape.ts";
import { readBody } from "./read_body.ts";
import { decodeBody } from "./response_text.ts";
import { formatBytes } from "./text.ts";

/** Body after decompression that is read; the rest is cut, and said to be. */
const MAX_BODY_BYTES = 5_000_000;
/** Text of a page, characters, below which there is nothing to leave out. */
const MIN_TEXT_CHARS = 1_000;
/** What finding an article takes about a second for; beyond, it would take many. */
const MAX_ELEMENTS = 40_000;
const MAX_DEPTH = 400;

/** What a page is asked with; the call's own headers go over these. */
const HEADERS = {
  "user-agent": "service/0.1 (+agent; web_fetch)",
  accept: "text/html, text/plain, application/json, text/*;q=0.9, */*;q=0.1",
  "accept-language": "en, *;q=0.5",
};

interface Args {
  format: "readable" | "text" | "html";
}

/** Fetches a URL. */
export const run: ChildRun = async ({ task, progress }) => {
  const { target } = task;
  if (target?.kind !== "url") throw new Error(`expected a URL, got ${target?.kind}`);
  const response = await requestTarget(target, { method: "GET", headers: HEADERS }, progress);
  const status = response.statusCode ?? 0;
  const location = response.headers.location;
  if (status >= 300 && status < 400 && location !== undefined) {
    response.destroy();
    return { type: "redirect", url: new URL(location, target.url).href };
  }
  const contentType = response.headers["content-type"] ?? "";
  progress(`HTTP ${status}, ${contentType || "no content type"}`);
  const body = await readBody(response, response.headers["content-encoding"], MAX_BODY_BYTES);
  const { source, isHtml } = decodeBody(body.bytes, contentType);
  const { format } = task.args as Args;
  const text = isHtml && format !== "html" ? htmlToText(source, target.url) : source;
  const head = `${statusLine(response)}\n${contentType || "no content type"}`;
  const cut = body.isCut ? `\n[only the first ${formatBytes(MAX_BODY_BYTES)} were read]` : "";
  if (status >= 400) throw new Error(`${head}\n\n${text}`.slice(0, 4_000).toWellFormed());
  if (!isHtml || format !== "readable") {
    return { type: "result", output: `${head}\n\n${text}${cut}` };
  }
  const page = {
    type: "page" as const,
    head: head + cut,
    text: cutOutput(text, task.maxOutputBytes),
    html: source,
    url: target.url,
  };
  const why = whyNoArticle(source, text) ??
    (isSendable(page) ? undefined : "it is too large to look for an article");
  if (why === undefined) return page;
  const said = `${head}\n[the text of the whole page: ${why}]`;
  return { type: "result", output: `${said}\n\n${text}${cut}` };
};

/** Why no article is looked for; undefined where one may be found. */
function whyNoArticle(html: string, text: string): string | undefined {
  if (text.length < MIN_TEXT_CHARS) return "it is short";
  const { elements, depth } = pageShape(html);
  if (depth > MAX_DEPTH) return `no article is looked for in elements ${depth} deep`;
  return elements > MAX_ELEMENTS ? `no article is looked for in ${elements} elements` : undefined;
}

function isSendable(result: Extract<ChildResult, { type: "page" }>): boolean {
  const frame = JSON.stringify({ type: "answer", id: 1, result });
  return new TextEncoder().encode(frame).length <= MAX_FRAME_BYTES;
}

function statusLine(response: IncomingMessage): string {
  return `HTTP ${response.statusCode} ${response.statusMessage ?? ""}`.trim();
}

if (import.meta.main) serveChild(run);
