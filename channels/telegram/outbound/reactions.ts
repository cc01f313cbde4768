/**
 * Reactions that bots may use (Bot API, ReactionTypeEmoji).
 *
 * @module
 */

import type { ReactionTypeEmoji } from "grammy/types";

type Emoji = ReactionTypeEmoji["emoji"];

// deno-fmt-ignore -- one below the other they say no more
const REACTIONS = [
  "👍", "👎", "❤", "🔥", "🥰", "👏", "😁", "🤔", "🤯", "😱", "🤬", "😢", "🎉", "🤩", "🤮",
  "💩", "🙏", "👌", "🕊", "🤡", "🥱", "🥴", "😍", "🐳", "❤‍🔥", "🌚", "🌭", "💯", "🤣", "⚡",
  "🍌", "🏆", "💔", "🤨", "😐", "🍓", "🍾", "💋", "🖕", "😈", "😴", "😭", "🤓", "👻", "👨‍💻",
  "👀", "🎃", "🙈", "😇", "😨", "🤝", "✍", "🤗", "🫡", "🎅", "🎄", "☃", "💅", "🤪", "🗿",
  "🆒", "💘", "🙉", "🦄", "😘", "💊", "🙊", "😎", "👾", "🤷‍♂", "🤷", "🤷‍♀", "😡",
] as const satisfies readonly Emoji[];

/** Whether Telegram takes it. */
export function isReaction(text: string): text is Emoji {
  return (REACTIONS as readonly string[]).includes(text);
}
