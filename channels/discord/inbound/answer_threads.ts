/**
 * Threads that answers on servers have for themselves. One that is opened at a message has its id.
 *
 * @module
 */

import type { Memory } from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import type { DiscordApi } from "../rest/discord_api.ts";
import { discordCode } from "../rest/discord_faults.ts";
import type { InboundItem } from "./inbound_item.ts";

/** Channels of text and of announcements: others have no threads, or are one. */
const HAVE_THREADS: readonly unknown[] = [0, 5];

const ALREADY_THERE = 160004;

/** Channels whose kind is known. */
const MAX_KINDS = 500;

const MAX_NAME_CHARS = 80;

/** What they work with. */
export interface AnswerThreadsDeps {
  api: DiscordApi;
  memory: Memory;
  log: Pick<Log, "warning">;
}

export class AnswerThreads {
  readonly #deps: AnswerThreadsDeps;
  readonly #kinds = new Map<string, unknown>();

  constructor(deps: AnswerThreadsDeps) {
    this.#deps = deps;
  }

  isOwn(channelId: string): boolean {
    return this.#deps.memory.get("thread", channelId) === true;
  }

  /** The thread to answer a message in; its channel where it can have none. Rejects where that may change. */
  async open({ chatId, messageId, content }: InboundItem): Promise<string> {
    const { api, memory, log } = this.#deps;
    try {
      if (!HAVE_THREADS.includes(await this.#kindOf(chatId))) return chatId;
      await api.startThread(chatId, messageId, nameOf(content));
    } catch (error) {
      const code = discordCode(error);
      if (code === undefined) throw error;
      if (code !== ALREADY_THERE) {
        log.warning("No thread could be opened: the bot needs Create Public Threads there", {
          channel: chatId,
          code,
        });
        return chatId;
      }
    }
    memory.set("thread", messageId, true);
    return messageId;
  }

  async #kindOf(channelId: string): Promise<unknown> {
    if (!this.#kinds.has(channelId)) {
      const { type } = await this.#deps.api.channel(channelId);
      this.#kinds.set(channelId, type);
      if (this.#kinds.size > MAX_KINDS) this.#kinds.delete(this.#kinds.keys().next().value!);
    }
    return this.#kinds.get(channelId);
  }
}

function nameOf(content: string): string {
  const line = content.replaceAll(/\s+/g, " ").trim();
  if (line === "") return "…";
  const name = [...line].slice(0, MAX_NAME_CHARS).join("");
  return name.length < line.length ? `${name}…` : name;
}
