/**
 * What a message on IRC means for the agent: whether it is addressed, where its answer goes, what it
 * says.
 *
 * @module
 */

import type { IrcLine } from "../connection/irc_framework.ts";
import { withoutCodes } from "./to_irc.ts";

/** What has to be known of the connection and the settings. */
export interface PrivmsgContext {
  /** Ours, as it is now. */
  nick: string;
  fold: (text: string) => string;
  isChannel: (target: string) => boolean;
  respond: "mention" | "all";
  /** Nicks of bots, in the folded form. */
  ignored: ReadonlySet<string>;
}

/** A message that the agent hears. */
export interface HeardMessage {
  /** The channel, or the nick of who wrote, in the folded form. */
  chatId: string;
  isPrivate: boolean;
  content: string;
}

/** Undefined for what is not for us: NOTICEs, CTCP, bots, and talk of others. */
export function readPrivmsg(line: IrcLine, context: PrivmsgContext): HeardMessage | undefined {
  const { command, nick, ident, hostname, params, tags } = line;
  const { fold, isChannel, respond, ignored } = context;
  const [target = "", text = ""] = params;
  if (command !== "PRIVMSG" || params.length !== 2) return undefined;
  // The server itself, and services of a bouncer.
  if (nick === "" || ident === "" || hostname === "" || nick.startsWith("*")) return undefined;
  const from = fold(nick);
  if (from === fold(context.nick) || ignored.has(from)) return undefined;
  if ("bot" in tags || "draft/bot" in tags || "inspircd.org/bot" in tags) return undefined;
  // What was said before we came.
  if ("batch" in tags) return undefined;
  // CTCP, ACTION too: never answered.
  if (text.startsWith("\x01")) return undefined;
  const said = withoutCodes(text).trim();
  const isPrivate = fold(target) === fold(context.nick);
  if (!isPrivate && !isChannel(target)) return undefined;
  const addressed = addressedText(said, context);
  const content = isPrivate || respond === "all" ? addressed ?? said : addressed;
  if (content === undefined || content === "") return undefined;
  return { chatId: isPrivate ? from : fold(target), isPrivate, content };
}

/** The text behind our name, or the whole text where `@name` stands in it; undefined for neither. */
function addressedText(
  text: string,
  { nick, fold }: Pick<PrivmsgContext, "nick" | "fold">,
): string | undefined {
  const name = fold(nick);
  const begins = text.startsWith("@") ? 1 : 0;
  if (fold(text.slice(begins, begins + nick.length)) === name) {
    const behind = text.slice(begins + nick.length);
    const rest = /^\s*[:,;]\s*|^\s+|^$/.exec(behind);
    if (rest !== null) return behind.slice(rest[0].length).trim();
  }
  for (let at = text.indexOf("@"); at !== -1; at = text.indexOf("@", at + 1)) {
    const end = at + 1 + nick.length;
    if (fold(text.slice(at + 1, end)) !== name || /[\w\-[\]\\`^{}|]/.test(text.charAt(end))) {
      continue;
    }
    if (at === 0 || /\s/.test(text.charAt(at - 1))) return text;
  }
  return undefined;
}
