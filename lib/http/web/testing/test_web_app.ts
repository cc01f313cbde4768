/**
 * The app over routes of a test, with tokens that are played.
 *
 * @module
 */

import { configSchema } from "../../../config/schema.ts";
import type { AccessEntry } from "../../access_log.ts";
import { AuthFailures } from "../../auth_failures.ts";
import { BrowserGuard } from "../../guard.ts";
import { ManualClock } from "../../testing/manual_clock.ts";
import { createWebApp, type WebApp, type WebAppDeps } from "../app.ts";
import type { Caller, WebRoute } from "../web_route.ts";

/** Whom a token is. */
export type Tokens = Readonly<Record<string, Partial<Caller>>>;

/** A token of one scope each, named by it, and `person` whom a proxy vouches for. */
export const TOKENS: Tokens = {
  operate: { scopes: ["operate"] },
  read: { scopes: ["read"] },
  chat: { scopes: ["chat"] },
  approve: { scopes: ["approve"] },
  secrets: { scopes: ["secrets"] },
  nothing: { scopes: [] },
  person: { scopes: undefined, actor: "webui:ann", workspaceKey: "ab".repeat(32) },
  other: { scopes: undefined, actor: "webui:bob", workspaceKey: "cd".repeat(32) },
};

/** What a test can change. */
export interface TestWebAppOptions extends Partial<WebAppDeps> {
  tokens?: Tokens;
  allowedOrigins?: string[];
  perMinute?: number;
}

/** A request in short. */
export interface Asked {
  method?: string;
  token?: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The app with what it wrote. */
export interface TestWebApp {
  app: WebApp;
  clock: ManualClock;
  access: AccessEntry[];
  errors: { message: string; fields?: Record<string, unknown> }[];
  /** Asks as whoever `token` names. */
  ask(path: string, asked?: Asked): Promise<Response>;
}

/** Makes it. */
export function createTestWebApp(
  routes: readonly WebRoute[],
  { tokens = TOKENS, allowedOrigins = [], perMinute = 1_000_000, ...deps }: TestWebAppOptions = {},
): TestWebApp {
  const clock = new ManualClock();
  const access: AccessEntry[] = [];
  const errors: TestWebApp["errors"] = [];
  const { allowedHosts } = configSchema.parse({}).channels.websocket;
  const app = createWebApp({
    routes,
    guard: new BrowserGuard({ allowedHosts, allowedOrigins, setting: "channels.websocket" }),
    failures: new AuthFailures({ perMinute, elapsed: clock.elapsed }),
    callerOf: ({ headers }) => {
      const token = headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
      if (!Object.hasOwn(tokens, token)) return Promise.resolve(undefined);
      return Promise.resolve({
        actor: "websocket:token",
        credential: { kind: "token", token },
        ...tokens[token],
      });
    },
    accessLog: (entry) => void access.push(entry),
    log: { error: (message, fields) => void errors.push({ message, fields }) },
    clock,
    ...deps,
  });
  return {
    app,
    clock,
    access,
    errors,
    ask(path, { method = "GET", token, body, raw, headers, signal } = {}) {
      const sent = body === undefined ? raw : JSON.stringify(body);
      const request = new Request(`http://127.0.0.1${path}`, {
        method,
        signal,
        body: sent,
        headers: {
          host: "127.0.0.1:8765",
          ...token !== undefined && { authorization: `Bearer ${token}` },
          ...body !== undefined && {
            "content-type": "application/json",
            // As every client sends it.
            "content-length": String(new TextEncoder().encode(String(sent)).length),
          },
          ...headers,
        },
      });
      return app.fetch(request, { peerAddress: "127.0.0.1", headerValues: () => [] });
    },
  };
}

/** Status and code of an error. */
export async function refusal(response: Response): Promise<[status: number, code: string]> {
  const { error } = await response.json();
  return [response.status, error.code];
}
