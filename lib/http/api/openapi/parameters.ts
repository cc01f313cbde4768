/**
 * Parameters of the operations: headers, ids and queries.
 *
 * @module
 */

import { SESSION_ID } from "../session_id.ts";
import type { JsonSchema } from "./json_schemas.ts";

/** A parameter as it stands in the document. */
export interface Parameter {
  name: string;
  in: "header" | "path" | "query";
  required?: true;
  description: string;
  schema: JsonSchema;
}

/** The conversation, for clients that cannot add a field to the body. */
export const SESSION_HEADER: Parameter = {
  name: "X-Session-Id",
  in: "header",
  description: "Names the conversation, like the field session_id.",
  schema: { type: "string", pattern: SESSION_ID.source },
};

/** Makes a POST that is sent again the same request. */
export const IDEMPOTENCY_KEY: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  description: "The same key and the same request in a session: the same answer, one turn.",
  schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,255}$" },
};

/** Marks what a front end asks for itself. */
export const HELPER_HEADER: Parameter = {
  name: "X-OpenWebUI-Task",
  in: "header",
  description: "Set by Open WebUI for titles, tags and the like: answered beside the conversation.",
  schema: { type: "string" },
};

/** Of GET /v1/models/{id}. */
export const MODEL_ID: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "An id of GET /v1/models. Its slash may stand as it is or as %2F.",
  schema: { type: "string" },
};

/** Of the routes of one response. */
export const RESPONSE_ID: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "The id of a stored response.",
  schema: { type: "string", pattern: "^resp_" },
};

/** Of the routes of one approval. */
export const APPROVAL_ID: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "The id of an approval that waits.",
  schema: { type: "string", pattern: "^apr_" },
};

/** Whether a response is read as a stream. */
export const STREAM: Parameter = {
  name: "stream",
  in: "query",
  description: "true: the events of the response, from the first one on, then live.",
  schema: { type: "string", enum: ["true", "false"] },
};

/** Where a stream is taken up. */
export const STARTING_AFTER: Parameter = {
  name: "starting_after",
  in: "query",
  description: "With stream=true: only events with a greater sequence_number.",
  schema: { type: "integer", minimum: 0 },
};

/** Asks for the document only if it is another one. */
export const IF_NONE_MATCH: Parameter = {
  name: "If-None-Match",
  in: "header",
  description: "The ETag of the document that is known.",
  schema: { type: "string" },
};
