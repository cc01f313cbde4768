/**
 * Approvals as messages with two buttons. What a click means stands in the button, and what is needed to
 * take the buttons away in the channel's memory, so that both outlive a restart.
 *
 * @module
 */

import type { InlineKeyboardMarkup } from "grammy/types";
import type { Clock } from "../../../lib/agent/clock.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import type { OutboundEvent, OutboundMessage } from "../../../lib/channel/outbound_message.ts";
import { MAX_MESSAGE_CHARS, shownChars } from "../text/split_for_telegram.ts";
import { escapeTelegram, toTelegramHtml } from "../text/to_telegram_html.ts";
import type { WordKey, Words } from "../words.ts";
import type { Chats } from "./chats.ts";
import type { Sender } from "./sender.ts";
import { editText, type SentMessage } from "./send_text.ts";

export type ApprovalEvent = Extract<OutboundEvent, { type: "approval" }>;
export type ResolvedEvent = Extract<OutboundEvent, { type: "approval_resolved" }>;

/** What approvals are shown with. */
export interface ApprovalsDeps {
  chats: Chats;
  sender: Sender;
  memory: Memory;
  words: Words;
  clock: Pick<Clock, "now">;
  signal: AbortSignal;
}

/** What a click comes to: a command for the service, or a word for who clicked. */
export type ClickMeaning = { command: string; id: string } | { word: WordKey };

/** Bytes of what a button may hold (Bot API, InlineKeyboardButton). */
export const MAX_BUTTON_BYTES = 64;

/** Kinds of memory. */
const SHOWN = "approval";
const LONG = "button";

/** Who has answered one approval, the first of them; nobody else is kept from answering. */
const MAX_ANSWERED = 50;

interface Shown {
  sent: SentMessage;
  html: string;
  expiresAt: number;
  isOver: boolean;
  /** Ids of those who have clicked. */
  answered: string[];
}

/** See the module. */
export class Approvals {
  readonly #deps: ApprovalsDeps;

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
  }

  /** Shows it with its buttons. Rejects as `send` of a channel does. */
  async show(message: OutboundMessage, { id, digest, expiresAt }: ApprovalEvent): Promise<void> {
    const { sender, memory } = this.#deps;
    const keyboard = this.#keyboard(id, digest.slice(0, 8));
    const shown = await sender.send(message, { keyboard });
    if (shown === undefined) return;
    const { sent, part: { html } } = shown;
    const kept: Shown = { sent, html, expiresAt, isOver: false, answered: [] };
    memory.set(SHOWN, id, kept);
  }

  /** Takes the buttons away, and says how it came out where they were. Rejects as `send` does. */
  async resolve({ content }: OutboundMessage, { id, outcome }: ResolvedEvent): Promise<void> {
    const { chats, memory, words, signal } = this.#deps;
    const shown = memory.get<Shown>(SHOWN, id);
    // It was shown elsewhere, or so long ago that nobody looks for it.
    if (shown === undefined) return;
    const said = content.trim() === "" ? escapeTelegram(words(outcome)) : toTelegramHtml(content);
    const whole = `${shown.html}\n\n${said}`;
    const html = shownChars(whole) <= MAX_MESSAGE_CHARS ? whole : said;
    memory.set(SHOWN, id, { ...shown, isOver: true });
    await editText(chats, shown.sent, { html }, { signal });
  }

  /** What somebody means who clicked; undefined for a button that is none of these. */
  read(data: string, senderId: string): ClickMeaning | undefined {
    const { memory, clock } = this.#deps;
    const long = /^#([\w-]+)$/.exec(data)?.[1];
    const text = long === undefined ? data : memory.get<string>(LONG, long);
    // What its memory has lost.
    if (text === undefined) return { word: "over" };
    const match = /^([ad]):(\S{1,100}):([0-9a-f]{8})$/.exec(text);
    if (match === null) return undefined;
    const [, verdict, id, digest] = match;
    const shown = memory.get<Shown>(SHOWN, id!);
    if (shown !== undefined && (shown.isOver || shown.expiresAt <= clock.now())) {
      return { word: "over" };
    }
    if (shown?.answered.includes(senderId)) return { word: "alreadySent" };
    return { id: id!, command: verdict === "a" ? `/approve ${id} ${digest}` : `/deny ${id}` };
  }

  /** The service has somebody's command; a second one of theirs would say nothing new. */
  answered(id: string, senderId: string): void {
    const shown = this.#deps.memory.get<Shown>(SHOWN, id);
    if (shown === undefined || shown.answered.length >= MAX_ANSWERED) return;
    this.#deps.memory.set(SHOWN, id, { ...shown, answered: [...shown.answered, senderId] });
  }

  #keyboard(id: string, digest: string): InlineKeyboardMarkup {
    const { words } = this.#deps;
    const data = (verdict: "a" | "d") => this.#fitting(`${verdict}:${id}:${digest}`);
    return {
      inline_keyboard: [[
        { text: `✅ ${words("approve")}`, callback_data: data("a") },
        { text: `❌ ${words("deny")}`, callback_data: data("d") },
      ]],
    };
  }

  #fitting(data: string): string {
    if (new TextEncoder().encode(data).length <= MAX_BUTTON_BYTES) return data;
    const name = crypto.randomUUID();
    this.#deps.memory.set(LONG, name, data);
    return `#${name}`;
  }
}
