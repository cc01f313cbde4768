/**
 * Messages of the app on Slack: posted, given another text, and removed.
 *
 * @module
 */

import { splitMarkdown } from "../../../lib/channel/markdown/mod.ts";
import {
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "../../../lib/channel/delivery_error.ts";
import { type SlackAnswer, type SlackApi, textOf } from "../api/slack_api.ts";
import { refusedAs } from "../api/slack_faults.ts";
import { readChatId, type SlackPlace, TS } from "../events/chat_id.ts";
import { type SlackContent, toSlack, toSlackText } from "../text/to_slack.ts";

/** A message that is there. Plain JSON. */
export interface SlackRef {
  chatId: string;
  channel: string;
  ts: string;
}

type Blocks = readonly Record<string, unknown>[];

/** Refusals that are about the blocks and not the message. */
const BLOCK_CODES: ReadonlySet<string> = new Set([
  "invalid_blocks",
  "invalid_blocks_format",
  "msg_blocks_too_long",
]);

/** Direct conversations whose id is known. */
const MAX_OPENED = 1_000;

/** Everything rejects as `SlackApi.call` does. */
export class SlackMessages {
  readonly #api: SlackApi;
  readonly #onPosted: (chatId: string) => void;
  readonly #opened = new Map<string, string>();

  constructor({ api, onPosted }: { api: SlackApi; onPosted: (chatId: string) => void }) {
    this.#api = api;
    this.#onPosted = onPosted;
  }

  /**
   * Where messages of a chat go; a member's id becomes the direct conversation with that member. Rejects
   * with `PermanentDeliveryError` for what is no chat.
   */
  async placeOf(chatId: string): Promise<SlackPlace> {
    const place = readChatId(chatId);
    if (place === undefined) {
      throw new PermanentDeliveryError(
        `Cannot write to ${
          JSON.stringify(chatId.slice(0, 80))
        }: expected the id of a conversation ` +
          "or a member, such as C0123456789, or C0123456789:1699000000.000100 for a thread",
      );
    }
    if (!/^[UW]/.test(place.channel)) return place;
    let channel = this.#opened.get(place.channel);
    if (channel === undefined) {
      const answer = await this.#api.call("conversations.open", { users: place.channel });
      channel = textOf(answer, "channel", "id");
      if (channel === "") throw new Error("Slack does not say which conversation it has opened");
      this.#opened.set(place.channel, channel);
      if (this.#opened.size > MAX_OPENED) this.#opened.delete(this.#opened.keys().next().value!);
    }
    return { ...place, channel };
  }

  /** Posts a part of a text with `more` blocks behind it, or a note, which is a quiet line. */
  async post(
    chatId: string,
    part: string,
    { isNote = false, more = [] }: { isNote?: boolean; more?: Blocks } = {},
  ): Promise<SlackRef> {
    const { channel, threadTs: thread_ts } = await this.placeOf(chatId);
    // Slack would open what an answer links to, and show it.
    const args = { channel, thread_ts, unfurl_links: false, unfurl_media: false };
    const answer = await this.#write("chat.postMessage", args, part, isNote, more);
    if (!isNote) this.#onPosted(chatId);
    const ts = textOf(answer, "ts");
    // Nothing could change it any more.
    if (!TS.test(ts)) {
      throw new UncertainDeliveryError("Slack does not say which message it has posted");
    }
    return { chatId, channel: textOf(answer, "channel") || channel, ts };
  }

  /** Shows files that were uploaded. */
  async postFiles(
    chatId: string,
    uploaded: readonly { id: string; name: string }[],
  ): Promise<SlackRef> {
    const { channel, threadTs: thread_ts } = await this.placeOf(chatId);
    const files = uploaded.map(({ id, name: title }) => ({ id, title }));
    const args = { files, channel_id: channel, thread_ts };
    await this.#api.call("files.completeUploadExternal", args, "once");
    this.#onPosted(chatId);
    return { chatId, channel, ts: "" };
  }

  /** Gives a message another text; what stood behind it goes. */
  async update({ channel, ts }: SlackRef, part: string, isNote = false): Promise<void> {
    await this.#write("chat.update", { channel, ts }, part, isNote);
  }

  /** Removes a message; one that is gone is no fault. */
  async remove({ channel, ts }: SlackRef): Promise<void> {
    try {
      await this.#api.call("chat.delete", { channel, ts });
    } catch (error) {
      if (refusedAs(error) !== "message_not_found") throw error;
    }
  }

  /** Says something that one member alone sees. */
  async whisper(place: SlackPlace, user: string, text: string): Promise<void> {
    const { channel, threadTs: thread_ts } = place;
    await this.#api.call("chat.postEphemeral", { channel, user, thread_ts, text });
  }

  async #write(
    method: "chat.postMessage" | "chat.update",
    args: Readonly<Record<string, unknown>>,
    part: string,
    isNote: boolean,
    more: Blocks = [],
  ): Promise<SlackAnswer> {
    const kind = method === "chat.postMessage" ? "once" : "repeatable";
    const { blocks, text } = isNote ? noteOf(part) : toSlack(part);
    try {
      return await this.#api.call(method, { ...args, blocks: [...blocks, ...more], text }, kind);
    } catch (error) {
      if (!BLOCK_CODES.has(refusedAs(error))) throw error;
      // What Slack makes of a block may be too much for it where the text is not. Buttons stay.
      const shown = toSlackText(part);
      const plain = more.length === 0 ? [] : [...sectionsOf(shown), ...more];
      return await this.#api.call(method, { ...args, text: shown, blocks: plain }, kind);
    }
  }
}

/** Characters of a section's text, and sections that are shown above buttons. */
const MAX_SECTION_CHARS = 3_000;
const MAX_SECTIONS = 14;

/** mrkdwn in blocks of that kind; it is cut where it is longer than them all. */
function sectionsOf(mrkdwn: string): Blocks {
  return splitMarkdown(mrkdwn, MAX_SECTION_CHARS).slice(0, MAX_SECTIONS)
    .map((text) => ({ type: "section", text: { type: "mrkdwn", text } }));
}

/** A line in small letters. */
function noteOf(text: string): SlackContent {
  const shown = text.toWellFormed().replace(/\s+/g, " ").trim().slice(0, 1_000).toWellFormed();
  return {
    // Plain text: nothing in it is a mark.
    blocks: [{ type: "context", elements: [{ type: "plain_text", text: shown, emoji: false }] }],
    text: shown.slice(0, 150).toWellFormed().replaceAll("&", "&amp;").replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;"),
  };
}
