/**
 * Whether a message in a room is meant for the account, and its text without the name in front.
 *
 * @module
 */

import type { ReadMessage } from "./read_message.ts";

/** How the account is called. */
export interface OwnNames {
  userId: string;
  displayName: string | undefined;
}

/** By a mention, its name or id as a word, a link to it, or as a command. Replies are looked up elsewhere. */
export function isAddressed(message: ReadMessage, me: OwnNames): boolean {
  const { text, html, mentions } = message;
  if (mentions?.includes(me.userId)) return true;
  if (isCommand(withoutName(text, me))) return true;
  const link = `https://matrix.to/#/${me.userId}`.toLowerCase();
  const page = html.toLowerCase();
  if (page.includes(`"${link}"`) || page.includes(`"${link.replace("@", "%40")}"`)) return true;
  return namesOf(me).some((name) => hasWord(text, name));
}

/** The text without `helper:` or `@helper:example.org` in front, so that a command is one. */
export function withoutName(text: string, me: OwnNames): string {
  const start = text.trimStart();
  for (const name of namesOf(me)) {
    for (const shown of [`@${name}`, name]) {
      if (start.slice(0, shown.length).toLowerCase() !== shown.toLowerCase()) continue;
      const rest = start.slice(shown.length);
      // Part of a longer word is not the name.
      if (!/^[\s:,]/.test(rest)) continue;
      const said = rest.replace(/^[\s:,]+/, "");
      if (said !== "") return said;
    }
  }
  return text;
}

function isCommand(text: string): boolean {
  // A path in a file system is none.
  return /^\/[A-Za-z][\w-]*(?:\s|$)/.test(text);
}

/** The longest first: an id begins with the name. */
function namesOf({ userId, displayName }: OwnNames): string[] {
  return [userId, ...displayName === undefined ? [] : [displayName]]
    .filter((name) => name.trim() !== "");
}

function hasWord(text: string, name: string): boolean {
  const [all, word] = [text.toLowerCase(), name.toLowerCase()];
  for (let at = all.indexOf(word); at >= 0; at = all.indexOf(word, at + 1)) {
    const [before, after] = [all.slice(0, at).at(-1), all[at + word.length]];
    if (!isWordMark(before) && !isWordMark(after)) return true;
  }
  return false;
}

function isWordMark(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character);
}
