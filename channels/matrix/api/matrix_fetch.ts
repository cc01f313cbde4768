/**
 * How requests reach a homeserver, for the SDK.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { boundedFetch, ifTooLarge } from "../../../lib/channel/platform/mod.ts";

/** Answers of the API; a first sync of a large account is the longest. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;

/** Beside what the server itself is asked to wait, milliseconds. */
const TIMEOUT_MS = 60_000;

/** For a file on its way in or out, milliseconds: shorter than the service waits for a delivery. */
const FILE_TIMEOUT_MS = 110_000;

/** What requests are made with. */
export interface MatrixFetchDeps {
  clock: Pick<Clock, "after">;
  /** Bytes of a file. */
  maxFileBytes: number;
  /** Ends everything that is under way. */
  signal: AbortSignal;
}

/**
 * As {@linkcode boundedFetch}. An answer that is too large is `M_TOO_LARGE`, as if the server had said so: the
 * SDK takes whatever is thrown for a connection that was cut, which a repeat may mend.
 */
export function matrixFetch({ clock, maxFileBytes, signal }: MatrixFetchDeps): typeof fetch {
  return async (resource, init) => {
    const { pathname, searchParams } = new URL(
      resource instanceof Request ? resource.url : resource,
    );
    const isFile = pathname.includes("/media/") && pathname.includes("/download/");
    const isUpload = pathname.endsWith("/media/v3/upload");
    const waitMs = Number(searchParams.get("timeout") ?? 0);
    return await boundedFetch(resource, init, {
      peer: "the homeserver",
      field: "homeserver",
      timeoutMs: (isFile || isUpload ? FILE_TIMEOUT_MS : TIMEOUT_MS) + waitMs,
      maxBytes: isFile ? maxFileBytes : MAX_JSON_BYTES,
      clock,
      signal,
    }).catch(ifTooLarge) ?? Response.json({ errcode: "M_TOO_LARGE" }, { status: 413 });
  };
}
