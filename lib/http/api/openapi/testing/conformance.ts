/**
 * Holds requests and answers against the OpenAPI document.
 *
 * @module
 */

import type { ErrorCode } from "../../../../base/errors.ts";
import { HTTP_ERRORS } from "../../../../listen/error_table.ts";
import { type OpenApiDocument, openApiDocument, type OperationDoc } from "../document.ts";
import { type Schema, schemaProblems } from "./json_schema.ts";

/** An answer as it came. */
export interface SeenAnswer {
  method: string;
  /** With its query. */
  path: string;
  status: number;
  contentType: string | null;
  body: string;
}

/** The document, as a judge. */
export class Conformance {
  readonly document: OpenApiDocument;

  constructor() {
    this.document = JSON.parse(JSON.stringify(openApiDocument({ version: "1.2.3" })));
  }

  /** What is wrong with a value for a named schema. */
  problemsOf(name: string, value: unknown, { closed = false } = {}): string[] {
    const schema = (this.document.components.schemas as Record<string, Schema>)[name];
    if (schema === undefined) return [`there is no schema ${name}`];
    return schemaProblems(schema, value, { root: this.document, closed });
  }

  /** What is wrong with the JSON body of a request that is meant to be right. */
  problemsOfRequest(method: string, path: string, body: unknown): string[] {
    const schema = this.#operation(method, path)?.requestBody?.content["application/json"]?.schema;
    if (schema === undefined) return [`${method} ${path} takes no JSON`];
    return schemaProblems(schema, body, { root: this.document });
  }

  /** What of an answer the document does not say, or says otherwise. */
  problemsOfAnswer(answer: SeenAnswer): string[] {
    const { method, path, status, contentType, body } = answer;
    const operation = this.#operation(method, path);
    if (operation === undefined) return this.#noRoute(answer);
    const documented = operation.responses[status];
    if (documented === undefined) return [`${method} ${path}: status ${status} is not documented`];
    const mediaType = contentType?.split(";")[0] ?? "";
    if (documented.content === undefined) {
      return body === "" ? [] : [`${method} ${path}: ${status} has a body`];
    }
    const schema = documented.content[mediaType]?.schema;
    if (schema === undefined) return [`${method} ${path}: ${status} as "${mediaType}"`];
    return mediaType === "text/event-stream"
      ? this.#problemsOfEvents(schema, body, operation)
      : this.#closed(schema, JSON.parse(body));
  }

  #noRoute({ status, body }: SeenAnswer): string[] {
    const value = JSON.parse(body);
    const code: ErrorCode = status === 405 ? "method_not_allowed" : "not_found";
    const { slug } = HTTP_ERRORS[code];
    return value.error?.code === slug
      ? this.problemsOf("Error", value, { closed: true })
      : [`no route: ${status} ${body}`];
  }

  #problemsOfEvents(schema: Schema, body: string, { operationId }: OperationDoc): string[] {
    return dataOf(body).flatMap((data, index, all) => {
      const isLast = index === all.length - 1;
      if (data === "[DONE]") return isLast ? [] : ["data: [DONE] is not the last line"];
      const value = JSON.parse(data);
      const failed = isLast && operationId === "createChatCompletion" && "error" in value;
      return failed
        ? this.problemsOf("Error", value, { closed: true })
        : this.#closed(schema, value);
    });
  }

  #closed(schema: Schema, value: unknown): string[] {
    return schemaProblems(schema, value, { root: this.document, closed: true });
  }

  #operation(method: string, path: string): OperationDoc | undefined {
    const bare = path.split("?")[0]!;
    for (const [template, operations] of Object.entries(this.document.paths)) {
      // The id of a model holds slashes.
      const pattern = template.replace("{id}", template === "/v1/models/{id}" ? ".+" : "[^/]+");
      const operation = operations[method.toLowerCase() as keyof typeof operations];
      if (operation !== undefined && new RegExp(`^${pattern}$`).test(bare)) return operation;
    }
    return undefined;
  }
}

/** What the `data:` lines of an event stream say, in order. */
export function dataOf(stream: string): string[] {
  return stream.split("\n").filter((line) => line.startsWith("data: "))
    .map((line) => line.slice("data: ".length));
}
