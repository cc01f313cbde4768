/**
 * The errors of an operation as responses of the document, one a status.
 *
 * @module
 */

import type { ErrorCode } from "../../../base/errors.ts";
import { HTTP_ERRORS, type HttpErrorKind } from "../../../listen/error_table.ts";
import { refTo } from "./components.ts";
import type { JsonSchema } from "./json_schemas.ts";

/** A response of an operation. */
export interface ResponseDoc {
  description: string;
  headers?: Record<string, { description: string; schema: JsonSchema }>;
  content?: Record<string, { schema: JsonSchema }>;
}

/** Responses by status, in rising order. */
export function errorResponses(codes: readonly ErrorCode[]): Record<string, ResponseDoc> {
  const byStatus = new Map<number, HttpErrorKind[]>();
  for (const code of new Set(codes)) {
    const kind = HTTP_ERRORS[code];
    byStatus.set(kind.status, [...byStatus.get(kind.status) ?? [], kind]);
  }
  return Object.fromEntries(
    [...byStatus].sort(([a], [b]) => a - b).map(([status, kinds]) => [status, toDoc(kinds)]),
  );
}

function toDoc(kinds: readonly HttpErrorKind[]): ResponseDoc {
  const code = { enum: kinds.map(({ slug }) => slug) };
  const one = { type: "object", properties: { error: { properties: { code } } } };
  return {
    description: kinds.map(({ slug, meaning }) => `\`${slug}\`: ${meaning}`).join("\n\n"),
    headers: headersOf(kinds[0]!),
    content: { "application/json": { schema: { allOf: [refTo("Error"), one] } } },
  };
}

function headersOf({ status }: HttpErrorKind): ResponseDoc["headers"] {
  const headers: ResponseDoc["headers"] = {
    "x-request-id": { description: "Names the request in the log.", schema: { type: "string" } },
  };
  if (status === 401) {
    headers["www-authenticate"] = { description: "Bearer.", schema: { type: "string" } };
  }
  if (status === 429 || status === 503) {
    headers["retry-after"] = {
      description: "After how many seconds a repeat may work, where that is known.",
      schema: { type: "integer" },
    };
  }
  if (status === 409 || status === 429 || status >= 500) {
    headers["x-should-retry"] = {
      description: "false: do not send the request again.",
      schema: { const: "false" },
    };
  }
  return headers;
}
