/**
 * A route of the web app's port. Each states its scope; one that states none needs operate, and so does
 * anybody who adds one without thinking of it.
 *
 * @module
 */

import type { z } from "zod";
import type { Credential, Scope } from "../../contract/credentials.ts";
import type { ErrorCode } from "../../base/errors.ts";
import type { ProxiedRequest } from "../../trusted_proxy/create_trusted_proxy.ts";
import type { RequestContext } from "../api/request_context.ts";
import type { Ends } from "../local_user_check.ts";

/** Who calls a route. */
export interface Caller {
  /** `websocket:token` or `webui:<claim value>`; stands in records. */
  actor: string;
  /** For what the authority does; it checks again itself. */
  credential: Credential;
  /** Absent for whoever a trusted proxy vouches for, who is not narrowed. */
  scopes?: readonly Scope[];
  /** When the token ends, milliseconds since 1970; absent: until it is revoked. */
  expiresAt?: number;
  /** Whose chats are meant; absent: the default workspace. */
  workspaceKey?: string;
  /** The proxy's path to sign out, where there is one. */
  signOutPath?: string;
}

/** How a request came, which its headers cannot say. */
export interface Arrival extends ProxiedRequest {
  /** The connection; absent where nobody can say whose it is. */
  readonly socket?: Ends;
}

/** One call of a route that is public. */
export interface PublicCall {
  request: Request;
  /** Parts of the path by their names, decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  arrival: Arrival;
  context: RequestContext;
  /** The body as JSON, checked. Throws `invalid_request` that names the field. */
  body<T>(schema: z.ZodType<T>): Promise<T>;
}

/** One call of a route, of somebody whose scope was checked. */
export interface WebCall extends PublicCall {
  caller: Caller;
}

/** What a route takes and gives, for the OpenAPI document. What is absent is not described. */
export interface RouteDocs {
  /** Parameters of the query. */
  query?: z.ZodObject;
  /** The JSON body; the schema that checks it. */
  body?: z.ZodType;
  /** The JSON of a 200, or of each of its lines. */
  answer?: z.ZodType;
  /** Of an answer that is no JSON, such as `application/x-ndjson`. */
  mediaType?: string;
  /** Beside those that every route has. */
  errors?: readonly ErrorCode[];
}

interface RouteHead {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** As hono has it, such as `/api/webui/sessions/:id`. */
  path: string;
  /** In a few words, for the docs and the table. */
  summary: string;
  /** The command that does the same. */
  command?: string;
  docs?: RouteDocs;
  /** Bytes of a body at most; default 64 KiB. */
  maxBodyBytes?: number;
  /** What to switch on while the part is off, which is answered with 503 `not_enabled`. */
  off?: () => string | undefined;
}

/** A route for callers who have shown who they are. */
export interface GuardedRoute extends RouteHead {
  access?: undefined;
  /** Default: operate. Of a list any one is enough. */
  scope?: Scope | readonly Scope[];
  handle(call: WebCall): Response | Promise<Response>;
}

/** A route that asks for no token, or for something of its own. */
export interface PublicRoute extends RouteHead {
  /** `page`: a link on any other page may lead here; `probe`: answered under any Host too. */
  access: "public" | "page" | "probe";
  scope?: undefined;
  handle(call: PublicCall): Response | Promise<Response>;
}

export type WebRoute = GuardedRoute | PublicRoute;

/** The scopes any one of which opens a route; none for one that asks for no token. */
export function scopesOf({ access, scope = "operate" }: WebRoute): readonly Scope[] {
  if (access !== undefined) return [];
  return typeof scope === "string" ? [scope] : scope;
}
