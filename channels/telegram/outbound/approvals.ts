/**
 * Approvals as messages with two buttons. What a click means stands in the button, and what is needed to
 * take the buttons away in the channel's memory, so that both outlive a restart.
 *
 * @module
 */

import type { InlineKeyboardMarkup } from "grammy/types";
import type { Clock } from "../../../lib/base/clock.ts";
import type { OutboundMessage } from "../../../lib/contract/outbound_message.ts";
import {
  approvalCommand,
  type ApprovalEvent,
  type ApprovalResolvedEvent,
  type Memory,
  ShownApprovals,
} from "../../../lib/channel/platform/mod.ts";
import { MAX_MESSAGE_CHARS, shownChars } from "../text/split_for_telegram.ts";
import { escapeTelegram, toTelegramHtml } from "../text/to_telegram_html.ts";
import type { WordKey, Words } from "../words.ts";
import type { Chats } from "./chats.ts";
import type { Sender } from "./sender.ts";
import { editText, type SentMessage } from "./send_text.ts";

/** What approvals are shown with. */
export interface ApprovalsDeps {
  chats: Chats;
  sender: Sender;
  memory: Memory;
  words: Words;
  clock: Pick<Clock, "now" | "elapsed">;
  signal: AbortSignal;
}

/** What a click comes to: a command for the service, or a word for who clicked. */
export type ClickMeaning = { command: string; id: string } | { word: WordKey };

/** Bytes of what a button may hold (Bot API, InlineKeyboardButton). */
const MAX_BUTTON_BYTES = 64;

/** Kind of memory: what did not fit a button. */
const LONG = "button";

/** A message that asks. */
interface Shown {
  sent: SentMessage;
  html: string;
}

export class Approvals {
  readonly #deps: ApprovalsDeps;
  readonly #shown: ShownApprovals<Shown>;

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
    this.#shown = new ShownApprovals(deps);
  }

  /** Shows it with its buttons. Rejects as `send` of a channel does. */
  async show(message: OutboundMessage, event: ApprovalEvent): Promise<void> {
    const keyboard = this.#keyboard(event);
    const shown = await this.#deps.sender.send(message, { keyboard });
    if (shown === undefined) return;
    this.#shown.add(event, { sent: shown.sent, html: shown.part.html });
  }

  /** Takes the buttons away, and says how it came out where they were. Rejects as `send` does. */
  async resolve(message: OutboundMessage, { id, outcome }: ApprovalResolvedEvent): Promise<void> {
    const { chats, sender, words, signal } = this.#deps;
    const { content } = message;
    const shown = this.#shown.close(id);
    // Nothing is known of its message: a process was killed behind its post.
    if (shown === undefined) return void await sender.send(message);
    const said = content.trim() === "" ? escapeTelegram(words(outcome)) : toTelegramHtml(content);
    const whole = `${shown.html}\n\n${said}`;
    const html = shownChars(whole) <= MAX_MESSAGE_CHARS ? whole : said;
    await editText(chats, shown.sent, { html }, { signal });
  }

  /** What somebody means who clicked; undefined for a button that is none of these. */
  read(data: string, senderId: string, clickId: string): ClickMeaning | undefined {
    const long = /^#([\w-]+)$/.exec(data)?.[1];
    const text = long === undefined ? data : this.#deps.memory.get<string>(LONG, long);
    // What its memory has lost.
    if (text === undefined) return { word: "over" };
    const match = /^([ad]):(\S{1,100}):([0-9a-f]{8})$/.exec(text);
    if (match === null) return undefined;
    const [, verdict, id = "", digest = ""] = match;
    switch (this.#shown.claim({ approvalId: id, senderId, clickId })) {
      case "over":
      case "expired":
        return { word: "over" };
      case "repeated":
        return { word: "alreadySent" };
    }
    // All that the service needs stands in the button.
    return { id, command: approvalCommand({ isApproved: verdict === "a", id, digest }) };
  }

  /** The service does not take it: whoever clicked hears why each time. */
  denied(id: string, senderId: string, clickId: string): void {
    this.#shown.release({ approvalId: id, senderId, clickId });
  }

  /** The service has somebody's command; a second one of theirs would say nothing new. */
  answered(id: string, senderId: string, clickId: string): void {
    this.#shown.noteClick({ approvalId: id, senderId, clickId });
  }

  #keyboard({ id, digest, denyOnly }: ApprovalEvent): InlineKeyboardMarkup {
    const { words } = this.#deps;
    const button = (verdict: "a" | "d", text: string) => ({
      text,
      callback_data: this.#fitting(`${verdict}:${id}:${digest.slice(0, 8)}`),
    });
    const deny = button("d", `❌ ${words("deny")}`);
    const row = denyOnly ? [deny] : [button("a", `✅ ${words("approve")}`), deny];
    return { inline_keyboard: [row] };
  }

  #fitting(data: string): string {
    if (new TextEncoder().encode(data).length <= MAX_BUTTON_BYTES) return data;
    const name = crypto.randomUUID();
    this.#deps.memory.set(LONG, name, data);
    return `#${name}`;
  }
}
