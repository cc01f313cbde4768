/**
 * One line for the start that says who is let in at the WebSocket port.
 *
 * @module
 */

import { issueSecret } from "../../../config/issue_secret.ts";
import type { WebsocketConfig } from "../../../config/schema.ts";
import type { TrustedProxy } from "../../../trusted_proxy/create_trusted_proxy.ts";

/** Such as `issued tokens, given to trusted users of this machine; any client_id`. */
export function posture(
  config: WebsocketConfig,
  proxy?: Pick<TrustedProxy, "posture">,
): string {
  const { token, websocketRequiresToken, tokenIssuePath, socketPath, allowFrom } = config;
  const isOpen = token === "" && !websocketRequiresToken;
  const tokens = isOpen
    ? "anybody who reaches the port, without a token"
    : token === ""
    ? "issued tokens"
    : "the static token and issued ones";
  const to = issueSecret(config) === undefined
    ? [
      ...tokenIssuePath === "" ? [] : [`whoever asks at ${tokenIssuePath}`],
      // On a Unix socket nobody is taken for one.
      ...socketPath === "" ? ["trusted users of this machine"] : [],
    ].join(", and ") || "nobody"
    : `whoever shows the secret${tokenIssuePath === "" ? "" : ` (also at ${tokenIssuePath})`}`;
  const ids = allowFrom.includes("*")
    ? "any client_id"
    : `${allowFrom.length} client_id${allowFrom.length === 1 ? "" : "s"}`;
  return [
    ...proxy === undefined ? [] : [proxy.posture],
    isOpen ? `${tokens}; tokens are given to ${to}` : `${tokens}, given to ${to}`,
    ids,
  ].join("; ");
}
