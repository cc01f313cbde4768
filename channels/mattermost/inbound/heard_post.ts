/**
 * Which posts the bot hears, and as what.
 *
 * @module
 */

import { toChatId } from "../chat_address.ts";
import { isByProgram, type MattermostPost, type PostFile } from "./post.ts";

/** A post that is to be answered: plain JSON, all that taking it needs. */
export interface HeardPost {
  id: string;
  /** Of one that was edited, or deleted where nothing is left of it. */
  editedAt?: string;
  chatId: string;
  channelId: string;
  userId: string;
  /** Without the name that it begins with. */
  text: string;
  createAt: number;
  files: readonly PostFile[];
  senderName?: string;
}

/** What it depends on whether a post is heard. */
export interface HearingRules {
  /** Our own user id and name. */
  me: { id: string; username: string };
  respond: "mention" | "all";
  replyInThread: boolean;
  /** Whether we have written in the thread, or begun it. */
  isInThread: (rootId: string) => boolean;
}

/** Of posts that people write; the others are the server's, or a plugin's. */
const TYPES: ReadonlySet<string> = new Set(["", "me"]);

/**
 * The post as it is heard; undefined for one that is not. `isDirect`: nobody else is in the channel.
 * `isChange`: it came before, and is heard where that was.
 */
export function heardPost(
  post: MattermostPost,
  { isDirect, isChange }: { isDirect: boolean; isChange: boolean },
  rules: HearingRules,
): HeardPost | undefined {
  const { me, respond, replyInThread, isInThread } = rules;
  const { id, channelId, userId, rootId, createAt, files } = post;
  if (userId === me.id || !TYPES.has(post.type) || isByProgram(post)) return undefined;
  if (post.deleteAt > 0 || post.originalId !== "") return undefined;
  const { text, isNamed } = withoutName(post.message, me.username);
  if (text === "" && files.length === 0 && !isNamed && !isChange) return undefined;
  const isHeard = isChange || isDirect || respond === "all" || isNamed ||
    /^\/[a-z_]+(?:\s|$)/.test(text) ||
    (rootId !== "" && isInThread(rootId));
  if (!isHeard) return undefined;
  const thread = rootId !== "" ? rootId : !isDirect && replyInThread ? id : "";
  const content = text === "" && files.length === 0 ? post.message.trim() : text;
  return {
    id,
    ...isChange && { editedAt: String(post.editAt) },
    chatId: toChatId({ channelId, rootId: thread }),
    channelId,
    userId,
    text: content,
    createAt,
    files,
  };
}

/** The text without the name that it begins with; whether the name stands in it anywhere. */
function withoutName(message: string, username: string): { text: string; isNamed: boolean } {
  const name = username.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // A name may have dots in it, and one behind it ends a sentence.
  const end = "(?![\\w-]|\\.\\w)";
  const text = message.trim();
  const first = new RegExp(`^(?:@${name}${end}[\\s,:]*|${name}[,:]\\s*)`, "i").exec(text);
  if (first !== null) return { text: text.slice(first[0].length).trim(), isNamed: true };
  return { text, isNamed: new RegExp(`(?<![\\w@.-])@${name}${end}`, "i").test(text) };
}
