/**
 * The way out of a bot account: messages, answers that grow, progress, approvals and signs of typing, over
 * the same posts.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";
import type { OutboundMessage, StreamDelta } from "../../../lib/channel/outbound_message.ts";
import { EditedStreams } from "../../../lib/channel/platform/edited_streams.ts";
import type { Memory } from "../../../lib/channel/platform/memory.ts";
import { Typing } from "../../../lib/channel/platform/typing.ts";
import type { ActionContext } from "../actions/action_context.ts";
import { ApprovalPosts } from "../actions/approval_posts.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import { type ChatAddress, readChatId } from "../chat_address.ts";
import type { ServerFacts } from "../connection/server_facts.ts";
import { toPosts } from "../text/to_mattermost.ts";
import type { Words } from "../words.ts";
import { Poster } from "./poster.ts";
import { ProgressPosts } from "./progress_posts.ts";
import { SendMessage } from "./send_message.ts";

/** What an outlet is made of. */
export interface OutletDeps {
  client: MattermostClient;
  facts: ServerFacts;
  memory: Memory;
  context: ActionContext;
  /** Where clicks are posted to; undefined: there are no buttons. */
  actionsUrl: () => string | undefined;
  /** Shows for some seconds that something is being written. */
  showTyping: (address: ChatAddress) => void;
  words: Words;
  clock: Clock;
}

/** The server forgets that somebody writes after five seconds. */
const TYPING_MS = 4_000;

/** Between two edits of an answer that grows. */
const EDIT_MS = 1_000;

/** See the module. */
export class Outlet {
  readonly poster: Poster;
  readonly approvals: ApprovalPosts;
  readonly typing: Typing;
  readonly #streams: EditedStreams<string>;
  readonly #sender: SendMessage;

  constructor(deps: OutletDeps) {
    const { client, facts, memory, context, actionsUrl, showTyping, words, clock } = deps;
    const { me, maxRunes, maxFileBytes } = facts;
    const poster = this.poster = new Poster({ client, myId: me.id, memory });
    this.approvals = new ApprovalPosts({ poster, memory, context, words, maxRunes });
    this.typing = new Typing({
      clock,
      everyMs: TYPING_MS,
      show: (chatId) => Promise.resolve(showTyping(readChatId(chatId))),
    });
    this.#sender = new SendMessage({
      client,
      poster,
      progress: new ProgressPosts({ client, poster, isQuiet: me.isBot, memory, clock }),
      typing: this.typing,
      approvals: this.approvals,
      actionsUrl,
      words,
      maxRunes,
      maxFileBytes,
    });
    this.#streams = new EditedStreams({
      post: ({ chatId }, text) => this.tell(chatId, crypto.randomUUID(), text),
      edit: (postId, text) => poster.edit(postId, text),
      split: (markdown) => toPosts(markdown, maxRunes),
      everyMs: EDIT_MS,
      clock,
    });
  }

  /** Delivers a message; rejects as `BaseChannel.send` does. */
  send(message: OutboundMessage): Promise<void> {
    return this.#sender.send(message);
  }

  /** Shows a piece of an answer; rejects as `BaseChannel.sendDelta` does. */
  push(piece: StreamDelta): Promise<void> {
    return this.#streams.push(piece);
  }

  /** Posts a text that fits. Resolves with the post's id; rejects as `send` does. */
  async tell(chatId: string, messageId: string, text: string): Promise<string> {
    const address = readChatId(chatId);
    const postId = await this.poster.post({ address, messageId, part: 0, text });
    this.poster.forget(messageId, 1);
    return postId;
  }

  /** Shows nothing any more. */
  close(): void {
    this.typing.close();
    this.#streams.close();
  }
}
