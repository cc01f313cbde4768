/**
 * Turns whatever a provider's package throws, or puts into its stream, into one error with a code.
 *
 * The packages are not imported here: their errors are read by shape, so that this works before any
 * of them is loaded, and for each in the same way.
 *
 * @module
 */

import { type ErrorDetails, ServiceError } from "../base/errors.ts";
import { isContextOverflow, messageOf, shownMessage } from "./provider_message.ts";
import type { ProviderSpec } from "./provider_spec.ts";
import { readRetryAfterS } from "./retry_after.ts";

/** Codes of a model call that failed. */
export type ProviderErrorCode =
  | "provider_error"
  | "provider_rate_limited"
  | "provider_unreachable"
  | "context_overflow";

/** A model call that failed. */
export class ProviderError extends ServiceError {
  constructor(
    code: ProviderErrorCode,
    message: string,
    /** Another try, now or at another provider, may work. */
    readonly transient: boolean,
    details: ErrorDetails = {},
    options?: ErrorOptions,
  ) {
    super(code, message, details, options);
  }
}

/** Whom an error came from. */
export interface ErrorOrigin {
  spec: ProviderSpec;
  /** `<provider>/<id>`. */
  model: string;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** What is known of a failure, whatever its shape was. */
interface Failure {
  status?: number;
  headers?: Record<string, string>;
  /** The provider's words. */
  said: string;
  /** Its code or type, such as `insufficient_quota`. */
  code: string;
}

/** The error to throw. The message names the model and never a key or a header. */
export function toProviderError(error: unknown, origin: ErrorOrigin): ProviderError {
  const known = knownCause(error);
  if (known !== undefined) return known;
  const name = error instanceof Error ? error.name : "";
  if (name === "AI_JSONParseError") return notJson(origin, error);
  if (name === "AI_TypeValidationError") {
    return unknownData((error as { value?: unknown }).value, origin, error);
  }
  if (name === "AI_InvalidResponseDataError") {
    return cutOff(shown((error as Error).message, origin), origin, true, error);
  }
  const failure = readFailure(error);
  if (failure.status === undefined && error instanceof Error && failure.code === "") {
    if (isBroken(error)) return cutOff("the connection broke", origin, true, error);
    const message = `cannot ask ${origin.model}: ${shown(failure.said, origin)}`;
    return new ProviderError("provider_error", message, false, {}, { cause: error });
  }
  return answered(failure, origin, error);
}

/** The error for an answer that did not come to its end. */
export function cutOff(
  why: string,
  { model }: ErrorOrigin,
  transient: boolean,
  cause?: unknown,
): ProviderError {
  return new ProviderError(
    "provider_error",
    `the answer of ${model} was cut off: ${why}`,
    transient,
    {},
    { cause },
  );
}

/** The error for an event whose data is no JSON. */
export function notJson(origin: ErrorOrigin, cause: unknown): ProviderError {
  return cutOff("its stream holds data that is not valid JSON", origin, false, cause);
}

/** The error for JSON that the wire does not know; some servers report an error so. */
export function unknownData(data: unknown, origin: ErrorOrigin, cause?: unknown): ProviderError {
  return messageOf(data) === ""
    ? cutOff("its stream holds data of an unknown shape", origin, false, cause)
    : answered(readStreamed(data), origin, cause);
}

/** The error for an answer with an error status; `body` is its text. */
export function refused(
  { status, headers, body }: { status: number; headers: Headers; body: string },
  origin: ErrorOrigin,
): ProviderError {
  const failure: Failure = {
    status,
    headers: Object.fromEntries(headers),
    said: messageOf(body),
    code: codeOf(parsed(body)),
  };
  return answered(failure, origin, undefined);
}

/** An error of ours that a package has wrapped into one of its own. */
function knownCause(error: unknown): ProviderError | undefined {
  let current = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    if (current instanceof ProviderError) return current;
    current = current.cause;
  }
  return undefined;
}

