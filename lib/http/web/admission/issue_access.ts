/**
 * Who may be given tokens over the WebSocket port (decisions C "Issued tokens", "Bootstrap").
 *
 * @module
 */

import type { Credential } from "../../../authority/operator.ts";
import { issueSecret } from "../../../config/issue_secret.ts";
import type { WebsocketConfig } from "../../../config/schema.ts";
import { ServiceError } from "../../../errors.ts";
import { bearer } from "../../auth.ts";
import type { Arrival } from "../web_route.ts";
import type { Admission } from "./create_admission.ts";
import { foreignReason } from "./local_browser.ts";
import { sameSecret } from "./same_secret.ts";

/** What deciding needs. */
export interface IssueAccessDeps {
  config: WebsocketConfig;
  admission: Pick<Admission, "refuseSecret">;
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
  { config, admission }: IssueAccessDeps,
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

/** Throws `forbidden_origin` for whoever is not on this machine, while no secret is set. */
export function requireLocal(
  request: Request,
  arrival: Arrival,
  { config }: Pick<IssueAccessDeps, "config">,
): void {
  const reason = foreignReason(request, arrival, config.trustedProxyAuth);
  if (reason === undefined) return;
  throw new ServiceError(
    "forbidden_origin",
    "While no secret is set (channels.websocket.tokenIssueSecret), a browser on this machine alone is " +
      `given tokens, and this request is none: ${reason}`,
  );
}
