/**
 * How chats of Slack are named: `<conversation>`, or `<conversation>:<ts of the thread's first message>`.
 *
 * @module
 */

/** A place that messages go to. */
export interface SlackPlace {
  /** `C…`, `G…`, `D…`, or the id of a member. */
  channel: string;
  threadTs?: string;
}

/** The time of a message, which is its id in its conversation. */
export const TS = /^\d{1,12}\.\d{1,6}$/;

/** The id of a conversation. */
export const CONVERSATION = /^[CDG][A-Z0-9]{1,30}$/;

const CHAT = /^([CDGUW][A-Z0-9]{1,30})(?::(\d{1,12}\.\d{1,6}))?$/;

/** The name of a chat. */
export function chatIdOf({ channel, threadTs }: SlackPlace): string {
  return threadTs === undefined ? channel : `${channel}:${threadTs}`;
}

/** What a name stands for; undefined where it is none. */
export function readChatId(chatId: string): SlackPlace | undefined {
  const [, channel, threadTs] = CHAT.exec(chatId) ?? [];
  if (channel === undefined) return undefined;
  return { channel, ...threadTs !== undefined && { threadTs } };
}

/** Milliseconds since 1970 of a `ts`. */
export function timeOfTs(ts: string): number {
  return Math.floor(Number(ts) * 1_000);
}

/** The first `ts` of a time. */
export function tsOfTime(ms: number): string {
  return (Math.max(0, ms) / 1_000).toFixed(6);
}
