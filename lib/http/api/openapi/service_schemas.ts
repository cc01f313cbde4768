/**
 * Answers of the routes that open no turn, and the error envelope.
 *
 * @module
 */

import { z } from "zod";
import type { ErrorEnvelope } from "../../../listen/errors.ts";
import { HTTP_ERRORS, type HttpErrorType } from "../../../listen/error_table.ts";
import type { Checks } from "../health.ts";

/** Of GET /health. */
export const healthSchema = z.object({
  status: z.literal("ok"),
}).describe("The process answers.");

/** Of GET /ready. */
export const readinessSchema = z.object({
  status: z.enum(["ready", "unavailable"]).describe("ready when every check is ok."),
  version: z.string().describe("Version of the service."),
  checks: z.record(
    z.string(),
    z.object({ ok: z.boolean(), detail: z.string().describe("For people.") }),
  ).describe("Parts of the service by name.") satisfies z.ZodType<Checks>,
}).describe("Whether the service can work.");

/** Of GET /v1/models/{id}. */
export const modelSchema = z.object({
  id: z.string().describe("<provider>/<model id>."),
  object: z.literal("model"),
  created: z.int().describe("Seconds since 1970."),
  owned_by: z.literal("service"),
}).describe("The model that answers.");

/** Of GET /v1/models. */
export const modelListSchema = z.object({
  object: z.literal("list"),
  data: z.array(modelSchema).length(1),
}).describe("The one model that answers.");

const kinds = Object.values(HTTP_ERRORS);

/** Of every answer that is an error. */
export const errorSchema = z.object({
  error: z.object({
    message: z.string().describe("For people; it may change."),
    type: z.enum([...new Set(kinds.map(({ type }) => type))] as [HttpErrorType]),
    param: z.string().nullable().describe("The field or header that is wrong, or null."),
    code: z.enum(kinds.map(({ slug }) => slug)).describe("Stable: match on it."),
  }),
}).describe("What went wrong.") satisfies z.ZodType<ErrorEnvelope>;
