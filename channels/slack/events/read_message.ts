/**
 * Events of messages, and messages of a conversation's history, as the channel takes them
 * (https://docs.slack.dev/reference/events/message).
 *
 * @module
 */

import { textOf } from "../api/slack_api.ts";
import { chatIdOf, CONVERSATION, timeOfTs, TS } from "./chat_id.ts";
import { type FileNote, readFiles } from "./read_files.ts";
import { senderIdOf, type SlackSelf } from "./slack_self.ts";

/** A message that somebody has written, as it waits on the disk. Plain JSON. */
export interface SlackMessage {
  kind: "message";
  channel: string;
  ts: string;
  chatId: string;
  userId: string;
  senderId: string;
  /** Slack's mrkdwn. */
  text: string;
  /** Messages that were forwarded with it, in mrkdwn too. */
  shared?: { text: string; author: string }[];
  files: FileNote[];
  sentAt: number;
  /** It is an earlier one as it was changed then; without text and files: it was deleted. */
  editedTs?: string;
}

/** What decides whether a message is heard. */
export interface HearingRules {
  self: SlackSelf;
  respond: string;
  replyInThread: boolean;
  /** Whether the app takes part in the thread. */
  isInThread(chatId: string): boolean;
}

/** Those that a person writes; all others tell of something else, or that a message has changed. */
const HEARD_SUBTYPES: ReadonlySet<string> = new Set([
  "",
  "file_share",
  "me_message",
  "thread_broadcast",
]);

/** Forwarded messages that are looked at. */
const MAX_SHARED = 10;

/** Characters of one of them. */
const MAX_SHARED_CHARS = 20_000;

/** Files of a message and of what was forwarded with it that are looked at. */
const MAX_FILES = 20;

/** Characters of a text that are looked at; Slack has at most 40,000. */
const MAX_TEXT_CHARS = 200_000;

/**
 * The message of an event; undefined for one that is not for us: of a program, of ourselves, of nobody,
 * or in a channel without being addressed. The two events of one message, `message` and `app_mention`,
 * give the same.
 */
export function readMessage(event: unknown, rules: HearingRules): SlackMessage | undefined {
  const subtype = textOf(event, "subtype");
  const isGone = subtype === "message_deleted";
  if (!isGone && subtype !== "message_changed") return readWritten(event, rules);
  const { message, previous_message: previous, channel, channel_type } = event as Record<
    string,
    unknown
  >;
  // A link that is unfolded changes a message, too.
  const editedTs = isGone ? textOf(event, "ts") : textOf(message, "edited", "ts");
  if (!TS.test(editedTs)) return undefined;
  const written = { ...(isGone ? previous : message) as object };
  const found = readWritten({ ...written, type: "message", channel, channel_type }, rules);
  return found && { ...found, ...isGone && { text: "", shared: [], files: [] }, editedTs };
}

function readWritten(event: unknown, rules: HearingRules): SlackMessage | undefined {
  const type = textOf(event, "type");
  if (type !== "message" && type !== "app_mention") return undefined;
  const { self } = rules;
  const [channel, ts, userId] = ["channel", "ts", "user"].map((key) => textOf(event, key)) as [
    string,
    string,
    string,
  ];
  if (!CONVERSATION.test(channel) || !TS.test(ts)) return undefined;
  if (!/^[UW][A-Z0-9]{1,30}$/.test(userId) || userId === "USLACKBOT") return undefined;
  if (!HEARD_SUBTYPES.has(textOf(event, "subtype"))) return undefined;
  if (userId === self.userId || textOf(event, "bot_id") !== "") return undefined;
  if ((event as { hidden?: unknown }).hidden === true) return undefined;
  const own = textOf(event, "text");
  const isDirect = channel.startsWith("D") || textOf(event, "channel_type") === "im";
  const root = textOf(event, "thread_ts");
  // The first message of a thread names itself as soon as there is a second one; it stays what it was.
  const threadTs = root === ts ? "" : root;
  const thread = TS.test(threadTs) ? threadTs : !isDirect && rules.replyInThread ? ts : undefined;
  const chatId = chatIdOf({ channel, ...thread !== undefined && { threadTs: thread } });
  const isHeard = isDirect || rules.respond === "all" || type === "app_mention" ||
    mentions(own, self.userId) ||
    TS.test(threadTs) &&
      (textOf(event, "parent_user_id") === self.userId || rules.isInThread(chatId));
  if (!isHeard) return undefined;
  const { files } = event as { files?: unknown };
  const [file]: unknown[] = Array.isArray(files) ? files : [];
  // An event of a file may say nowhere else that somebody of another workspace has shared it.
  const teamId = textOf(event, "user_team") || textOf(event, "user_profile", "team") ||
    textOf(event, "team") || textOf(file, "user_team");
  const shared = sharedIn(event);
  return {
    kind: "message",
    channel,
    ts,
    chatId,
    userId,
    senderId: senderIdOf(userId, teamId, self),
    text: own.slice(0, MAX_TEXT_CHARS).toWellFormed(),
    ...shared.length > 0 && { shared: shared.map(sharedWords) },
    files: [...readFiles(event, userId), ...shared.flatMap((one) => readFiles(one))]
      .slice(0, MAX_FILES),
    sentAt: timeOfTs(ts),
  };
}

/** Messages that were forwarded with it. */
function sharedIn(event: unknown): unknown[] {
  const { attachments } = event as { attachments?: unknown };
  if (!Array.isArray(attachments)) return [];
  return attachments.slice(0, MAX_SHARED)
    .filter((one) => (one as { is_share?: unknown } | null)?.is_share === true);
}

function sharedWords(shared: unknown): { text: string; author: string } {
  const text = textOf(shared, "text") || textOf(shared, "fallback");
  return {
    text: text.slice(0, MAX_SHARED_CHARS).toWellFormed(),
    author: textOf(shared, "author_name").slice(0, 200).toWellFormed(),
  };
}

/** Whether a text names a member, in either form that Slack writes. */
function mentions(text: string, userId: string): boolean {
  return text.includes(`<@${userId}>`) || text.includes(`<@${userId}|`);
}
