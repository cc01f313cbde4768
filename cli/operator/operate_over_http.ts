/**
 * Operations over the routes of a port.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import type { Ask } from "./operate_with.ts";

const TIMEOUT_MS = 15_000;

/** What asking takes. */
export interface OverHttpDeps {
  /** Of the port's WebSocket. */
  url: string;
  /** A token for the routes; another one where that of before was refused. */
  token(isRefused: boolean): Promise<string>;
  fetch: typeof fetch;
}

/** Asks the port. */
export function operateOverHttp({ url, token, fetch }: OverHttpDeps): Ask {
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
      url.replace(/^ws/, "http"),
    );
    const hasBody = method === "POST" || method === "PUT";
    if (!hasBody) { for (const [name, value] of rest) at.searchParams.set(name, String(value)); }
    const send = async (isRefused: boolean) =>
      await fetch(at, {
        method,
        headers: {
          authorization: `Bearer ${await token(isRefused)}`,
          ...hasBody && { "content-type": "application/json" },
        },
        body: hasBody ? JSON.stringify(Object.fromEntries(rest)) : undefined,
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    let response = await send(false);
    if (response.status === 401) {
      await response.body?.cancel();
      response = await send(true);
    }
    const answer = await response.json().catch(() => undefined);
    if (response.ok) return answer;
    const { code = "invalid_request", message = `the server answered ${response.status}` } =
      answer?.error ?? {};
    throw new ServiceError(code, message);
  }) as Ask;
}
