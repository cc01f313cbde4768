/**
 * What the wires of the fake model server have in common.
 *
 * @module
 */

import type { Answer } from "./model_behaviour.ts";

/** What of a request an answer depends on. */
export interface WireRequest {
  model: string;
  includeUsage: boolean;
}

/** A wire. */
export interface Wire {
  /** Events of a streamed answer, each with its blank line. */
  events(answer: Answer, request: WireRequest): string[];
  /** Body of an answer that is not streamed. */
  body(answer: Answer, request: WireRequest): unknown;
  /** An error that is sent inside a stream. */
  errorEvent(message: string): string;
  /** Body of an answer with an error status. */
  errorBody(message: string, status: number): unknown;
}

/** A fixed time (seconds since 1970), so that equal requests get equal bytes. */
export const CREATED = 1_760_000_000;

/** An SSE event. */
export function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** An SSE event whose name is its type. */
export function named(value: { type: string }): string {
  return `event: ${value.type}\n${data(value)}`;
}

/** Body of an OpenAI error. */
export function openAiError(message: string, status: number): unknown {
  const type = status === 429
    ? "rate_limit_error"
    : status >= 500
    ? "server_error"
    : "invalid_request_error";
  return { error: { message, type, param: null, code: null } };
}
