/**
 * A route of the web app's port. Each states its scope; one that states none needs operate, and so does
 * anybody who adds one without thinking of it (document 2 part 5).
 *
 * @module
 */

import type { z } from "zod";
import type { Credential, Scope } from "../../authority/operator.ts";
import type { RequestContext } from "../api/request_context.ts";

/** Who calls a route. */
export interface Caller {
  /** `websocket:token` or `webui:<claim value>`; stands in records. */
  actor: string;
  /** For what the authority does; it checks again itself. */
  credential: Credential;
  /** Absent for whoever a trusted proxy vouches for, who is not narrowed. */
  scopes?: readonly Scope[];
  /** Whose chats are meant; absent: the default workspace. */
  workspaceKey?: string;
  /** The proxy's path to sign out, where there is one. */
  signOutPath?: string;
}

/** One call of a route. */
export interface WebCall {
  request: Request;
  /** Parts of the path by their names. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  caller: Caller;
  context: RequestContext;
  /** The body as JSON, checked. Throws `invalid_request` that names the field. */
  body<T>(schema: z.ZodType<T>): Promise<T>;
}

/** See the module. */
export interface WebRoute {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** As hono has it, such as `/api/webui/sessions/:id`. */
  path: string;
  /** Default: operate. */
  scope?: Scope;
  /** In a few words, for the docs and the table. */
  summary: string;
  /** Bytes of a body at most; default 64 KiB. */
  maxBodyBytes?: number;
  handle(call: WebCall): Response | Promise<Response>;
}
