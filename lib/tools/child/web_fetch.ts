/**
 * The child side of `web_fetch`: one GET to an address that the gate has judged. A redirect is answered,
 * not followed: the authority judges it anew.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import type { ChildRun } from "../../authority/executor/protocol.ts";
import { serveChild } from "../../authority/executor/serve_child.ts";
import { requestTarget } from "./http_request.ts";
import { readBody } from "./read_body.ts";
import { responseText } from "./response_text.ts";
import { formatBytes } from "./text.ts";

/** Body after decompression that is read; the rest is cut, and said to be. */
const MAX_BODY_BYTES = 5_000_000;
/** What a page is asked with; the call's own headers go over these. */
const HEADERS = {
  "user-agent": "service/0.1 (+agent; web_fetch)",
  accept: "text/html, text/plain, application/json, text/*;q=0.9, */*;q=0.1",
  "accept-language": "en, *;q=0.5",
};

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
  const text = responseText(body.bytes, contentType, target.url);
  const cut = body.isCut ? `\n[only the first ${formatBytes(MAX_BODY_BYTES)} were read]` : "";
  const answer = `${statusLine(response)}\n${contentType || "no content type"}\n\n${text}${cut}`;
  if (status >= 400) throw new Error(answer.slice(0, 4_000).toWellFormed());
  return { type: "result", output: answer };
};

function statusLine(response: IncomingMessage): string {
  return `HTTP ${response.statusCode} ${response.statusMessage ?? ""}`.trim();
}

if (import.meta.main) serveChild(run);
