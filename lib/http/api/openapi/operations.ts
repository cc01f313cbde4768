/**
 * Every route of the API as an operation of the document.
 *
 * @module
 */

import type { ErrorCode } from "../../../base/errors.ts";
import { APPROVAL_ERRORS } from "../../../operations/approvals.ts";
import type { ComponentName } from "./components.ts";
import {
  APPROVAL_ID,
  HELPER_HEADER,
  IDEMPOTENCY_KEY,
  IF_NONE_MATCH,
  MODEL_ID,
  type Parameter,
  RESPONSE_ID,
  SESSION_HEADER,
  STARTING_AFTER,
  STREAM,
} from "./parameters.ts";

/** A response that is no error. */
export interface Success {
  description: string;
  /** Schema of the JSON body. */
  json?: ComponentName;
  /** Schema of the JSON in each `data:` line of an event stream. */
  events?: ComponentName;
}

/** One route. */
export interface Operation {
  method: "get" | "post" | "delete";
  /** As OpenAPI writes it, such as `/v1/models/{id}`. */
  path: string;
  operationId: string;
  tag: "chat" | "responses" | "approvals" | "service";
  summary: string;
  /** Needs no key. */
  open?: true;
  /** Needs a token of an approver instead of the key. */
  approver?: true;
  parameters?: readonly Parameter[];
  /** Schema of the body by media type. */
  body?: Record<string, ComponentName>;
  /** By status. */
  answers: Record<number, Success>;
  errors: readonly ErrorCode[];
}

const ANY: readonly ErrorCode[] = [
  "forbidden_host",
  "forbidden_origin",
  "forbidden_user",
  "invalid_api_key",
  "too_many_auth_failures",
  "internal",
];

const TURN: readonly ErrorCode[] = [
  ...ANY,
  // the body
  "invalid_request",
  "unsupported_media_type",
  "too_large",
  "request_timeout",
  "overloaded",
  "unsupported_image_url",
  "no_user_message",
  "unreadable_document",
  "executor_fault",
  // what it asks for
  "model_not_found",
  "idempotency_conflict",
  "queue_full",
  "storage_full",
  "draining",
  // the turn
  "turn_failed",
  "turn_crashed",
  "turn_timeout",
  "turn_cancelled",
  "turn_interrupted",
  "tool_loop",
  "max_steps",
  "provider_error",
  "provider_rate_limited",
  "provider_unreachable",
  "empty_answer",
  "context_overflow",
  "audit_unavailable",
];

const APPROVER: readonly ErrorCode[] = [
  "forbidden_host",
  "forbidden_origin",
  "invalid_token",
  "insufficient_scope",
  "too_many_auth_failures",
  "overloaded",
  "internal",
];

const ONE_APPROVAL: readonly ErrorCode[] = [
  ...APPROVER,
  ...APPROVAL_ERRORS,
];

const ANSWER: readonly ErrorCode[] = [
  ...ONE_APPROVAL,
  "invalid_request",
  "unsupported_media_type",
  "too_large",
  "request_timeout",
  "audit_unavailable",
];