function answered(failure: Failure, origin: ErrorOrigin, cause: unknown): ProviderError {
  const { status, headers, code } = failure;
  const { model, spec } = origin;
  const said = shown(failure.said, origin);
  const tail = said === "" ? "" : `: ${said}`;
  const details: ErrorDetails = status === undefined ? {} : { providerStatus: status };
  if (isContextOverflow(status, `${code} ${failure.said}`)) {
    const message = `the conversation does not fit into the context of ${model}${tail}`;
    return new ProviderError("context_overflow", message, false, details, { cause });
  }
  const retryAfterS = readRetryAfterS(headers, origin.now());
  if (retryAfterS !== undefined) details.retryAfterS = Math.ceil(retryAfterS);
  if (status === 429) {
    // A quota that is used up does not come back within a turn.
    const transient = !/quota|billing|credit/i.test(code);
    const message = `${model} refuses more requests for now (429)${tail}`;
    return new ProviderError("provider_rate_limited", message, transient, details, { cause });
  }
  const answer = status === undefined ? "reports an error" : `answered ${status}`;
  const transient = status === undefined || status >= 500 || [408, 409, 425].includes(status);
  const message = `${model} ${answer}${tail}${hint(status, spec)}`;
  return new ProviderError("provider_error", message, transient, details, { cause });
}

function hint(status: number | undefined, { name }: ProviderSpec): string {
  switch (status) {
    case 401:
    case 403:
      return `; check providers.${name}.apiKey`;
    case 404:
      return `; check the model's id and providers.${name}.baseUrl`;
    default:
      return "";
  }
}

function readFailure(error: unknown): Failure {
  const { statusCode, responseBody, responseHeaders, message } = (error ?? {}) as {
    statusCode?: number;
    responseBody?: string;
    responseHeaders?: Record<string, string>;
    message?: unknown;
  };
  if (error instanceof Error) {
    // A 200 here means that the body broke, not that the provider refused.
    const status = statusCode !== undefined && statusCode >= 300 ? statusCode : undefined;
    return {
      status,
      headers: responseHeaders,
      said: messageOf(responseBody) || (status === undefined ? String(message) : ""),
      code: codeOf(parsed(responseBody)),
    };
  }
  return readStreamed(error);
}

/** An error that came inside a stream, as the package or the provider made it. */
function readStreamed(error: unknown): Failure {
  const { statusCode } = (error ?? {}) as { statusCode?: number };
  const code = codeOf(error);
  return { status: statusCode ?? statusOf(code), said: messageOf(error), code: code || "error" };
}

function codeOf(body: unknown): string {
  if (typeof body !== "object" || body === null) return "";
  const { error, code, type } = body as { error?: unknown; code?: unknown; type?: unknown };
  if (typeof error === "object" && error !== null) return codeOf(error);
  return [code, type].filter((one) => typeof one === "string" || typeof one === "number").join(" ");
}

/** The status that an error inside a stream would have had as an answer. */
function statusOf(code: string): number | undefined {
  const status = Number(code.match(/\b[45]\d\d\b/)?.[0]);
  if (!Number.isNaN(status)) return status;
  if (/overloaded/.test(code)) return 529;
  if (/rate_limit|too_many_requests|quota/.test(code)) return 429;
  if (/invalid_request|not_found|permission|authentication/.test(code)) return 400;
  if (/server_error|api_error|internal|timeout|unavailable/.test(code)) return 500;
  return undefined;
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A connection that broke, as opposed to a package that cannot do what it was asked. */
function isBroken(error: Error): boolean {
  return error.name === "AI_APICallError" || error instanceof TypeError ||
    error instanceof Deno.errors.Http || error instanceof Deno.errors.ConnectionReset;
}

function shown(message: string, { spec }: ErrorOrigin): string {
  return shownMessage(message, [spec.apiKey, ...Object.values(spec.headers)]);
}
