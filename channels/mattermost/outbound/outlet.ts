/**
 * The way out of a bot account: messages, answers that grow, progress, approvals and signs of typing, over
 * the same posts.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { OutboundMessage, StreamDelta } from "../../../lib/contract/outbound_message.ts";
import {
  EditedStreams,
  type Memory,
  ShownApprovals,
  StatusNotes,
  Typing,
} from "../../../lib/channel/platform/mod.ts";
import type { ActionContext } from "../actions/action_context.ts";
import { type ApprovalPost, ApprovalPosts } from "../actions/approval_posts.ts";
import { toDeliveryError } from "../api/api_error.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import { type ChatAddress, readChatId } from "../chat_address.ts";
import type { ServerFacts } from "../connection/server_facts.ts";
import { toPosts } from "../text/to_mattermost.ts";
import type { Words } from "../words.ts";
import { Poster } from "./poster.ts";
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

/** Between two edits of a note, milliseconds. */
const NOTE_MS = 1_500;

/** Between two edits of an answer that grows. */
const EDIT_MS = 1_000;

export class Outlet {
  readonly poster: Poster;
  readonly approvals: ShownApprovals<ApprovalPost>;
  readonly typing: Typing;
  readonly #streams: EditedStreams<string>;
  readonly #notes: StatusNotes<string>;
  readonly #sender: SendMessage;

  constructor(deps: OutletDeps) {
    const { client, facts, memory, context, actionsUrl, showTyping, words, clock } = deps;
    const { me, maxRunes, maxFileBytes } = facts;
    const poster = this.poster = new Poster({ client, myId: me.id, memory });
    const shown = this.approvals = new ShownApprovals({ memory, clock });
    this.typing = new Typing({
      clock,
      everyMs: TYPING_MS,
      show: (chatId) => Promise.resolve(showTyping(readChatId(chatId))),
    });
    const notes = this.#notes = new StatusNotes<string>({
      post: (chatId, text) => {
        const address = readChatId(chatId);
        const messageId = crypto.randomUUID();
        return poster.post({ address, messageId, part: 0, text, isQuiet: me.isBot });
      },
      edit: (postId, text) => poster.edit(postId, text),
      remove: (postId) =>
        client.deletePost(postId).catch((error) => {
          throw toDeliveryError(error, true);
        }),
      memory,
      clock,
      everyMs: () => NOTE_MS,
    });
    notes.restore();
    this.#sender = new SendMessage({
      client,
      poster,
      notes,
      typing: this.typing,
      approvals: new ApprovalPosts({ poster, shown, context, words, maxRunes }),
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
    return await this.poster.post({ address, messageId, part: 0, text });
  }

  /** Shows nothing any more, and resolves when nothing is under way. */
  async close(): Promise<void> {
    this.typing.close();
    this.#streams.close();
    await this.#notes.close();
  }
}
