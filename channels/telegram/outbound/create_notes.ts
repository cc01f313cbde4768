/**
 * What the agent is doing, in one silent message of a turn.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { type Memory, StatusNotes } from "../../../lib/channel/platform/mod.ts";
import { toTelegramHtml } from "../text/to_telegram_html.ts";
import { everyMsIn, parseChat } from "./chat_place.ts";
import type { Chats } from "./chats.ts";
import { editText, sendText, type SentMessage } from "./send_text.ts";

/** What notes are shown with. */
export interface NotesDeps {
  /** In private, each bot counts the messages anew. */
  botId: number;
  chats: Chats;
  memory: Memory;
  clock: Clock;
  signal: AbortSignal;
}

/** A note that stands in a chat. */
export interface SentNote {
  botId: number;
  sent: SentMessage;
}

/** Characters of a note. */
const MAX_CHARS = 300;

export function createNotes(
  { botId, chats, memory, clock, signal }: NotesDeps,
): StatusNotes<SentNote> {
  return new StatusNotes<SentNote>({
    async post(chatId, text) {
      const html = toTelegramHtml(text);
      const options = { isSilent: true, signal };
      return { botId, sent: await sendText(chats, parseChat(chatId), { html }, options) };
    },
    edit: ({ sent }, text) => editText(chats, sent, { html: toTelegramHtml(text) }, { signal }),
    async remove(note) {
      if (note.botId !== botId) return;
      await chats.deliver("deleteMessage", note.sent, { signal, isRepeatable: true });
    },
    memory,
    clock,
    everyMs: everyMsIn,
  });
}

/** What of a text is shown. */
export function noteText(markdown: string): string {
  return markdown.trim().slice(0, MAX_CHARS).toWellFormed();
}
