/**
 * The routes of the WebSocket port: one fetch handler over a table of {@linkcode WebRoute}.
 *
 * Order of a request: browser guard, who calls, routing, scope, whether the part is on. So a page of
 * another origin cannot guess tokens, and below `/api/` a stranger cannot learn routes. Every error
 * leaves in the envelope, and every request leaves one log line.
 *
 * @module
 */

import { type Context, Hono } from "hono";
import type { Clock } from "../../base/clock.ts";
import { includesScope } from "../../contract/credentials.ts";
import { ServiceError } from "../../base/errors.ts";
import type { RequestContext } from "../api/request_context.ts";
import { Bodies } from "../body.ts";
import { isPreflight, preflightResponse } from "../cors.ts";
import { bodyType, type BrowserGuard } from "../guard.ts";
import { createRequestEdge, type RequestEdgeDeps } from "../request_edge.ts";
import { allowedMethods, describeMethods } from "../route_methods.ts";
import { Callers, type CallersDeps } from "./callers.ts";
import { readBody } from "./read_body.ts";
import {
  type Arrival,
  type Caller,
  type PublicRoute,
  scopesOf,
  type WebRoute,
} from "./web_route.ts";

/** What the app is made of. */
export interface WebAppDeps extends Omit<RequestEdgeDeps, "guard" | "clock">, CallersDeps {
  /** Every route; two of one method and path are a fault. */
  routes: readonly WebRoute[];
  guard: Pick<BrowserGuard, "check" | "allows">;
  clock: Clock;
}

/** The app, ready to be listened for. */
export interface WebApp {
  /** Answers a request that is no upgrade; never throws. */
  fetch(request: Request, arrival: Arrival): Promise<Response>;
  /** As they were given. */
  readonly routes: readonly WebRoute[];
}

/** One request on its way to its route. */
interface Bindings {
  request: Request;
  path: string;
  arrival: Arrival;
  context: RequestContext;
}

type Routed = Context<{ Bindings: Bindings }>;

/** Routes under it are no pages: nobody without a token is told which there are. */
const API_PREFIX = "/api/";

/** Methods that change something, and so may not be what a form of another page can send. */
const CHANGES: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Methods that are routed as they are. */
const ROUTED: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "DELETE", "OPTIONS"]);

/** Puts the app together. Throws a TypeError when two routes are the same one. */
export function createWebApp(deps: WebAppDeps): WebApp {
  const { routes, guard, clock } = deps;
  const callers = new Callers(deps);
  const pages = pathsOf(routes, "page");
  const probes = pathsOf(routes, "probe");
  const edge = createRequestEdge(deps);
  const bodies = new Bodies({ clock });
  const mounted = mount(routes, answerRoute);
  const open = mount(routes.filter(({ access }) => access !== undefined), answerRoute);

  async function answerRoute(route: WebRoute, c: Routed): Promise<Response> {
    const { request, arrival, context } = c.env;
    const caller = route.access === undefined ? await callers.require(request, arrival) : undefined;
    if (caller !== undefined) requireScope(route, caller);
    requireOn(route);
    const call = {
      request,
      params: c.req.param() as Record<string, string>,
      query: queryOf(request.url),
      arrival,
      context,
      body: readBody(bodies, request, route.maxBodyBytes),
    };
    if (route.access === undefined) return await route.handle({ ...call, caller: caller! });
    return await route.handle(call);
  }

  mounted.notFound(async (c) => {
    const { request, path, arrival, context } = c.env;
    const allow = allowedMethods(mounted, c.req.path);
    // What is public is no secret, and everything else is for those who are let in.
    if (c.req.path.startsWith(API_PREFIX) && allowedMethods(open, c.req.path) === "") {
      await callers.require(request, arrival);
    }
    if (request.method === "OPTIONS") return describeMethods(allow);
    if (allow === "") {
      throw new ServiceError("not_found", `There is no route ${shown(path)}`);
    }
    context.allow = allow;
    throw new ServiceError("method_not_allowed", `This route has ${allow}`);
  });

  async function answer(bindings: Bindings): Promise<Response> {
    const { request, path } = bindings;
    guard.check(request, { page: pages.has(path), anyHost: probes.has(path) });
    if (isPreflight(request)) return preflightResponse(request, allowedMethods(mounted, path));
    if (CHANGES.has(request.method)) bodyType(request);
    return await mounted.fetch(toRouted(request.method, path), bindings);
  }

  return {
    async fetch(request, arrival) {
      const peer = arrival.peerAddress ?? "unknown";
      const response = await edge(
        request,
        peer,
        (path, context) => answer({ request, path, arrival, context }),
      );
      if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store");
      return response;
    },
    routes,
  };
}

function mount(
  routes: readonly WebRoute[],
  handle: (route: WebRoute, c: Routed) => Promise<Response>,
): Hono<{ Bindings: Bindings }> {
  const mounted = new Hono<{ Bindings: Bindings }>();
  const seen = new Set<string>();
  for (const route of routes) {
    const name = `${route.method} ${route.path.replaceAll(/:\w+/g, ":")}`;
    if (seen.has(name)) {
      throw new TypeError(`The route ${route.method} ${route.path} is there twice`);
    }
    seen.add(name);
    mounted.on(route.method, [route.path], (c) => handle(route, c));
  }
  // Errors have one place, and that is not here.
  mounted.onError((error) => {
    throw error;
  });
  return mounted;
}

/**
 * What the router is shown: the path alone, since a Host may be none. HEAD is a GET whose body the
 * listener leaves out, with its length. No route has PATCH, which stands for all that is unknown.
 */
function toRouted(method: string, path: string): Request {
  const routed = method === "HEAD" ? "GET" : ROUTED.has(method) ? method : "PATCH";
  return new Request(`http://localhost${path}`, { method: routed });
}

function requireScope(route: WebRoute, { scopes }: Caller): void {
  const needed = scopesOf(route);
  // Whoever a trusted proxy vouches for is not narrowed: the proxy is the authority.
  if (scopes === undefined || needed.some((scope) => includesScope(scopes, scope))) return;
  throw new ServiceError(
    "insufficient_scope",
    `The token needs the scope ${needed.join(" or ")} for this, and has ${
      scopes.join(", ") || "none"
    }`,
  );
}

function requireOn({ off }: WebRoute): void {
  const remedy = off?.();
  if (remedy === undefined) return;
  throw new ServiceError("not_enabled", `This part is off: ${remedy}`);
}

function pathsOf(routes: readonly WebRoute[], access: PublicRoute["access"]): ReadonlySet<string> {
  return new Set(routes.filter((route) => route.access === access).map(({ path }) => path));
}

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf("?");
  if (start === -1) return new URLSearchParams();
  const end = url.indexOf("#", start);
  return new URLSearchParams(url.slice(start + 1, end === -1 ? undefined : end));
}

function shown(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
