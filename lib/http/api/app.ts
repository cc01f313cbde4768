/**
 * The HTTP API: one fetch handler over the agent's turns.
 *
 * Order of a request: browser guard, key, routing, so that a page cannot guess keys and a stranger
 * cannot learn routes. Every error leaves in the envelope, and every request leaves one log line.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { Hono } from "hono";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Turns } from "../../contract/turns.ts";
import type { Config } from "../../config/schema.ts";
import type { DocumentReader } from "../../contract/documents.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Journal } from "../../contract/journal.ts";
import type { AgentAccess } from "../../mcp/serve/agent_access.ts";
import type { Log } from "../../base/log.ts";
import type { Scrubber } from "../../secrets/scrubber.ts";
import type { AccessEntry } from "../access_log.ts";
import { BearerAuth } from "../auth.ts";
import { AuthFailures } from "../auth_failures.ts";
import { isPreflight, preflightResponse } from "../cors.ts";
import { Bodies } from "../body.ts";
import { bodyType, BrowserGuard } from "../guard.ts";
import type { Ends, LocalUserCheck } from "../local_user_check.ts";
import { createRequestEdge } from "../request_edge.ts";
import { allowedMethods, describeMethods } from "../route_methods.ts";
import { isLoopbackHost } from "../../base/loopback_host.ts";
import { APPROVALS_PATH } from "../../operations/approvals.ts";
import type { Operate } from "../../operations/operations.ts";
import { addApprovalRoutes } from "./approvals.ts";
import { CHAT_ROUTE, createChat } from "./chat/chat.ts";
import { OfferedApprovals } from "./chat/offered_approvals.ts";
import { type Checks, health, ready } from "./health.ts";
import { createMcpRoute, MCP_ROUTE } from "./mcp.ts";
import { type ApiModel, listModels, retrieveModel } from "./models.ts";
import { OpenStreams } from "./open_streams.ts";
import { createTurnOpener } from "./open_turn.ts";
import { createOpenApi } from "./openapi/route.ts";
import { Readers } from "./readers.ts";
import type { RequestContext } from "./request_context.ts";
import { addResponsesRoutes } from "./responses/routes.ts";

/** What the API is made of. */
export interface ApiDeps {
  turns: Turns;
  documents: DocumentReader;
  /** Asks the authority for what approvers may do. */
  operate: Operate;
  /** The agent for POST /mcp, which is there when the configuration says so. */
  agent?: AgentAccess;
  /** Tells the service's user from others, while there is no key. */
  localUsers: Pick<LocalUserCheck, "require">;
  /** The index of responses. */
  responses: Journal["responses"];
  /** The one model; asked for each time, so that it may change. */
  model: () => ApiModel;
  /** The configuration's section `api`; `attended` and `timeoutS` are read for every turn. */
  config: Config["api"];
  version: string;
  /** For GET /ready. */
  checks: () => Checks | Promise<Checks>;
  /** Takes secrets out of errors; absent: there are none. */
  scrubber?: Pick<Scrubber, "value">;
  accessLog: (entry: AccessEntry) => void;
  log: Pick<Log, "error" | "info">;
  clock?: Clock;
  /** Default: random. */
  newRequestId?: () => string;
}

/** The API, ready to be listened for. */
export interface Api {
  /** Answers a request; never throws. Without a socket nobody can say whose the connection is. */
  fetch(request: Request, peerAddress: string, socket?: Ends): Promise<Response>;
  /** Ends every open event stream with an error line. Call it before the listener is closed. */
  endStreams(): void;
  /** Event streams that are open. */
  readonly openStreams: number;
  /** What it answers, as the router has it, such as `GET /v1/models/:id{.+}`. */
  readonly routes: readonly { method: string; path: string }[];
}

type Routes = Hono<{ Bindings: RequestContext }>;

/**
 * Puts the API together. Throws `config_invalid` for a host beyond loopback without a key, or a key
 * that no client could send.
 */
