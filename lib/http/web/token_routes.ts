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
import { check } from "../../listen/request_error.ts";
import type { Admission } from "./admission/admission.ts";
import { exchangeToken } from "./admission/exchange_token.ts";
import {
  ISSUE_ERRORS,
  type IssueAccessDeps,
  requireIssueSecret,
  requireLocal,
} from "./admission/issue_access.ts";
import { queryTexts } from "./query_texts.ts";
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

const scopesForm = `some of ${SCOPES.join(", ")}, with commas between`;
const kindForm = "socket or api";

const issueQuery = z.object({
  scopes: z.string().transform((text, context) => {
    const names = text.split(",").map((name) => name.trim());
    // An empty list was hardly meant as everything, so it is none.
    if (names.some((name) => !SCOPES.includes(name as Scope))) context.addIssue(scopesForm);
    return SCOPES.filter((scope) => names.includes(scope));
  }).optional().describe(`Some of ${SCOPES.join(", ")}, with commas; all without.`),
  kind: z.enum(["socket", "api"], kindForm).optional()
    .describe("What the token is for; socket without."),
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
      const { scopes = ["operate" as const], kind = "socket" } = check(
        issueQuery,
        queryTexts(issueQuery, query),
      );
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
    handle({ caller }) {
      const { scopes } = caller;
      if (scopes === undefined) {
        throw new ServiceError(
          "invalid_request",
          "Behind the trusted proxy a WebSocket needs no token: open it as it is",
        );
      }
      return Response.json(exchangeToken(caller, scopes, { socketTokens, now }));
    },
  };

  return config.tokenIssuePath === "" ? [exchange] : [issue, exchange];
}
