/**
 * Asks the service for an operation. Paths and types come from the table of operations.
 *
 * @module
 */

import { ApiError, reach } from "./error.ts";
import { type Operations, ROUTES } from "./operations.ts";
import { authorization, bootstrap } from "./session.ts";

/** The name of an operation. */
export type OperationName = keyof Operations;

/** What an operation answers. */
export type Answer<Name extends OperationName> = Operations[Name]["output"];

/** Asks; rejects with an {@linkcode ApiError}, or with `Unreachable`. */
export async function ask<Name extends OperationName>(
  name: Name,
  input: Operations[Name]["input"],
  signal?: AbortSignal,
): Promise<Answer<Name>> {
  return await (await request(name, input, signal)).json();
}

/** The same with the answer as it comes, for one that streams. */
export async function request<Name extends OperationName>(
  name: Name,
  input: Operations[Name]["input"],
  signal?: AbortSignal,
): Promise<Response> {
  const [method, path] = ROUTES[name];
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const filled = path.replace(/:(\w+)/g, (_, field) => {
    const value = encodeURIComponent(String(rest.get(field)));
    rest.delete(field);
    return value;
  });
  const inBody = method === "POST" || method === "PUT";
  const fields = [...rest].flatMap(([field, value]) =>
    [value].flat().map((one) => [field, String(one)])
  );
  const query = inBody ? "" : String(new URLSearchParams(fields));
  const send = () =>
    reach(query === "" ? filled : `${filled}?${query}`, {
      method,
      signal,
      headers: { ...authorization(), ...inBody && { "content-type": "application/json" } },
      ...inBody && { body: JSON.stringify(Object.fromEntries(rest)) },
    });
  let response = await send();
  // The token of the routes holds for some minutes; a page stays open for longer.
  if (response.status === 401) {
    await bootstrap();
    response = await send();
  }
  if (!response.ok) throw await ApiError.of(response);
  return response;
}
