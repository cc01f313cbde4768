/**
 * The child side of `web_fetch`: one GET to an address that the gate has judged. A redirect is answered,
 * not followed: the authority judges it anew.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import { type ChildRun, serveChild } from "../../executor/serve_child.ts";
import { requestTarget } from "./http_request.ts";
import { readBody } from "./read_body.ts";
import { decodeBody } from "./response_text.ts";
import { formatBytes } from "./text.ts";

/** Body after decompression that is read; the rest is cut, and said to be. As JSON it fits a frame. */
const MAX_BODY_BYTES = 5_000_000;
/** HTML has no use for them, and each takes six bytes in JSON. */
// deno-lint-ignore no-control-regex
const CONTROLS = /[\0-\x08\x0b\x0e-\x1f]/g;

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
  const head = `${statusLine(response)}\n${contentType || "no content type"}`;
  const cut = body.isCut ? `\n[only the first ${formatBytes(MAX_BODY_BYTES)} were read]` : "";
  const isError = status >= 400;
  if (isHtml && format !== "html") {
    return {
      type: "page",
      head: head + cut,
      html: source.replace(CONTROLS, "\ufffd"),
      url: target.url,
      wantsArticle: format === "readable" && !isError,
      isError,
    };
  }
  if (isError) throw new Error(`${head}\n\n${source}`.slice(0, 4_000).toWellFormed());
  return { type: "result", output: `${head}\n\n${source}${cut}` };
};

function statusLine(response: IncomingMessage): string {
  return `HTTP ${response.statusCode} ${response.statusMessage ?? ""}`.trim();
}

if (import.meta.main) serveChild(run);
