/**
 * The API as an OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1): from the validators of
 * requests, the schemas of answers and the table of errors.
 *
 * @module
 */

import { type ComponentName, componentSchemas, refTo } from "./components.ts";
import type { JsonSchema } from "./json_schemas.ts";
import { errorResponses, type ResponseDoc } from "./error_responses.ts";
import { type Operation, OPERATIONS, type Success } from "./operations.ts";
import type { Parameter } from "./parameters.ts";

/** An operation as it stands in the document. */
export interface OperationDoc {
  operationId: string;
  tags: string[];
  summary: string;
  security?: Record<string, string[]>[];
  parameters?: readonly Parameter[];
  requestBody?: { required: true; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, ResponseDoc>;
}

/** The document. */
export interface OpenApiDocument {
  openapi: string;
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, Partial<Record<Operation["method"], OperationDoc>>>;
  components: {
    securitySchemes: Record<string, Record<string, string>>;
    schemas: Record<ComponentName, JsonSchema>;
  };
}

/** The document of a version of the service. It depends on nothing else. */
export function openApiDocument({ version }: { version: string }): OpenApiDocument {
  const paths: OpenApiDocument["paths"] = {};
  for (const operation of OPERATIONS) {
    (paths[operation.path] ??= {})[operation.method] = toDoc(operation);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "service",
      version,
      description: "An agent behind OpenAI's wire shapes: chat completions and responses. The " +
        "service keeps the conversations and runs its own tools.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    tags: [
      { name: "chat", description: "The chat completions shape." },
      { name: "responses", description: "The responses shape." },
      { name: "approvals", description: "Actions that wait for a person." },
      { name: "service", description: "What the service is, and how it is." },
    ],
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "api.apiKey of the configuration. Without one, no key is asked for.",
        },
        approver: {
          type: "http",
          scheme: "bearer",
          description: "A token of `service tokens issue --scopes approve`; api.apiKey is none.",
        },
      },
      schemas: componentSchemas(),
    },
  };
}

function toDoc(operation: Operation): OperationDoc {
  const { operationId, tag, summary, open, approver, parameters, body, answers, errors } =
    operation;
  const responses: Record<string, ResponseDoc> = errorResponses(errors);
  for (const [status, answer] of Object.entries(answers)) {
    responses[status] = answerDoc(answer, status === "200" && operation.path === "/openapi.json");
  }
  return {
    operationId,
    tags: [tag],
    summary,
    ...(open && { security: [] }),
    ...(approver && { security: [{ approver: [] }] }),
    ...(parameters && { parameters }),
    ...(body && { requestBody: { required: true, content: contentOf(body) } }),
    responses,
  };
}

function answerDoc({ description, json, events }: Success, isDocument: boolean): ResponseDoc {
  const content: NonNullable<ResponseDoc["content"]> = {};
  if (json !== undefined) content["application/json"] = { schema: refTo(json) };
  // As is usual: the schema of a stream is that of the JSON in each of its events.
  if (events !== undefined) content["text/event-stream"] = { schema: refTo(events) };
  if (isDocument) content["application/json"] = { schema: { type: "object" } };
  return Object.keys(content).length === 0 ? { description } : { description, content };
}

function contentOf(body: Record<string, ComponentName>): Record<string, { schema: JsonSchema }> {
  return Object.fromEntries(
    Object.entries(body).map(([mediaType, name]) => [mediaType, { schema: refTo(name) }]),
  );
}
