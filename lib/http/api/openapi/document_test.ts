import { assert, assertEquals } from "@std/assert";
import { ERROR_CODES } from "../../../base/errors.ts";
import { createTestApi } from "../../testing/test_api.ts";
import { openApiDocument } from "./document.ts";
import { OPERATIONS } from "./operations.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const document = openApiDocument({ version: "1.2.3" });

/** Every object of a value, with its place. */
function* objectsOf(value: Json, at = "#"): Generator<[string, Json]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [at, value];
  for (const [key, inner] of Object.entries(value)) yield* objectsOf(inner, `${at}/${key}`);
}

Deno.test("openApiDocument() has every route of the API, and no other", () => {
  const { api } = createTestApi();
  const routed = api.routes.map(({ method, path }) =>
    `${method} ${path.replaceAll(/:(\w+)(\{[^}]*\})?/g, "{$1}")}`
  );
  const written = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`)
  );
  assertEquals(written.sort(), [...new Set(routed)].sort());
  assertEquals(routed.length, new Set(routed).size);
});

Deno.test("openApiDocument() has no reference that leads nowhere", () => {
  const refs = [...objectsOf(document)].filter(([, { $ref }]) => $ref !== undefined);
  assert(refs.length > 30);
  for (const [at, { $ref }] of refs) {
    const name = /^#\/components\/schemas\/(\w+)$/.exec($ref)?.[1] ?? "";
    assert(Object.hasOwn(document.components.schemas, name), `${at}: ${$ref}`);
  }
});

Deno.test("openApiDocument() uses every named schema", () => {
  const used = new Set([...objectsOf(document)].map(([, { $ref }]) => $ref));
  for (const name of Object.keys(document.components.schemas)) {
    assert(used.has(`#/components/schemas/${name}`), name);
  }
});

Deno.test("openApiDocument() names operations once, and the parameters of their paths", () => {
  const ids = OPERATIONS.map(({ operationId }) => operationId);
  assertEquals(ids.length, new Set(ids).size);
  for (const { path, parameters = [] } of OPERATIONS) {
    const inPath = parameters.filter((parameter) => parameter.in === "path");
    assertEquals(
      inPath.map(({ name }) => `{${name}}`),
      path.match(/\{\w+\}/g) ?? [],
      path,
    );
    assert(inPath.every(({ required }) => required));
  }
});

Deno.test("openApiDocument() asks for the key everywhere but at /health and of approvers", () => {
  assertEquals(document.security, [{ bearer: [] }]);
  assertEquals(document.components.securitySchemes.bearer?.scheme, "bearer");
  const open = Object.entries(document.paths).filter(([, operations]) =>
    Object.values(operations).some(({ security }) => security?.length === 0)
  );
  assertEquals(open.map(([path]) => path), ["/health"]);
  const ofApprovers = Object.entries(document.paths).filter(([, operations]) =>
    Object.values(operations).some(({ security }) => security?.[0]?.approver !== undefined)
  );
  assert(ofApprovers.length === 4);
  assert(ofApprovers.every(([path]) => path.startsWith("/api/webui/approvals")));
});

Deno.test("openApiDocument() says every word in the words of JSON Schema", () => {
  const keywords = new Set<string>();
  const visit = (schema: Json) => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [keyword, inner] of Object.entries<Json>(schema)) {
      keywords.add(keyword);
      if (keyword === "properties") Object.values(inner).forEach(visit);
      else if (["anyOf", "oneOf", "allOf"].includes(keyword)) inner.forEach(visit);
      else if (["items", "additionalProperties", "propertyNames"].includes(keyword)) visit(inner);
    }
  };
  Object.values(document.components.schemas).forEach(visit);
  assertEquals([...keywords].sort(), [
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "contentMediaType",
    "description",
    "enum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minItems",
    "minimum",
    "oneOf",
    "pattern",
    "properties",
    "propertyNames",
    "required",
    "type",
  ]);
});

Deno.test("OPERATIONS name every error that a route can answer with", () => {
  const named = new Set(OPERATIONS.flatMap(({ errors }) => errors));
  assertEquals(ERROR_CODES.filter((code) => !named.has(code)), [
    // of paths and methods that are no routes
    "not_found",
    "method_not_allowed",
    // of the other port
    "conflict",
    // of commands
    "usage",
    // of the other port
    "too_many_tokens",
    "forbidden_client",
    // of automations
    "token_budget",
    // told to the model, which goes on
    "refused",
    "tool_failed",
    // of a start
    "config_invalid",
    "home_busy",
    // of the other port
    "not_enabled",
    // of a start, too
    "database_newer",
    "database_unusable",
  ]);
});
