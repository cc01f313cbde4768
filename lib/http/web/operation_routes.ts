/**
 * Routes of operations: the path, the query and the body are the fields of an operation's input, and its
 * output is the answer.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import { checkSilently } from "../../listen/check_silently.ts";
import { check } from "../../listen/request_error.ts";
import type { Operation } from "../../operations/operation.ts";
import {
  findOperation,
  type Operate,
  type OperationName,
  type OperationRequest,
} from "../../operations/operations.ts";
import { hasBody } from "../guard.ts";
import { queryTexts } from "./query_params.ts";
import type { GuardedRoute, WebCall } from "./web_route.ts";

/** What routes need. */
export interface OperationRoutesDeps {
  /** Asks the authority, which checks the caller's credential again. */
  operate: Operate;
}

/**
 * The routes of the operations that have one, in their order. `finish` adds what only the gateway knows to
 * what the authority has answered.
 */
export function operationRoutes<Name extends OperationName>(
  table: Readonly<Partial<Record<Name, unknown>>>,
  { operate }: OperationRoutesDeps,
  finish: (answer: unknown) => unknown = (answer) => answer,
): GuardedRoute[] {
  return Object.keys(table).map((name) => [name, findOperation(name)!] as const)
    .filter(([, { route }]) => route !== undefined)
    .map(([name, operation]) => {
      const { method, path, errors, maxBodyBytes } = operation.route!;
      const { inPath, rest, isEmpty } = inputParts(operation);
      const inBody = method === "POST" || method === "PUT";
      return {
        method,
        path,
        scope: operation.scope === "gateway" ? "operate" : operation.scope,
        summary: operation.summary,
        command: operation.command,
        maxBodyBytes,
        docs: {
          ...!isEmpty && { [inBody ? "body" : "query"]: rest },
          answer: operation.output,
          errors,
        },
        async handle(call) {
          const given = {
            ...await givenRest(call, operation, { rest, inBody: inBody && !isEmpty }),
            ...check(inPath, call.params),
          };
          const request = { op: name, ...given } as OperationRequest;
          return Response.json(finish(await operate(request, call.caller.credential)));
        },
      };
    });
}

/** The fields that the path names, and the others. */
function inputParts({ input: own, route }: Operation) {
  const input = route!.input ?? own;
  const names = [...route!.path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  const mask: Record<string, true> = Object.fromEntries(names.map((name) => [name, true]));
  const inPath = input.pick(mask);
  const rest = input.omit(mask).describe(input.description ?? "");
  return { inPath, rest, isEmpty: Object.keys(rest.shape).length === 0 && !isOpen(rest) };
}

/** It takes fields of any name. */
function isOpen({ def: { catchall } }: z.ZodObject): boolean {
  return catchall !== undefined && !(catchall instanceof z.ZodNever);
}

async function givenRest(
  call: WebCall,
  { confidential }: Operation,
  { rest, inBody }: { rest: z.ZodObject; inBody: boolean },
): Promise<Record<string, unknown>> {
  const texts = inBody && !isOpen(rest) ? {} : queryTexts(rest, call.query, isOpen(rest));
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
