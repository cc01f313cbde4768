/**
 * Which conversation a mail belongs to. A thread with a person is a chat: `<address>#<thread>`, so that an
 * answer goes to the thread that it answers, and nobody is in a thread of somebody else.
 *
 * @module
 */

import { isAddress } from "./address.ts";
import { type HeaderField, valuesOf } from "./header_fields.ts";
import { messageIdsIn, threadKey, threadOfOwn } from "./message_ids.ts";

export interface MailThread {
  /** 16 hex digits. */
  key: string;
  /** It begins here. */
  isNew: boolean;
  /** Ids for the References of an answer, the mail's own last; bounded. */
  references: string[];
}

/** Ids that an answer refers to: the first, and the last ones (RFC 5322 3.6.4). */
const MAX_REFERENCES = 20;

/** `fallbackId`: stands for a mail without an id of its own. */
export async function mailThread(
  fields: readonly HeaderField[],
  fallbackId: string,
): Promise<MailThread> {
  const before = [
    ...new Set([
      ...valuesOf(fields, "references").flatMap(messageIdsIn),
      ...valuesOf(fields, "in-reply-to").flatMap(messageIdsIn),
    ]),
  ];
  const own = valuesOf(fields, "message-id").flatMap(messageIdsIn).slice(0, 1);
  const known = before.map(threadOfOwn).find((thread) => thread !== undefined);
  const all = [...before.filter((id) => id !== own[0]), ...own];
  return {
    key: known ?? await threadKey(before[0] ?? own[0] ?? fallbackId),
    isNew: before.length === 0,
    references: all.length > MAX_REFERENCES ? [all[0]!, ...all.slice(1 - MAX_REFERENCES)] : all,
  };
}

/** The id of a chat. */
export function chatIdOf({ address, thread }: { address: string; thread: string }): string {
  return `${address}#${thread}`;
}

/** A chat in its parts; without a thread where a mail is to begin one. Undefined for what is none. */
export function readChatId(chatId: string): { address: string; thread?: string } | undefined {
  const match = /^(.*)#([0-9a-f]{16})$/.exec(chatId);
  const [address, thread] = match !== null && isAddress(match[1]!)
    ? [match[1]!, match[2]!]
    : [chatId, undefined];
  if (!isAddress(address)) return undefined;
  return { address: address.toLowerCase(), ...thread !== undefined && { thread } };
}
