/**
 * A JSON document that depends on nothing but the program: made when it is first asked for, so that a
 * service that nobody asks loads nothing of it, and not sent again to whoever has it.
 *
 * @module
 */

import { createHash } from "node:crypto";

/** The document as it is sent. */
interface Served {
  text: string;
  etag: string;
}

/** A route's handler over what makes the document. */
export function createServedDocument(
  make: () => Promise<unknown>,
): (request: Request) => Promise<Response> {
  let served: Promise<Served> | undefined;

  async function serve(): Promise<Served> {
    const text = JSON.stringify(await make());
    const digest = createHash("sha256").update(text).digest("base64url");
    return { text, etag: `"${digest}"` };
  }

  return async ({ headers }) => {
    const { text, etag } = await (served ??= serve());
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
