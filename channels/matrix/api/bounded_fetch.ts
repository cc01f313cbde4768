/**
 * How requests reach a homeserver: with an end in time, and answers of bounded size, which are read before
 * they are handed on. A redirect is not followed: the token goes to the homeserver that was named alone.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { fetchWhole, withDeadline } from "../../../lib/channel/platform/mod.ts";

/** Answers of the API; a first sync of a large account is the longest. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;

/** Beside what the server itself is asked to wait, milliseconds. */
const TIMEOUT_MS = 60_000;

/** For a file on its way in or out, milliseconds: shorter than the service waits for a delivery. */
const FILE_TIMEOUT_MS = 110_000;

/** What requests are made with. */
export interface BoundedFetchDeps {
  clock: Pick<Clock, "after">;
  /** Bytes of a file. */
  maxFileBytes: number;
  /** Ends everything that is under way. */
  signal: AbortSignal;
}

/**
 * An answer that is too long is `M_TOO_LARGE`, as if the server had said so: the SDK takes
 * whatever is thrown for a connection that was cut, which a repeat may mend.
 */
export function boundedFetch(
  { clock, maxFileBytes, signal }: BoundedFetchDeps,
): typeof fetch {
  return async (resource, init = {}) => {
    const url = new URL(resource instanceof Request ? resource.url : resource);
    const isFile = url.pathname.includes("/media/") && url.pathname.includes("/download/");
    const maxBytes = isFile ? maxFileBytes : MAX_JSON_BYTES;
    const isUpload = url.pathname.endsWith("/media/v3/upload");
    const waitMs = Number(url.searchParams.get("timeout") ?? 0);
    const timeoutMs = (isFile || isUpload ? FILE_TIMEOUT_MS : TIMEOUT_MS) + waitMs;
    const late = () => new Error("The homeserver did not answer in time");
    return await withDeadline({ timeoutMs, late, signal, clock }, async (ending) => {
      const either = init.signal ? AbortSignal.any([ending, init.signal]) : ending;
      const { method, headers, body } = init;
      const answer = await fetchWhole(url, { method, headers, body, signal: either }, maxBytes);
      if (answer !== undefined) return answer;
      const error = `The answer has more than ${maxBytes} bytes`;
      return Response.json({ errcode: "M_TOO_LARGE", error }, { status: 413 });
    });
  };
}
