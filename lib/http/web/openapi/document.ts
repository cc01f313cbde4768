/**
 * The routes of the WebSocket port as an OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1):
 * from the very table that is mounted.
 *
 * @module
 */

import { z } from "zod";
import type { ErrorCode } from "../../../base/errors.ts";
import { errorResponses, type ResponseDoc } from "../../api/openapi/error_responses.ts";
import { type JsonSchema, jsonSchemas, tidy } from "../../api/openapi/json_schemas.ts";
import type { Parameter } from "../../api/openapi/parameters.ts";
import { errorSchema } from "../../api/openapi/service_schemas.ts";
import { scopesOf, type WebRoute } from "../web_route.ts";

/** An operation as it stands in the document. */
export interface WebOperation {
  operationId: string;
  summary: string;
  /** Empty: for everybody. The list of a scheme are the scopes that are needed. */
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: true; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, ResponseDoc>;
}

/** The document. */
export interface WebOpenApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  servers: { url: string }[];
  paths: Record<string, Record<string, WebOperation>>;
  components: {
    securitySchemes: Record<string, Record<string, string>>;
    schemas: Record<string, JsonSchema>;
  };
}

const EVERY: readonly ErrorCode[] = ["forbidden_host", "forbidden_origin", "internal"];

const GUARDED: readonly ErrorCode[] = [
  "invalid_token",
  "insufficient_scope",
  "too_many_auth_failures",
];

const WITH_BODY: readonly ErrorCode[] = [
  "invalid_request",
  "unsupported_media_type",
  "too_large",
  "request_timeout",
  "overloaded",
];

/** The document of a table of routes. */
export function webOpenApiDocument(
  { routes, version }: { routes: readonly WebRoute[]; version: string },
): WebOpenApiDocument {
  const names = nameSchemas(routes);
  const paths: WebOpenApiDocument["paths"] = {};
  for (const route of routes) {
    (paths[pathOf(route)] ??= {})[route.method.toLowerCase()] = toOperation(route, names);
  }
  const named = Object.fromEntries([...names].map(([schema, name]) => [name, schema]));
  return {
    openapi: "3.1.1",
    info: {
      title: "service: routes of the WebSocket port",
      version,
      description: "What a web app reads and changes beside its WebSocket.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description:
            "A token for routes, from GET /webui/bootstrap, tokenIssuePath?kind=api or " +
            "`service tokens issue`. Somebody whom the trusted proxy vouches for needs none.",
        },
      },
      schemas: jsonSchemas({ ...named, Error: errorSchema }),
    },
  };
}

/** Path as OpenAPI writes it, such as `/api/webui/sessions/{key}`. */
export function pathOf({ path }: Pick<WebRoute, "path">): string {
  return path.replaceAll(/:(\w+)(\{[^}]*\})?/g, "{$1}");
}

/** Such as `getSessionsMessages`. */
function operationIdOf({ method, path }: Pick<WebRoute, "method" | "path">): string {
  const words = path.replace(/^\/(api\/)?(webui\/)?/, "").split(/\W+/).filter((word) =>
    word !== ""
  );
  return method.toLowerCase() +
    words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
}

/** Each schema once, by the first route that has it. */
function nameSchemas(routes: readonly WebRoute[]): Map<z.ZodType, string> {
  const names = new Map<z.ZodType, string>();
  const give = (schema: z.ZodType | undefined, name: string) => {
    if (schema !== undefined && !names.has(schema)) names.set(schema, name);
  };
  for (const route of routes) {
    const id = operationIdOf(route);
    const base = id[0]!.toUpperCase() + id.slice(1);
    give(route.docs?.body, `${base}Request`);
    give(route.docs?.answer, `${base}Answer`);
  }
  return names;
}

function toOperation(route: WebRoute, names: ReadonlyMap<z.ZodType, string>): WebOperation {
  const { summary, docs = {} } = route;
  const parameters = [...pathParameters(route), ...queryParameters(docs.query)];
  const refTo = (schema: z.ZodType) => ({ $ref: `#/components/schemas/${names.get(schema)}` });
  const responses: Record<string, ResponseDoc> = { "200": { description: "It is done." } };
  const { answer, mediaType } = docs;
  if (answer !== undefined || mediaType !== undefined) {
    responses["200"] = {
      description: answer?.description ?? "The answer.",
      content: {
        [mediaType ?? "application/json"]: { schema: answer === undefined ? {} : refTo(answer) },
      },
    };
  }
  return {
    operationId: operationIdOf(route),
    summary,
    security: scopesOf(route).map((scope) => ({ bearer: [scope] })),
    ...parameters.length > 0 && { parameters },
    ...docs.body !== undefined && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: refTo(docs.body) } },
      },
    },
    responses: { ...responses, ...errorResponses(errorsOf(route)) },
  };
}

function errorsOf({ access, docs = {}, off }: WebRoute): ErrorCode[] {
  return [
    ...EVERY,
    ...access === undefined ? GUARDED : [],
    ...docs.body !== undefined ? WITH_BODY : [],
    ...docs.query !== undefined ? ["invalid_request"] as const : [],
    ...off !== undefined ? ["not_enabled"] as const : [],
    ...docs.errors ?? [],
  ];
}

function pathParameters({ path }: WebRoute): Parameter[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name: name!,
    in: "path",
    required: true,
    description: "Percent-encoded where it is no plain text.",
    schema: { type: "string" },
  }));
}

function queryParameters(query: z.ZodObject | undefined): Parameter[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(query, {
    io: "input",
    override: ({ jsonSchema }) => tidy(jsonSchema),
  });
  return Object.entries(properties).map(([name, schema]) => {
    const { description = "", ...rest } = schema as JsonSchema & { description?: string };
    return {
      name,
      in: "query",
      ...required.includes(name) && { required: true as const },
      description,
      schema: rest,
    };
  });
}
