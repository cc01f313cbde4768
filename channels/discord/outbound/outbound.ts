/**
 * All that a bot says: answers, whole or while they are written, approvals, and signs that it is at work.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import {
  EditedStreams,
  type Memory,
  StatusNotes,
  Typing,
} from "../../../lib/channel/platform/mod.ts";
import { type DiscordApi, isSnowflake } from "../rest/discord_api.ts";
import { deliveryFault } from "../rest/delivery_fault.ts";
import { renderPart, splitForDiscord } from "../text/to_discord.ts";
import type { Words } from "../words.ts";
import { Approvals } from "./approvals.ts";
import { type MessageRef, Sender, type SendPlace } from "./sender.ts";

/** What it works with. */
export interface OutboundDeps {
  api: DiscordApi;
  memory: Memory;
  words: Words;
  clock: Clock;
  sleep: (ms: number) => Promise<void>;
}

/** Discord shows for 10 s that somebody types, milliseconds. */
const TYPING_MS = 8_500;
/** Five edits in 5 s are taken for a channel, milliseconds. */
const EDIT_MS = 1_200;
/** What the agent is doing leaves most of them to what it says, milliseconds. */
const STATUS_MS = 1_500;

/** Discord knows a nonce for some minutes, milliseconds. */
const NONCE_MS = 2 * 60_000;
const MAX_BEGUN = 1_000;

/** Discord notifies nobody of it. */
const SILENT = 1 << 12;

export class Outbound {
  readonly sender: Sender;
  readonly approvals: Approvals;
  /** What the agent is doing: one message that calls nobody, and goes at the end of the turn. */
  readonly statuses: StatusNotes<MessageRef>;
  readonly streams: EditedStreams<MessageRef>;
  readonly typing: Typing;
  /** Keys of messages of streams whose first text was refused, by where it was to go. */
  readonly #begun = new Map<string, { key: string; atMs: number }>();
  readonly #clock: Clock;

  constructor({ api, memory, words, clock, sleep }: OutboundDeps) {
    this.#clock = clock;
    const sender = this.sender = new Sender({ api, tag: tagOf(memory), clock, sleep });
    this.approvals = new Approvals({ api, sender, memory, words, clock });
    this.statuses = new StatusNotes<MessageRef>({
      memory,
      clock,
      everyMs: () => STATUS_MS,
      post: (chatId, text) => {
        const options = { key: crypto.randomUUID(), body: { flags: SILENT } };
        return sender.post({ chatId, metadata: {} }, text, options);
      },
      edit: (ref, text) => sender.edit(ref, text),
      remove: async ({ channelId, id }) => {
        try {
          await api.deleteMessage(channelId, id);
        } catch (error) {
          throw deliveryFault(error);
        }
      },
    });
    this.typing = new Typing({
      clock,
      everyMs: TYPING_MS,
      show: (chatId) => isSnowflake(chatId) ? api.typing(chatId) : Promise.resolve(),
    });
    this.streams = new EditedStreams<MessageRef>({
      clock,
      everyMs: EDIT_MS,
      split: splitForDiscord,
      post: (place, part) => this.#begin(place, shown(part)),
      edit: (ref, part) => sender.edit(ref, shown(part)),
    });
  }

  /**
   * The first text of a message that grows. What Discord has refused in words may stand there all the same;
   * under the nonce that it had, it is that message again, which then has the words of its first try.
   */
  async #begin(place: SendPlace, text: string): Promise<MessageRef> {
    const where = JSON.stringify([place.chatId, place.metadata.message_id]);
    const kept = this.#begun.get(where);
    this.#begun.delete(where);
    const atMs = this.#clock.elapsed();
    const isKnown = kept !== undefined && atMs - kept.atMs < NONCE_MS;
    const { key } = isKnown ? kept : { key: crypto.randomUUID() };
    try {
      const ref = await this.sender.post(place, text, { key, isAnswer: true });
      if (isKnown) await this.sender.edit(ref, text);
      return ref;
    } catch (error) {
      this.#begun.set(where, isKnown ? kept : { key, atMs });
      if (this.#begun.size > MAX_BEGUN) this.#begun.delete(this.#begun.keys().next().value!);
      throw error;
    }
  }

  /** Shows nothing any more, and resolves when nothing is under way. */
  async close(): Promise<void> {
    this.typing.close();
    this.streams.close();
    await this.statuses.close();
  }
}

/** A part may be nothing to see yet, and an empty message is none. */
function shown(part: string): string {
  return renderPart(part) || "…";
}

/** What the nonces of this installation begin with. */
function tagOf(memory: Memory): string {
  const kept = memory.get<string>("tag", "nonce");
  if (kept !== undefined) return kept;
  const tag = crypto.randomUUID().slice(0, 6);
  memory.set("tag", "nonce", tag);
  return tag;
}
