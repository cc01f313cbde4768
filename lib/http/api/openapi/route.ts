/**
 * GET /openapi.json: made when it is first asked for, so that a service that nobody asks loads
 * nothing of it (case W14).
 *
 * @module
 */

import { createHash } from "node:crypto";

/** The document as it is sent. */
interface Served {
  text: string;
  etag: string;
}

/** The route's handler. */
export function createOpenApi(
  { version }: { version: string },
): (request: Request) => Promise<Response> {
  let served: Promise<Served> | undefined;

  async function make(): Promise<Served> {
    const { openApiDocument } = await import("./document.ts");
    const text = JSON.stringify(openApiDocument({ version }));
    const digest = createHash("sha256").update(text).digest("base64url");
    return { text, etag: `"${digest}"` };
  }

  return async ({ headers }) => {
    const { text, etag } = await (served ??= make());
    const answer = { etag, "cache-control": "no-cache" };
    if (isKnown(headers.get("if-none-match"), etag)) {
      return new Response(null, { status: 304, headers: answer });
    }
    return new Response(text, { headers: { "content-type": "application/json", ...answer } });
  };
}

/** RFC 9110, 13.1.2: compared weakly. */
function isKnown(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.trim() === "*" ||
    ifNoneMatch.split(",").some((known) => known.trim().replace(/^W\//, "") === etag);
}
