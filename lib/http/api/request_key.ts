/**
 * The header Idempotency-Key, and what makes two requests the same one.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import type { RequestKey } from "../../contract/journal.ts";
import { fileDigest, requestDigest } from "../../base/request_digest.ts";
import type { RequestPart } from "./tail.ts";

/** What a key covers. */
export interface KeyedRequest {
  request: Request;
  route: string;
  /** Digest of the key that the caller has shown. */
  credential: string;
  sessionKey: string;
  parts: readonly RequestPart[];
  /** Whatever else the request says; plain JSON. */
  fields: unknown;
}

/** Undefined without the header. Throws `invalid_request` for one that is no key. */
export function readRequestKey(keyed: KeyedRequest): RequestKey | undefined {
  const key = keyed.request.headers.get("idempotency-key");
  if (key === null) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new ServiceError(
      "invalid_request",
      `The header Idempotency-Key must be 1 to 255 visible ASCII characters, got ${
        JSON.stringify(key.slice(0, 300))
      }`,
      { param: "Idempotency-Key" },
    );
  }
  return { scope: `${keyed.credential} ${keyed.sessionKey}`, key, digest: digestOf(keyed) };
}

/** Files count by their bytes and their names. */
function digestOf({ route, parts, fields }: KeyedRequest): string {
  const content = parts.map((part) => {
    if (part.type === "text") return part;
    const { name, bytes, expects } = part.file;
    return { name, expects, sha256: fileDigest(bytes) };
  });
  return requestDigest({ route, fields, content });
}
