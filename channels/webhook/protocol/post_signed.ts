/**
 * Sends an event to the URL of the other side, and says how it came out.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import {
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
} from "../../../lib/channel/delivery_error.ts";
import { neverSent } from "../../../lib/channel/platform/mod.ts";
import type { Signer } from "./signature.ts";

/** What a request is made with. */
export interface PostDeps {
  url: string;
  signer: Signer;
  timeoutMs: number;
  fetch: typeof fetch;
  clock: Pick<Clock, "now" | "after">;
  /** Ends every request. */
  signal: AbortSignal;
}

/**
 * Refusals of this very message, or of all for good (RFC 9110, 15.5; RFC 6585; RFC 7725). Any other may be
 * mended within a day: a deployment, a wrong secret, a path that is not there yet.
 */
const PERMANENT: ReadonlySet<number> = new Set([400, 410, 413, 414, 415, 422, 431, 451]);

/**
 * Posts `body` as JSON; resolves when the other side has answered that it has it. `id` is the same at
 * every attempt. Rejects with `PermanentDeliveryError`, `RetryLaterError`, which is a `NotConnectedError`
 * where the receiver is not there, or an error that a repeat may mend. Follows no redirect: the signature is for one receiver.
 */
export async function postSigned(
  { id, body }: { id: string; body: object },
  { url, signer, timeoutMs, fetch, clock, signal }: PostDeps,
): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const signed = await signer.sign({
    id: webhookId(id),
    timestampS: Math.floor(clock.now() / 1_000),
    body: bytes,
  });
  const late = new AbortController();
  const cancel = clock.after(timeoutMs, () => late.abort(new DOMException("", "TimeoutError")));
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: { ...signed, "content-type": "application/json" },
      body: bytes,
      signal: AbortSignal.any([signal, late.signal]),
    });
  } catch (error) {
    const words = `Cannot reach ${hostOf(url)}: ${reasonOf(error, timeoutMs)}`;
    throw neverSent(error) ? new NotConnectedError(words) : new Error(words);
  } finally {
    cancel();
  }
  // What it says beside its status is of no interest, and may have no end.
  await response.body?.cancel().catch(() => {});
  throwUnlessTaken(response, url, clock.now());
}

/** No dot: it would stand between the parts that are signed. */
function webhookId(id: string): string {
  return id.replace(/[^\x21-\x2D\x2F-\x7E]/g, "_").slice(0, 256);
}

function throwUnlessTaken({ status, headers }: Response, url: string, nowMs: number): void {
  if (status >= 200 && status < 300) return;
  const said = `${hostOf(url)} answered ${status}`;
  if (status === 429 || status === 503) {
    const waitMs = retryAfterMs(headers.get("retry-after"), nowMs);
    if (waitMs !== undefined) throw new RetryLaterError(said, waitMs);
  }
  if (status >= 300 && status < 400) {
    throw new Error(`${said}, a redirect, which is not followed: set url to where it leads`);
  }
  throw PERMANENT.has(status) ? new PermanentDeliveryError(said) : new Error(said);
}

/** Seconds or a date (RFC 9110, 10.2.3), as milliseconds from now; undefined for neither. */
function retryAfterMs(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "the URL";
}

function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, message, cause } = error instanceof Error ? error : new Error(String(error));
  if (name === "TimeoutError") return `no answer within ${timeoutMs / 1_000} s`;
  const words = cause instanceof Error ? cause.message : message;
  // A URL may hold a token.
  return words.replace(/^.*client error \(\w+\): /s, "").replace(/https?:\/\/\S+/g, "the URL")
    .slice(0, 200);
}
