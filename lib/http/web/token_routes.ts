/**
 * Routes that give out tokens: the issue path for whoever shows the secret, and a token for a socket in
 * exchange for one for routes.
 *
 * @module
 */

import { z } from "zod";
import type { Operate } from "../../operations/operations.ts";
import { type Scope, SCOPES } from "../../contract/credentials.ts";
import type { WebsocketConfig } from "../../config/schema.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Admission } from "./admission/admission.ts";
import {
  ISSUE_ERRORS,
  type IssueAccessDeps,
  requireIssueSecret,
  requireLocal,
} from "./admission/issue_access.ts";
import type { WebRoute } from "./web_route.ts";

/** Where a token for routes is exchanged. */
const SOCKET_TOKEN_PATH = "/api/webui/socket-token";

/** What the routes need. */
export interface TokenRoutesDeps {
  config: WebsocketConfig;
  admission: Pick<Admission, "refuseSecret" | "socketTokens">;
  localUsers: IssueAccessDeps["localUsers"];
  operate: Operate;
  /** Milliseconds since 1970. */
  now: () => number;
}

const KINDS = ["socket", "api"] as const;

const issueQuery = z.object({
  scopes: z.string().optional().describe(`Some of ${SCOPES.join(", ")}, with commas; all without.`),
  kind: z.enum(KINDS).optional().describe("What the token is for; socket without."),
});

const issueAnswer = z.object({
  token: z.string(),
  expires_in: z.int().describe("Seconds that it holds."),
});

/** The routes; the issue path is among them when there is one. */
export function createTokenRoutes(deps: TokenRoutesDeps): WebRoute[] {
  const { config, admission: { socketTokens }, operate, now } = deps;

  const issue: WebRoute = {
    method: "GET",
    path: config.tokenIssuePath,
    access: "public",
    summary: "Issues a token for one WebSocket, or for the routes of this port (kind=api)",
    docs: {
      query: issueQuery,
      answer: issueAnswer,
      errors: ISSUE_ERRORS,
    },
    async handle({ request, arrival, query }) {
      const { credential, isOpen } = requireIssueSecret(request, arrival, deps);
      const scopes = readScopes(query);
      const kind = readKind(query);
      const expires = { expires_in: config.tokenTtlS };
      if (kind === "socket") {
        return Response.json({ token: socketTokens.issue(scopes), ...expires });
      }
      // It could approve actions: without a secret that is for who sits at this machine alone.
      if (isOpen) await requireLocal(request, arrival, deps);
      const { token } = await operate({ op: "tokens.issue_api", scopes }, credential);
      return Response.json({ token, ...expires });
    },
  };

  const exchange: WebRoute = {
    method: "POST",
    path: SOCKET_TOKEN_PATH,
    // Either may open a WebSocket; what it may do there is by the scopes again.
    scope: ["read", "chat"],
    summary: "Gives a token for one WebSocket with the caller's own scopes",
    docs: { answer: issueAnswer, errors: ["too_many_tokens"] },
    handle({ caller: { scopes, credential, expiresAt = Infinity } }) {
      if (scopes === undefined) {
        throw new ServiceError(
          "invalid_request",
          "Behind the trusted proxy a WebSocket needs no token: open it as it is",
        );
      }
      const from = credential.kind === "token" ? { credential, expiresAt } : undefined;
      const leftS = Math.max(0, Math.floor((expiresAt - now()) / 1_000));
      return Response.json({
        token: socketTokens.issue(scopes, from),
        expires_in: Math.min(config.tokenTtlS, leftS),
      });
    },
  };

  return config.tokenIssuePath === "" ? [exchange] : [issue, exchange];
}

/** An empty list was hardly meant as everything, so it is none. */
function readScopes(query: URLSearchParams): Scope[] {
  const [text, ...others] = query.getAll("scopes");
  if (text === undefined) return ["operate"];
  const names = text.split(",").map((name) => name.trim());
  const isScope = (name: string): name is Scope => SCOPES.some((scope) => scope === name);
  if (others.length === 0 && names.every(isScope)) {
    return SCOPES.filter((scope) => names.includes(scope));
  }
  throw new ServiceError(
    "invalid_request",
    `scopes is ${shown(query.getAll("scopes"))}; expected some of ${
      SCOPES.join(", ")
    }, with commas ` +
      "between",
    { param: "scopes" },
  );
}

function readKind(query: URLSearchParams): typeof KINDS[number] {
  const given = query.getAll("kind");
  if (given.length === 0) return "socket";
  const kind = KINDS.find((each) => given.length === 1 && each === given[0]);
  if (kind !== undefined) return kind;
  throw new ServiceError("invalid_request", `kind is ${shown(given)}; expected socket or api`, {
    param: "kind",
  });
}

function shown(values: readonly string[]): string {
  return values.map((value) => JSON.stringify(value.slice(0, 60))).slice(0, 3).join(" and ");
}
