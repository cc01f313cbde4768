/**
 * Who may be given tokens over the WebSocket port.
 *
 * @module
 */

import type { Credential } from "../../../contract/credentials.ts";
import { issueSecret } from "../../../config/issue_secret.ts";
import type { WebsocketConfig } from "../../../config/schema.ts";
import { type ErrorCode, ServiceError } from "../../../base/errors.ts";
import { bearer } from "../../auth.ts";
import type { LocalUserCheck } from "../../local_user_check.ts";
import type { Arrival } from "../web_route.ts";
import type { Admission } from "./admission.ts";
import { foreignReason } from "./local_browser.ts";
import { sameSecret } from "./same_secret.ts";

/** What a route that gives out tokens may answer. */
export const ISSUE_ERRORS: readonly ErrorCode[] = [
  "invalid_token",
  "too_many_auth_failures",
  "forbidden_origin",
  "forbidden_user",
  "too_many_tokens",
];

/** What deciding needs. */
export interface IssueAccessDeps {
  config: WebsocketConfig;
  admission: Pick<Admission, "refuseSecret">;
  localUsers: Pick<LocalUserCheck, "require">;
}

/** A secret that was shown is right, or none is in force. */
export interface IssueAccess {
  /** What the authority is to be shown. */
  credential: Extract<Credential, { kind: "issue_secret" }>;
  isOpen: boolean;
}

/**
 * Throws `invalid_token`, or `too_many_auth_failures`, when a secret is in force and another one, or none,
 * was shown as Bearer or in X-Service-Auth.
 */
export function requireIssueSecret(
  { headers }: Request,
  arrival: Arrival,
  { config, admission }: Pick<IssueAccessDeps, "config" | "admission">,
): IssueAccess {
  const secret = issueSecret(config);
  if (secret === undefined) return { credential: { kind: "issue_secret" }, isOpen: true };
  const shown = [bearer(headers.get("authorization")), headers.get("x-service-auth")?.trim()];
  if (shown.some((each) => each !== undefined && sameSecret(each, secret))) {
    return { credential: { kind: "issue_secret", secret }, isOpen: false };
  }
  return admission.refuseSecret(
    arrival,
    "The secret is missing or wrong: send it as Authorization: Bearer <secret> or X-Service-Auth",
  );
}

/**
 * While no secret is set: throws `forbidden_origin` for whoever is not on this machine, and
 * `forbidden_user` for other users of it.
 */
export async function requireLocal(
  request: Request,
  arrival: Arrival,
  { config, localUsers }: Pick<IssueAccessDeps, "config" | "localUsers">,
): Promise<void> {
  const reason = foreignReason(request, arrival, config.trustedProxyAuth);
  if (reason === undefined) {
    return await localUsers.require(arrival.socket, "channels.websocket.tokenIssueSecret");
  }
  throw new ServiceError(
    "forbidden_origin",
    "While no secret is set (channels.websocket.tokenIssueSecret), a browser on this machine alone is " +
      `given tokens, and this request is none: ${reason}`,
  );
}
