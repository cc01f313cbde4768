/**
 * What the agent is doing: one post of a chat that nobody is notified of, edited as it goes on and taken
 * away at the end. What goes wrong with it is nobody's loss.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import { readChatId } from "../chat_address.ts";
import { toPosts } from "../text/to_mattermost.ts";
import type { Poster } from "./poster.ts";

/** What progress is shown with. */
export interface ProgressPostsDeps {
  client: Pick<MattermostClient, "deletePost">;
  poster: Pick<Poster, "post" | "edit" | "forget">;
  /** Whether the server lets us post without notifying anybody. */
  isQuiet: boolean;
  /** So that what a process left behind is taken away by the next. */
  memory: Pick<Memory, "get" | "set" | "delete">;
  clock: Pick<Clock, "elapsed">;
}

/** Between two edits, milliseconds; what comes earlier is not shown. */
const EVERY_MS = 1_500;
/** Characters of it that are shown. */
const MAX_CHARS = 500;
const MAX_CHATS = 1_000;

const KIND = "progress";

interface Shown {
  postId: string | undefined;
  text: string;
  shownMs: number;
}

/** See the module. */
export class ProgressPosts {
  readonly #deps: ProgressPostsDeps;
  readonly #chats = new Map<string, Shown>();
  /** Calls of a chat, one after the other. */
  readonly #calls = new Map<string, Promise<void>>();

  constructor(deps: ProgressPostsDeps) {
    this.#deps = deps;
  }

  /** Shows it. Rejects as `send` does. */
  show(chatId: string, messageId: string, markdown: string): Promise<void> {
    const text = toPosts(markdown, MAX_CHARS)[0] ?? "";
    if (text === "") return Promise.resolve();
    return this.#inOrder(chatId, async () => {
      const shown = this.#chats.get(chatId) ??
        { postId: undefined, text: "", shownMs: -Infinity };
      const nowMs = this.#deps.clock.elapsed();
      if (shown.text === text || nowMs - shown.shownMs < EVERY_MS) return;
      const { poster, isQuiet } = this.#deps;
      if (shown.postId === undefined) {
        const address = readChatId(chatId);
        shown.postId = await poster.post({ address, messageId, part: 0, text, isQuiet });
        poster.forget(messageId, 1);
        this.#deps.memory.set(KIND, chatId, shown.postId);
      } else {
        await poster.edit(shown.postId, text);
      }
      shown.text = text;
      shown.shownMs = nowMs;
      this.#chats.set(chatId, shown);
      if (this.#chats.size > MAX_CHATS) this.#chats.delete(this.#chats.keys().next().value!);
    });
  }

  /** The turn is over. Never rejects. */
  async end(chatId: string): Promise<void> {
    await this.#inOrder(chatId, async () => {
      const { memory, client } = this.#deps;
      const postId = this.#chats.get(chatId)?.postId ?? memory.get<string>(KIND, chatId);
      this.#chats.delete(chatId);
      if (postId === undefined) return;
      await client.deletePost(postId);
      memory.delete(KIND, chatId);
    }).catch(() => {});
  }

  async #inOrder(chatId: string, run: () => Promise<void>): Promise<void> {
    const before = this.#calls.get(chatId) ?? Promise.resolve();
    const call = before.catch(() => {}).then(run);
    this.#calls.set(chatId, call);
    try {
      await call;
    } finally {
      if (this.#calls.get(chatId) === call) this.#calls.delete(chatId);
    }
  }
}
