/**
 * How a chat on a channel is named: in the `message` tool, in `gates.messageTargets` and in records.
 * Names are compared exactly, so nothing that a person cannot see may stand in one.
 *
 * @module
 */

/** A channel, or one of its instances: `telegram`, `telegram.work`. */
export const CHANNEL_NAME = /^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_-]+)?$/;

/** Characters of a channel's name with its instance. */
export const MAX_CHANNEL_CHARS = 128;

/** Characters of a chat's id. */
export const MAX_CHAT_ID_CHARS = 256;

/** Stands for every chat of a channel in a list of targets, and so for no chat. */
const ANY_CHAT = "*";

/** What a target in a list has to look like, for messages. */
export const TARGET_FORM = "<channel>:<chat_id> or <channel>:*, such as telegram:12345";

/** Control characters, invisible ones that change how the others are shown, halves of characters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Whether a text may be the id of a chat. */
export function isChatId(text: string): boolean {
  return text.trim() !== "" && text.length <= MAX_CHAT_ID_CHARS && text !== ANY_CHAT &&
    !HIDDEN.test(text);
}

/** Whether a text may be the name of a channel or of an instance. */
export function isChannelName(text: string): boolean {
  return text.length <= MAX_CHANNEL_CHARS && CHANNEL_NAME.test(text);
}

/** A target in its parts. A channel's name holds no colon, a chat's id may. */
export function splitTarget(target: string): { channel: string; chatId: string } | undefined {
  const at = target.indexOf(":");
  if (at < 0) return undefined;
  return { channel: target.slice(0, at), chatId: target.slice(at + 1) };
}

/** Whether a text is a target of {@linkcode TARGET_FORM}. */
export function isTarget(text: string): boolean {
  const parts = splitTarget(text);
  return parts !== undefined && isChannelName(parts.channel) &&
    (parts.chatId === ANY_CHAT || isChatId(parts.chatId));
}

/** Whether a list of targets names this chat: exactly, or by all chats of its channel. */
export function namesChat(
  targets: readonly string[],
  { channel, chatId }: { channel: string; chatId: string },
): boolean {
  return targets.some((target) => {
    const listed = splitTarget(target);
    return listed?.channel === channel &&
      (listed.chatId === ANY_CHAT || listed.chatId === chatId);
  });
}
