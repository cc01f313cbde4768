/**
 * The secret that gives out tokens.
 *
 * @module
 */

import type { WebsocketConfig } from "./schema.ts";

/**
 * The secret in force at the issue path and at bootstrap: `tokenIssueSecret`,
 * else the static `token`; undefined while neither is set.
 */
export function issueSecret(
  { tokenIssueSecret, token }: Pick<WebsocketConfig, "tokenIssueSecret" | "token">,
): string | undefined {
  return tokenIssueSecret || token || undefined;
}