export function createApi(deps: ApiDeps): Api {
  const { config, clock = systemClock } = deps;
  const guard = new BrowserGuard(config);
  const { authFailuresPerMinute: perMinute } = config;
  const failures = new AuthFailures({ perMinute, elapsed: clock.elapsed });
  const auth = createAuth(config, failures);
  const streams = new OpenStreams();
  const edge = createRequestEdge({ ...deps, guard, clock });
  const routes = createRoutes(deps, { clock, streams, failures, anonymous: auth === undefined });

  async function answer(
    request: Request,
    path: string,
    context: RequestContext,
    socket: Ends | undefined,
  ) {
    const isHealth = path === "/health";
    guard.check(request, { anyHost: isHealth });
    if (isPreflight(request)) return preflightResponse(request, allowedMethods(routes, path));
    if (request.method === "POST") bodyType(request);
    if (!isHealth && !hasOwnCredentials(path)) {
      if (auth === undefined) await deps.localUsers.require(socket, "api.apiKey");
      else auth.check(request.headers.get("authorization"), context.peer);
    }
    if (request.method === "OPTIONS") return describeMethods(allowedMethods(routes, path));
    return await routes.fetch(request.method === "HEAD" ? asGet(request, path) : request, context);
  }

  return {
    fetch: (request, peer, socket) =>
      edge(request, peer, (path, context) => answer(request, path, context, socket)),
    endStreams: () => streams.endAll(),
    get openStreams() {
      return streams.size;
    },
    routes: routes.routes,
  };
}

/** Routes that ask for a token of their own, and not for the API's key. */
function hasOwnCredentials(path: string): boolean {
  return path === APPROVALS_PATH || path.startsWith(`${APPROVALS_PATH}/`);
}

function createAuth(config: Config["api"], failures: AuthFailures): BearerAuth | undefined {
  if (config.apiKey === "") {
    if (isLoopbackHost(config.host)) return undefined;
    throw new ServiceError(
      "config_invalid",
      `api.apiKey must be set when api.host is beyond loopback, and api.host is "${config.host}"`,
      { param: "api.apiKey" },
    );
  }
  return new BearerAuth({ key: config.apiKey, setting: "api.apiKey", failures });
}

function createRoutes(
  deps: ApiDeps,
  { clock, streams, failures, anonymous }: {
    clock: Clock;
    streams: OpenStreams;
    failures: AuthFailures;
    anonymous: boolean;
  },
): Routes {
  const { turns, documents, model, config, version, checks } = deps;
  const readers = new Readers({ turns, clock });
  const credential = credentialOf(config);
  const opener = createTurnOpener({
    turns,
    documents,
    readers,
    config,
    actor: anonymous ? "api:anonymous" : "api:key",
    credential,
  });
  const bodies = new Bodies({ clock });
  const approvals = new OfferedApprovals({ ...deps, readers, failures, credential, clock });
  const chat = createChat({ bodies, opener, approvals, model, streams, clock });
  const routes: Routes = new Hono();
  routes.get("/health", health);
  routes.get("/ready", async () => ready(await checks(), version));
  const openApi = createOpenApi({ version });
  routes.get("/openapi.json", (c) => openApi(c.req.raw));
  routes.get("/v1/models", () => listModels(model()));
  // Ids hold slashes: `<provider>/<id>`.
  routes.get("/v1/models/:id{.+}", (c) => retrieveModel(model(), c.req.param("id")));
  routes.post(CHAT_ROUTE, (c) => chat(c.req.raw, c.env));
  addResponsesRoutes(routes, { ...deps, bodies, opener, readers, credential, streams, clock });
  addApprovalRoutes(routes, { operate: deps.operate, failures, clock });
  addMcpRoute(routes, deps, streams, clock);
  routes.notFound((c) => {
    const allow = allowedMethods(routes, c.req.path);
    if (allow === "") {
      const hint = c.req.path === MCP_ROUTE ? ": api.mcp is false, which keeps it off" : "";
      throw new ServiceError("not_found", `There is no such route${hint}`);
    }
    c.env.allow = allow;
    throw new ServiceError("method_not_allowed", `This route has ${allow}`);
  });
  // Errors have one place, and that is not here.
  routes.onError((error) => {
    throw error;
  });
  return routes;
}

function addMcpRoute(
  routes: Routes,
  { agent, config, version, scrubber }: ApiDeps,
  streams: OpenStreams,
  clock: Clock,
): void {
  if (agent === undefined || !config.mcp) return;
  if (config.apiKey === "") {
    throw new ServiceError("config_invalid", "api.apiKey must be set when api.mcp is true", {
      param: "api.apiKey",
    });
  }
  const mcp = createMcpRoute({ access: agent, version, streams, clock, scrubber });
  routes.post(MCP_ROUTE, (c) => mcp(c.req.raw, c.env));
}

/** What tells the callers of one key from those of another, without saying the key. */
function credentialOf({ apiKey }: Config["api"]): string {
  return createHash("sha256").update(`api:${apiKey}`).digest("hex");
}

/** Whoever sends the answer leaves out its body but keeps its length; the router would lose both. */
function asGet({ headers }: Request, path: string): Request {
  return new Request(`http://localhost${path}`, { headers });
}
