/**
 * What is known of one request beside the request itself, from its arrival to its log line.
 *
 * @module
 */

import type { Log } from "../../base/log.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import type { AccessEntry } from "../access_log.ts";
import { type HttpError, toHttpError } from "../../listen/errors.ts";
import type { StreamOutcome } from "../sse.ts";

/** What a context needs. */
export interface RequestContextOptions {
  requestId: string;
  peer: string;
  method: string;
  path: string;
  /** Milliseconds since some moment. */
  elapsed: () => number;
  accessLog: (entry: AccessEntry) => void;
  /** Takes secrets out of errors; absent: there are none. */
  scrubber?: Pick<Scrubber, "value">;
  log: Pick<Log, "error">;
}

/** One request. */
export class RequestContext {
  /** A turn was accepted for it: from here on no error may make the client send it again. */
  accepted = false;
  /** Methods of its route, when it came with another one. */
  allow: string | undefined;
  /** Why it was refused or failed. */
  reason: string | undefined;
  /** Its body is a stream that calls {@linkcode finish} itself. */
  streams = false;
  readonly #options: RequestContextOptions;
  readonly #startedMs: number;

  constructor(options: RequestContextOptions) {
    this.#options = options;
    this.#startedMs = options.elapsed();
  }

  get requestId(): string {
    return this.#options.requestId;
  }

  get peer(): string {
    return this.#options.peer;
  }

  /** An error as the client sees it; what the client must not see goes to the log. */
  fail(error: unknown): HttpError {
    const failure = toHttpError(error, {
      logId: this.requestId,
      accepted: this.accepted,
      allow: this.allow,
    });
    this.reason = failure.reason;
    const { hidden } = failure;
    if (hidden && !hidden.logged) {
      this.#options.log.error("A request failed", {
        id: hidden.logId,
        code: hidden.cause.code,
        cause: hidden.cause.message,
      });
    }
    const { scrubber } = this.#options;
    return scrubber === undefined
      ? failure
      : { ...failure, envelope: scrubber.value(failure.envelope) };
  }

  /** Writes the log line. */
  finish(status: number, stream?: StreamOutcome): void {
    const { requestId, peer, method, path, elapsed, accessLog } = this.#options;
    const durationMs = elapsed() - this.#startedMs;
    accessLog({ requestId, peer, method, path, status, durationMs, reason: this.reason, stream });
  }
}
