/**
 * The one place that turns errors into HTTP: a status, the error envelope, and headers.
 *
 * The layers below throw a `ServiceError`; the table in `error_table.ts` gives each of its codes a
 * status, a type and the slug that clients see. Text of an error that nobody expected never leaves the
 * process: the
 * answer names a log id instead.
 *
 * @module
 */

import { type ErrorData, toErrorData } from "../base/errors.ts";
import { HTTP_ERRORS, type HttpErrorKind, type HttpErrorType } from "./error_table.ts";

/** Body of every error answer, and of the last `data:` line of a stream that failed. */
export interface ErrorEnvelope {
  error: { message: string; type: HttpErrorType; param: string | null; code: string };
}

/** An error, ready to be sent. */
export interface HttpError {
  status: number;
  headers: Record<string, string>;
  envelope: ErrorEnvelope;
  /** For the access log: slug and field, never the message, which may quote the body. */
  reason: string;
  /** Set when the caller got a log id instead of the text: log `cause` under it. */
  hidden?: { logId: string | undefined; cause: ErrorData; logged: boolean };
}

/** What the answer depends on beside the error. */
export interface HttpErrorContext {
  /** Name under which a hidden text is logged, unless the error brings one; unset: nowhere. */
  logId?: string;
  /**
   * A turn was accepted before: the client must not send the request again (`x-should-retry: false`;
   * the OpenAI clients repeat a POST otherwise), and an unexpected error is a `turn_failed`.
   */
  accepted?: boolean;
  /** Methods of the route, for `method_not_allowed`. */
  allow?: string;
}

/** A field that may be logged: a caller chooses the names of some, such as those of a form. */
const PLAIN_FIELD = /^[\w.[\]-]{1,100}$/;

/** The HTTP form of an error, expected or not. */
export function toHttpError(error: unknown, context: HttpErrorContext = {}): HttpError {
  const data = isErrorData(error) ? error : toErrorData(error);
  const code = data.code === "internal" && context.accepted ? "turn_failed" : data.code;
  const kind: HttpErrorKind = HTTP_ERRORS[code] ?? HTTP_ERRORS.internal;
  const headers: Record<string, string> = { ...kind.headers };
  if (data.retryAfterS !== undefined) {
    headers["retry-after"] = String(Math.max(1, Math.ceil(data.retryAfterS)));
  }
  if (context.accepted || kind.status === 409) headers["x-should-retry"] = "false";
  if (context.allow !== undefined) headers.allow = context.allow;
  const logId = data.logId ?? context.logId;
  const param = data.param ?? null;
  return {
    status: kind.status,
    headers,
    envelope: {
      error: { message: publicMessage(kind, data, logId), type: kind.type, param, code: kind.slug },
    },
    reason: param !== null && PLAIN_FIELD.test(param) ? `${kind.slug} ${param}` : kind.slug,
    hidden: kind.hidden && { logId, cause: data, logged: data.logId !== undefined },
  };
}

/** An error as a response. */
export function errorResponse({ status, headers, envelope }: HttpError): Response {
  return new Response(JSON.stringify(envelope), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

function publicMessage(kind: HttpErrorKind, data: ErrorData, logId: string | undefined): string {
  if (kind.hidden) {
    const what = kind.slug === "turn_failed" ? "The turn failed" : "Something went wrong inside";
    return logId === undefined ? what : `${what}; the service's log has the cause under ${logId}`;
  }
  const { message, providerStatus } = data;
  return providerStatus === undefined || message.includes(String(providerStatus))
    ? message
    : `${message} (the provider answered with status ${providerStatus})`;
}

function isErrorData(error: unknown): error is ErrorData {
  return typeof error === "object" && error !== null && !(error instanceof Error) &&
    "code" in error && "message" in error;
}
