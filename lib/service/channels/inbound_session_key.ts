/**
 * The session that a message of a channel belongs to.
 *
 * @module
 */

import type { InboundMessage } from "../../channel/inbound_message.ts";

/**
 * The message's own session, else that of its chat: `<runtime name>:<chat id>`. Spaces, which a key
 * cannot hold, and percent signs stand in it as in a URL, so that no two chats share one.
 */
export function inboundSessionKey(
  runtimeName: string,
  { chatId, sessionKey }: Pick<InboundMessage, "chatId" | "sessionKey">,
): string {
  if (sessionKey !== undefined) return sessionKey;
  return `${runtimeName}:${chatId.replaceAll(/[%\s]/g, (char) => encodeURIComponent(char))}`;
}
