/**
 * Which channels prove who writes (decisions E4).
 *
 * @module
 */

import type { Config } from "../../config/schema.ts";

/**
 * Whether the senders of a channel are who they say. Of those that live in the service it is `webui`
 * alone, the people whom the trusted proxy vouches for, and only while there is one: a `client_id` on
 * the WebSocket port is what its client likes.
 */
export function verifiedSenders(
  { websocket }: { websocket: Pick<Config["channels"]["websocket"], "trustedProxyAuth"> },
): (channel: string) => boolean {
  return (channel) => channel === "webui" && websocket.trustedProxyAuth !== null;
}
