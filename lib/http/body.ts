/**
 * Reads a request's body as JSON within limits of size and time, whatever its length header says.
 *
 * @module
 */

import type { Clock } from "../agent/clock.ts";
import { ServiceError } from "../errors.ts";

/** Bounds of a body. */
export interface BodyLimits {
  maxBytes: number;
  /** From the first look at it to its last byte. */
  timeoutMs: number;
}

/**
 * The body as JSON. Throws `too_large`, `request_timeout`, or `invalid_request` when it breaks off or
 * is no JSON.
 */
export async function readJson(
  request: Request,
  limits: BodyLimits,
  clock: Clock,
): Promise<unknown> {
  const text = await readText(request, limits, clock);
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = text.trim() === "" ? "it is empty" : (error as Error).message;
    throw new ServiceError("invalid_request", `The body must be JSON: ${reason}`);
  }
}

async function readText(request: Request, limits: BodyLimits, clock: Clock): Promise<string> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > limits.maxBytes) throw tooLarge(limits);
  const late = Promise.withResolvers<never>();
  const cancelTimer = clock.after(limits.timeoutMs, () => {
    const seconds = limits.timeoutMs / 1000;
    late.reject(new ServiceError("request_timeout", `The body did not arrive within ${seconds} s`));
  });
  // A declared length is enforced by the HTTP parser, so the fast way is bounded too.
  const read = declared !== null && /^\d+$/.test(declared)
    ? request.arrayBuffer().then((bytes) => new TextDecoder("utf-8", { fatal: true }).decode(bytes))
    : readCounted(request, limits);
  try {
    return await Promise.race([read, late.promise]);
  } catch (error) {
    read.catch(() => {});
    if (error instanceof ServiceError) throw error;
    // JSON over HTTP is UTF-8 (RFC 8259, 8.1); replaced letters would be stored as if they were meant.
    if (
      error instanceof TypeError && !request.signal.aborted &&
      /utf-8|encoded data/i.test(error.message)
    ) {
      throw new ServiceError(
        "invalid_request",
        "The body must be JSON in UTF-8, and holds bytes that are not",
      );
    }
    throw new ServiceError("invalid_request", "The body broke off before its end", {}, {
      cause: error,
    });
  } finally {
    cancelTimer();
  }
}

async function readCounted(request: Request, limits: BodyLimits): Promise<string> {
  if (request.body === null) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let bytes = 0;
  let text = "";
  for await (const chunk of request.body) {
    bytes += chunk.byteLength;
    if (bytes > limits.maxBytes) throw tooLarge(limits);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function tooLarge({ maxBytes }: BodyLimits): ServiceError {
  const mebibytes = Math.floor(maxBytes / (1024 * 1024));
  return new ServiceError("too_large", `The body is over the limit of ${mebibytes} MiB`);
}
