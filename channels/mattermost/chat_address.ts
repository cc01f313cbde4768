/**
 * Names of chats: `<channel>`, or `<channel>/<first post>` for a thread.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../lib/channel/delivery_error.ts";
import { isId } from "./inbound/post.ts";

/** Where a message goes. */
export interface ChatAddress {
  channelId: string;
  /** Empty: into no thread. */
  rootId: string;
}

/** The chat of a place. */
export function toChatId({ channelId, rootId }: ChatAddress): string {
  return rootId === "" ? channelId : `${channelId}/${rootId}`;
}

/** The place of a chat. Throws PermanentDeliveryError for what is no chat of this platform. */
export function readChatId(chatId: string): ChatAddress {
  const [channelId, rootId = "", ...more] = chatId.split("/");
  if (!isId(channelId) || (rootId !== "" && !isId(rootId)) || more.length > 0) {
    throw new PermanentDeliveryError(
      `There is no chat ${JSON.stringify(chatId.slice(0, 80))}: expected <channel id>, or ` +
        "<channel id>/<post id> for a thread",
    );
  }
  return { channelId, rootId };
}
