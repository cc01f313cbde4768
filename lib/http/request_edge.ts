/**
 * What happens to every request of a port, whatever its routes: a request id, errors in the envelope,
 * the headers that all answers have, one log line.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import type { AccessEntry } from "./access_log.ts";
import { RequestContext } from "./api/request_context.ts";
import { allowOrigin } from "./cors.ts";
import { errorResponse } from "../listen/errors.ts";
import { traced, withTraceparent } from "../telemetry/trace.ts";
import type { BrowserGuard } from "./guard.ts";

/** What an edge needs. */
export interface RequestEdgeDeps {
  guard: Pick<BrowserGuard, "allows">;
  clock: Pick<Clock, "elapsed">;
  accessLog: (entry: AccessEntry) => void;
  /** Takes secrets out of errors; absent: there are none. */
  scrubber?: Pick<Scrubber, "value">;
  log: Pick<Log, "error">;
  /** Default: random. */
  newRequestId?: () => string;
}

/** Answers a request, or throws. `path` is as it was sent. */
export type Answer = (path: string, context: RequestContext) => Promise<Response>;

/** One edge for a port; what it returns never throws. */
export type RequestEdge = (request: Request, peer: string, answer: Answer) => Promise<Response>;

/** Status in the log of a request whose client left before it was answered. */
const CLIENT_GONE = 499;

/** Makes an edge. */
export function createRequestEdge(deps: RequestEdgeDeps): RequestEdge {
  const { guard, clock, accessLog, scrubber, log, newRequestId = randomRequestId } = deps;
  return async (request, peer, answer) => {
    const path = pathOf(request.url);
    const context = new RequestContext({
      requestId: newRequestId(),
      peer,
      method: request.method,
      path,
      elapsed: clock.elapsed,
      accessLog,
      scrubber,
      log,
    });
    const { method, headers: asked } = request;
    const attributes = { "http.request.method": method, "url.path": path };
    const response = await withTraceparent(
      asked.get("traceparent") ?? undefined,
      () =>
        traced(`${method} ${routeOf(path)}`, { kind: "server", attributes }, async (span) => {
          const response = await answer(path, context)
            .catch((error) => refuse(error, request, context));
          span.set({ "http.response.status_code": response.status });
          if (response.status >= 500) span.fail(String(response.status));
          return response;
        }),
    );
    const { headers } = response;
    headers.set("x-request-id", context.requestId);
    headers.set("x-content-type-options", "nosniff");
    headers.set("referrer-policy", "no-referrer");
    const origin = request.headers.get("origin");
    if (origin !== null && guard.allows(origin)) allowOrigin(response, origin);
    if (!context.streams) context.finish(response.status);
    return response;
  };
}

function refuse(error: unknown, request: Request, context: RequestContext): Response {
  if (request.signal.aborted) {
    context.reason = "client_gone";
    return new Response(null, { status: CLIENT_GONE });
  }
  return errorResponse(context.fail(error));
}

/** The path with its ids left out, as the name of a span: there are few of them. */
function routeOf(path: string): string {
  return path.replaceAll(/\/(?=[^/]*\d)[^/]{8,}/g, "/:id").slice(0, 100);
}

/** The path as it was sent. By hand: a Host that is no host makes `new URL` throw. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (start === -1) return "/";
  const end = url.slice(start).search(/[?#]/);
  return end === -1 ? url.slice(start) : url.slice(start, start + end);
}

function randomRequestId(): string {
  return `req_${crypto.randomUUID()}`;
}
