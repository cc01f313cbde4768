/**
 * Routes of operations: the path, the query and the body are the fields of an operation's input, and its
 * output is the answer.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import { chatOwner } from "../../contract/chat_session.ts";
import { checkSilently } from "../../listen/check_silently.ts";
import { check } from "../../listen/request_error.ts";
import { fieldOfTexts } from "../../operations/field_of_texts.ts";
import type { GatewayParts, OperationHead } from "../../operations/operation.ts";
import {
  findGatewayOperation,
  findOperation,
  type GatewayOperationName,
  type Operate,
  type OperationName,
  type OperationRequest,
  runGatewayOperation,
} from "../../operations/operations.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import { hasBody } from "../guard.ts";
import { JSON_LINES, jsonLines } from "../json_lines.ts";
import { queryTexts } from "./query_texts.ts";
import type { GuardedRoute, WebCall } from "./web_route.ts";

/** What routes need. */
export interface OperationRoutesDeps {
  /** Asks the authority, which checks the caller's credential again. */
  operate: Operate;
}

/** The routes of the authority's operations that have one, in their order. */
export function operationRoutes(
  table: Readonly<Partial<Record<OperationName, unknown>>>,
  { operate }: OperationRoutesDeps,
): GuardedRoute[] {
  return Object.keys(table).flatMap((name) =>
    routeOf(
      findOperation(name)!,
      async (given, { caller: { credential } }) =>
        Response.json(await operate({ ...given, op: name } as OperationRequest, credential)),
    )
  );
}

/** The routes of the gateway's operations. */
export function gatewayRoutes(
  table: Readonly<Partial<Record<GatewayOperationName, unknown>>>,
  parts: GatewayParts,
): GuardedRoute[] {
  // Takes secrets out of what is on record from before they were known.
  const { scrubber } = parts;
  return Object.keys(table).flatMap((name) => {
    const operation = findGatewayOperation(name)!;
    const routes = routeOf(operation, async (given, call) => {
      const { request: { signal }, caller: { credential, workspaceKey } } = call;
      const asking = { credential, sees: { owner: chatOwner(workspaceKey) ?? null }, signal };
      const answer = await runGatewayOperation({ ...given, op: name }, parts, asking);
      return operation.streams
        ? await streamed(answer as AsyncGenerator<unknown>, call, scrubber)
        : Response.json(scrubber.value(answer));
    });
    return routes.map((route) => ({ ...route, off: () => operation.off?.(parts) }));
  });
}

function routeOf(
  operation: OperationHead,
  run: (given: Record<string, unknown>, call: WebCall) => Promise<Response>,
): GuardedRoute[] {
  const { route, scope, summary, command, output, streams } = operation;
  if (route === undefined) return [];
  const { method, path, errors, maxBodyBytes } = route;
  const { inPath, rest, isEmpty } = inputParts(operation);
  const taken = [...Object.keys(inPath.shape), "op"];
  const inBody = method === "POST" || method === "PUT";
  return [{
    method,
    path,
    scope: scope === "gateway" ? "operate" : scope,
    summary,
    command,
    maxBodyBytes,
    docs: {
      ...!isEmpty && { [inBody ? "body" : "query"]: rest },
      answer: output,
      ...streams && { mediaType: JSON_LINES },
      errors,
    },
    async handle(call) {
      const given = await givenRest(call, operation, { rest, inBody: inBody && !isEmpty });
      // Where any field is taken these would be lost without a word.
      const param = taken.find((name) => Object.hasOwn(given, name));
      if (param !== undefined) {
        throw new ServiceError("invalid_request", `${param} isn't taken here`, { param });
      }
      const named = check(inPath, textsToFields(inPath, call.params));
      return await run({ ...given, ...named }, call);
    },
  }];
}

/** JSON lines that are made as fast as they are read. What fails before the first has its own status. */
async function streamed(
  items: AsyncGenerator<unknown>,
  { request, context }: WebCall,
  scrubber: Pick<Scrubber, "value">,
): Promise<Response> {
  const headers = { "content-type": JSON_LINES };
  let first: IteratorResult<unknown> | undefined = await items.next();
  if (request.method === "HEAD") {
    await items.return(undefined);
    return new Response(null, { headers });
  }
  context.streams = true;
  const body = jsonLines({
    lines: {
      async next() {
        const { value, done } = first ?? await items.next();
        first = undefined;
        return { value: scrubber.value(value), done };
      },
      return: () => items.return(undefined),
    },
    fail: (error) => context.fail(error).envelope,
    onEnd: (outcome) => context.finish(200, outcome),
  });
  return new Response(body, { headers });
}

/** The fields that the path names, and the others. */
function inputParts({ input: own, route }: OperationHead) {
  const input = route!.input ?? own;
  const names = [...route!.path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const mask: Record<string, true> = Object.fromEntries(names.map((name) => [name, true]));
  const inPath = input.pick(mask);
  const rest = input.omit(mask).describe(input.description ?? "");
  return { inPath, rest, isEmpty: Object.keys(rest.shape).length === 0 && !isOpen(rest) };
}

function textsToFields(
  { shape }: z.ZodObject<Record<string, z.ZodType>>,
  texts: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, fieldOfTexts(shape[name]!, [text])]),
  );
}

/** It takes fields of any name. */
function isOpen({ def: { catchall } }: z.ZodObject): boolean {
  return catchall !== undefined && !(catchall instanceof z.ZodNever);
}

async function givenRest(
  call: WebCall,
  { confidential, route }: OperationHead,
  { rest, inBody }: { rest: z.ZodObject; inBody: boolean },
): Promise<Record<string, unknown>> {
  const { takesQuery = false } = route!;
  const texts = inBody && !takesQuery ? {} : queryTexts(rest, call.query, takesQuery);
  const isAbsent = !inBody || (!hasBody(call.request) && rest.safeParse({}).success);
  const body = isAbsent ? {} : await call.body(z.unknown());
  if (!isObject(body)) throw notAnObject(rest);
  const given = { ...texts, ...body };
  return confidential ? checkSilently(rest, given) : check(rest, given);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function notAnObject(rest: z.ZodObject): ServiceError {
  const message = rest.safeParse(null, { reportInput: false }).error!.issues[0]!.message;
  return new ServiceError("invalid_request", `The body must be ${message}`);
}
