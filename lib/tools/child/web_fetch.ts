/**
 * The child side of `web_fetch`: one GET to an address that the gate has judged. The name goes into the
 * Host header and the TLS handshake only; this process cannot look up or reach anything else
 * (decisions E7). A redirect is answered, not followed: the authority judges it anew.
 *
 * @module
 */

import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { UrlTarget } from "../../authority/actions.ts";
import type { ChildRun } from "../../authority/executor/protocol.ts";
import { serveChild } from "../../authority/executor/serve_child.ts";
import { readBody } from "./read_body.ts";
import { responseText } from "./response_text.ts";
import { formatBytes } from "./text.ts";

/** Body after decompression that is read; the rest is cut, and said to be. */
const MAX_BODY_BYTES = 5_000_000;
/** Addresses that are tried in turn. */
const MAX_TRIES = 3;
const CONNECT_TIMEOUT_MS = 8_000;

/** Fetches a URL. */
export const run: ChildRun = async ({ task, progress }) => {
  const { target } = task;
  if (target?.kind !== "url") throw new Error(`expected a URL, got ${target?.kind}`);
  const response = await connect(target, progress);
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

/** The first answer that one of the addresses gives. */
async function connect(
  target: UrlTarget,
  progress: (text: string) => void,
): Promise<IncomingMessage> {
  let failure = new Error("its host has no address");
  for (const address of target.addresses.slice(0, MAX_TRIES)) {
    try {
      progress(`connecting to ${address}`);
      return await get(target, address);
    } catch (error) {
      failure = new Error(describe(error), { cause: error });
    }
  }
  throw new Error(`${target.host} cannot be reached: ${failure.message}`);
}

function get(target: UrlTarget, address: string): Promise<IncomingMessage> {
  const url = new URL(target.url);
  const isSecure = url.protocol === "https:";
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = (isSecure ? requestHttps : requestHttp)({
    host: address,
    port: target.port,
    path: url.pathname + url.search,
    method: "GET",
    // An address is no name to put into a handshake.
    servername: isSecure && address !== target.host ? target.host : undefined,
    headers: {
      host: url.host,
      "user-agent": "service/0.1 (+agent; web_fetch)",
      accept: "text/html, text/plain, application/json, text/*;q=0.9, */*;q=0.1",
      "accept-encoding": "gzip, deflate, br",
      "accept-language": "en, *;q=0.5",
      ...target.headers,
      connection: "close",
    },
  }, resolve);
  const timer = setTimeout(
    () => request.destroy(new Error(`no answer within ${CONNECT_TIMEOUT_MS / 1000} s`)),
    CONNECT_TIMEOUT_MS,
  );
  request.on("error", reject);
  request.end();
  return promise.finally(() => clearTimeout(timer));
}

function statusLine(response: IncomingMessage): string {
  return `HTTP ${response.statusCode} ${response.statusMessage ?? ""}`.trim();
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { code?: string }).code;
  return code === undefined || error.message.includes(code)
    ? error.message
    : `${error.message} (${code})`;
}

if (import.meta.main) serveChild(run);
