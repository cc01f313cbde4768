/**
 * The child that fetches a proxy's signing keys: one GET, no redirect, nothing unpacked, and no more of
 * the body than it is told. What the answer means is decided elsewhere.
 *
 * @module
 */

import { type ChildRun, serveChild } from "../../executor/serve_child.ts";
import { requestTarget } from "./http_request.ts";
import { readBody } from "./read_body.ts";

const ACCEPT = "application/jwk-set+json, application/json";

/** Answers `{status, headers, body}` as JSON; `body` in base64, of a 200 alone. */
export const run: ChildRun = async ({ task: { target, args } }) => {
  if (target?.kind !== "url") throw new Error(`expected a URL, got ${target?.kind}`);
  const { maxBytes } = args as { maxBytes: number };
  const response = await requestTarget(target, {
    method: "GET",
    headers: { accept: ACCEPT, "accept-encoding": "identity" },
  }, () => {});
  const status = response.statusCode ?? 0;
  const headers: Record<string, string> = {};
  for (const name of ["content-type", "content-encoding", "content-length"]) {
    const value = response.headers[name];
    if (typeof value === "string") headers[name] = value.slice(0, 200);
  }
  let body = "";
  if (status === 200) {
    const chunks = response as unknown as AsyncIterable<Uint8Array>;
    body = (await readBody(chunks, undefined, maxBytes)).bytes.toBase64();
  } else response.destroy();
  return { type: "result", output: JSON.stringify({ status, headers, body }) };
};

if (import.meta.main) serveChild(run);
