/**
 * Chats of the channel: a room, or a thread in it, `!room:example.org/$event`.
 *
 * @module
 */

import { isChatId } from "../../lib/base/chat_address.ts";

/** Where something is written. */
export interface MatrixPlace {
  roomId: string;
  /** Event that a thread hangs on. */
  threadId?: string;
}

/** The id of a chat; undefined where it cannot be one. A thread whose id is too long is its room. */
export function chatIdOf({ roomId, threadId }: MatrixPlace): string | undefined {
  const withThread = `${roomId}/${threadId}`;
  if (threadId !== undefined && isChatId(withThread)) return withThread;
  return isChatId(roomId) ? roomId : undefined;
}

/** The place of a chat; undefined for what is none. */
export function placeOf(chatId: string): MatrixPlace | undefined {
  // Ids of events may hold a slash, but begin with a mark of their own.
  const at = chatId.indexOf("/$");
  const roomId = at < 0 ? chatId : chatId.slice(0, at);
  if (!/^![^\s\p{Cc}]{1,255}$/u.test(roomId)) return undefined;
  return at < 0 ? { roomId } : { roomId, threadId: chatId.slice(at + 1) };
}
