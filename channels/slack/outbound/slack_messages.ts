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
import { toSlack, toSlackText } from "../text/to_slack.ts";

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

  /** Posts a part of a text, with `more` blocks behind it. */
  async post(chatId: string, part: string, more: Blocks = []): Promise<SlackRef> {
    const { channel, threadTs } = await this.placeOf(chatId);
    const answer = await this.#write(
      "chat.postMessage",
      {
        channel,
        ...threadTs !== undefined && { thread_ts: threadTs },
        // Slack would open what an answer links to, and show it.
        unfurl_links: false,
        unfurl_media: false,
      },
      part,
      more,
    );
    this.#onPosted(chatId);
    return { chatId, ...postedAt(answer, channel) };
  }

  /** Shows files that were uploaded. */
  async postFiles(
    chatId: string,
    files: readonly { id: string; name: string }[],
  ): Promise<SlackRef> {
    const { channel, threadTs } = await this.placeOf(chatId);
    await this.#api.call("files.completeUploadExternal", {
      files: files.map(({ id, name: title }) => ({ id, title })),
      channel_id: channel,
      ...threadTs !== undefined && { thread_ts: threadTs },
    }, "once");
    this.#onPosted(chatId);
    return { chatId, channel, ts: "" };
  }

  /** Posts a quiet line, in small letters. */
  async postNote(chatId: string, text: string): Promise<SlackRef> {
    const { channel, threadTs } = await this.placeOf(chatId);
    const answer = await this.#api.call("chat.postMessage", {
      channel,
      ...threadTs !== undefined && { thread_ts: threadTs },
      unfurl_links: false,
      unfurl_media: false,
      ...noteOf(text),
    }, "once");
    return { chatId, ...postedAt(answer, channel) };
  }

  /** Gives a message another text; what stood behind it goes. */
  async update({ channel, ts }: SlackRef, part: string): Promise<void> {
    await this.#write("chat.update", { channel, ts }, part, []);
  }

  async updateNote({ channel, ts }: SlackRef, text: string): Promise<void> {
    await this.#api.call("chat.update", { channel, ts, ...noteOf(text) });
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
  async whisper({ channel, threadTs }: SlackPlace, user: string, text: string): Promise<void> {
    await this.#api.call("chat.postEphemeral", {
      channel,
      user,
      ...threadTs !== undefined && { thread_ts: threadTs },
      text,
    });
  }

  async #write(
    method: "chat.postMessage" | "chat.update",
    args: Readonly<Record<string, unknown>>,
    part: string,
    more: Blocks,
  ) {
    const kind = method === "chat.postMessage" ? "once" : "repeatable";
    const { blocks, text } = toSlack(part);
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

/** Which message it became. Throws where Slack does not say it: nothing could change it any more. */
function postedAt(answer: SlackAnswer, channel: string): Pick<SlackRef, "channel" | "ts"> {
  const ts = textOf(answer, "ts");
  if (!TS.test(ts)) {
    throw new UncertainDeliveryError("Slack does not say which message it has posted");
  }
  return { channel: textOf(answer, "channel") || channel, ts };
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
function noteOf(text: string): Record<string, unknown> {
  const shown = text.toWellFormed().replace(/\s+/g, " ").trim().slice(0, 1_000).toWellFormed();
  return {
    // Plain text: nothing in it is a mark.
    blocks: [{ type: "context", elements: [{ type: "plain_text", text: shown, emoji: false }] }],
    text: shown.slice(0, 150).toWellFormed().replaceAll("&", "&amp;").replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;"),
  };
}
