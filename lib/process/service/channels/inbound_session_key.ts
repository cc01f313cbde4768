/**
 * The session that a message of a channel belongs to.
 *
 * @module
 */

import { requestDigest } from "../../../base/request_digest.ts";
import type { InboundMessage } from "../../../contract/inbound_message.ts";

/** Characters that a key has behind its colon. */
const MAX_CHARS = 256;

/** Those of a longer one that can still be read. */
const SHOWN_CHARS = 160;

/**
 * The message's own session, else that of its chat: `<runtime name>:<chat id>`. Spaces, which a key
 * cannot hold, and percent signs stand in it as in a URL, so that no two chats share one. What gets too
 * long by that ends in a digest of the chat's id, behind what stands in no other key.
 */
export function inboundSessionKey(
  runtimeName: string,
  { chatId, sessionKey }: Pick<InboundMessage, "chatId" | "sessionKey">,
): string {
  if (sessionKey !== undefined) return sessionKey;
  const escaped = chatId.replaceAll(/[%\s]/g, (char) => encodeURIComponent(char));
  if (escaped.length <= MAX_CHARS) return `${runtimeName}:${escaped}`;
  const shown = escaped.slice(0, SHOWN_CHARS).toWellFormed();
  return `${runtimeName}:${shown}%~${requestDigest(chatId)}`;
}