/** All operations, in the order of the document. */
export const OPERATIONS: readonly Operation[] = [
  {
    method: "post",
    path: "/v1/chat/completions",
    operationId: "createChatCompletion",
    tag: "chat",
    summary: "Run a turn, and answer in the chat shape",
    parameters: [SESSION_HEADER, IDEMPOTENCY_KEY, HELPER_HEADER],
    body: { "application/json": "ChatCompletionRequest", "multipart/form-data": "ChatForm" },
    answers: {
      200: {
        description: "The answer; with stream: true an event stream that ends with data: [DONE]. " +
          "A turn that fails after the stream began ends it with an Error in the last data line.",
        json: "ChatCompletion",
        events: "ChatCompletionChunk",
      },
    },
    errors: [
      ...TURN,
      // an answer to an approval
      "insufficient_scope",
      ...APPROVAL_ERRORS,
      "approval_mismatch",
    ],
  },
  {
    method: "post",
    path: "/v1/responses",
    operationId: "createResponse",
    tag: "responses",
    summary: "Run a turn, and answer in the responses shape",
    parameters: [SESSION_HEADER, IDEMPOTENCY_KEY, HELPER_HEADER],
    body: { "application/json": "CreateResponse" },
    answers: {
      200: {
        description: "The response; with stream: true its events. A turn that fails ends the " +
          "stream with response.failed.",
        json: "Response",
        events: "ResponseEvent",
      },
    },
    errors: [...TURN, "response_not_found"],
  },
  {
    method: "get",
    path: "/v1/responses/{id}",
    operationId: "retrieveResponse",
    tag: "responses",
    summary: "A stored response, as an object or as its events",
    parameters: [RESPONSE_ID, STREAM, STARTING_AFTER],
    answers: {
      200: {
        description: "The response as it is now; with stream=true its events.",
        json: "Response",
        events: "ResponseEvent",
      },
    },
    errors: [...ANY, "invalid_request", "response_not_found"],
  },
  {
    method: "delete",
    path: "/v1/responses/{id}",
    operationId: "deleteResponse",
    tag: "responses",
    summary: "Take a response off the record; the conversation keeps what was said",
    parameters: [RESPONSE_ID],
    answers: { 200: { description: "It is deleted.", json: "DeletedResponse" } },
    errors: [...ANY, "response_not_found", "response_in_progress"],
  },
  {
    method: "post",
    path: "/v1/responses/{id}/cancel",
    operationId: "cancelResponse",
    tag: "responses",
    summary: "End the turn of a response",
    parameters: [RESPONSE_ID],
    answers: {
      200: {
        description: "The response after the end of its turn; one that had ended is unchanged.",
        json: "Response",
      },
    },
    errors: [...ANY, "unsupported_media_type", "response_not_found"],
  },
  {
    method: "get",
    path: "/api/webui/approvals",
    operationId: "listApprovals",
    tag: "approvals",
    summary: "The actions that wait for a person",
    approver: true,
    answers: { 200: { description: "What waits.", json: "ApprovalList" } },
    errors: APPROVER,
  },
  {
    method: "get",
    path: "/api/webui/approvals/{id}",
    operationId: "retrieveApproval",
    tag: "approvals",
    summary: "An action that waits, with everything to decide by",
    approver: true,
    parameters: [APPROVAL_ID],
    answers: { 200: { description: "It waits.", json: "Approval" } },
    errors: ONE_APPROVAL,
  },
  {
    method: "post",
    path: "/api/webui/approvals/{id}/approve",
    operationId: "approve",
    tag: "approvals",
    summary: "Let the action run, once",
    approver: true,
    parameters: [APPROVAL_ID],
    body: { "application/json": "Approve" },
    answers: { 200: { description: "It runs.", json: "ApprovalOutcome" } },
    errors: [...ANSWER, "approval_mismatch"],
  },
  {
    method: "post",
    path: "/api/webui/approvals/{id}/deny",
    operationId: "deny",
    tag: "approvals",
    summary: "Refuse the action, and what else of its kind the session would ask for",
    approver: true,
    parameters: [APPROVAL_ID],
    body: { "application/json": "Deny" },
    answers: { 200: { description: "It does not run.", json: "ApprovalOutcome" } },
    errors: ANSWER,
  },
  {
    method: "get",
    path: "/v1/models",
    operationId: "listModels",
    tag: "service",
    summary: "The one model that answers",
    answers: { 200: { description: "The model.", json: "ModelList" } },
    errors: ANY,
  },
  {
    method: "get",
    path: "/v1/models/{id}",
    operationId: "retrieveModel",
    tag: "service",
    summary: "The model by its id",
    parameters: [MODEL_ID],
    answers: { 200: { description: "The model.", json: "Model" } },
    errors: [...ANY, "model_not_found"],
  },
  {
    method: "get",
    path: "/health",
    operationId: "health",
    tag: "service",
    summary: "Whether the process answers",
    open: true,
    answers: { 200: { description: "It does.", json: "Health" } },
    errors: ["forbidden_origin", "internal"],
  },
  {
    method: "get",
    path: "/ready",
    operationId: "ready",
    tag: "service",
    summary: "Whether the service can work",
    answers: {
      200: { description: "It can.", json: "Readiness" },
      503: { description: "One of its checks is not ok.", json: "Readiness" },
    },
    errors: ANY,
  },
  {
    method: "get",
    path: "/openapi.json",
    operationId: "openApi",
    tag: "service",
    summary: "This document",
    parameters: [IF_NONE_MATCH],
    answers: {
      200: { description: "The document, with an ETag." },
      304: { description: "The document is the one that If-None-Match names." },
    },
    errors: ANY,
  },
];
