/**
 * Operations over the routes of a port.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { Ask } from "./operate_with.ts";

const TIMEOUT_MS = 15_000;

/** Asks the port at a WebSocket's address. */
export function operateOverHttp(deps: { url: string; token: string; fetch: typeof fetch }): Ask {
  return (async ({ op, ...fields }: { op: string } & Record<string, unknown>) => {
    const { findGatewayOperation, findOperation } = await import(
      "../../lib/operations/operations.ts"
    );
    const { method, path } = (findOperation(op) ?? findGatewayOperation(op))!.route!;
    const rest = new Map(Object.entries(fields).filter(([, value]) => value !== undefined));
    const at = new URL(
      path.replaceAll(/:(\w+)/g, (_, name) => {
        const value = rest.get(name);
        rest.delete(name);
        return encodeURIComponent(String(value));
      }),
      deps.url.replace(/^ws/, "http"),
    );
    const hasBody = method === "POST" || method === "PUT";
    if (!hasBody) { for (const [name, value] of rest) at.searchParams.set(name, String(value)); }
    const response = await deps.fetch(at, {
      method,
      headers: {
        authorization: `Bearer ${deps.token}`,
        ...hasBody && { "content-type": "application/json" },
      },
      body: hasBody ? JSON.stringify(Object.fromEntries(rest)) : undefined,
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = await response.json().catch(() => undefined);
    if (response.ok) return answer;
    const { code = "invalid_request", message = `the server answered ${response.status}` } =
      answer?.error ?? {};
    throw new ServiceError(code, message);
  }) as Ask;
}
