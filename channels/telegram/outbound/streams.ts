/**
 * Answers while they are written: messages that are edited, in groups more seldom than in private.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import type { StreamDelta } from "../../../lib/contract/outbound_message.ts";
import { EditedStreams } from "../../../lib/channel/platform/edited_streams.ts";
import { splitForTelegram } from "../text/split_for_telegram.ts";
import { toTelegramHtml } from "../text/to_telegram_html.ts";
import { everyMsIn, isGroup, parseChat } from "./chat_place.ts";
import type { Chats } from "./chats.ts";
import type { Sender } from "./sender.ts";
import { editText, sendText, type SentMessage } from "./send_text.ts";

/** What streams are shown with. */
export interface StreamsDeps {
  chats: Chats;
  sender: Sender;
  clock: Pick<Clock, "elapsed" | "after">;
  signal: AbortSignal;
}

/** Streams that have begun. */
const MAX_QUOTED = 1_000;

/** Names the stream in the metadata that a post is given. */
const STREAM = "telegram_stream";

export class Streams {
  readonly #deps: StreamsDeps;
  readonly #inPrivate: EditedStreams<SentMessage>;
  readonly #inGroups: EditedStreams<SentMessage>;
  readonly #quoted = new Set<string>();

  constructor(deps: StreamsDeps) {
    this.#deps = deps;
    this.#inPrivate = this.#make(everyMsIn("1"));
    this.#inGroups = this.#make(everyMsIn("-1"));
  }

  /** Resolves when the piece is to be seen. Rejects as `sendDelta` of a channel does. */
  async push(piece: StreamDelta): Promise<void> {
    const stream = piece.streamId ?? piece.chatId;
    const streams = isGroup(piece.chatId) ? this.#inGroups : this.#inPrivate;
    await streams.push({ ...piece, metadata: { ...piece.metadata, [STREAM]: stream } });
    if (piece.streamEnd) this.#quoted.delete(stream);
  }

  /** Ends every wait; streams go no further. */
  close(): void {
    this.#inPrivate.close();
    this.#inGroups.close();
  }

  #make(everyMs: number): EditedStreams<SentMessage> {
    const { chats, clock, signal } = this.#deps;
    return new EditedStreams({
      clock,
      everyMs,
      split: (markdown) => splitForTelegram(markdown).map(({ markdown }) => markdown),
      post: ({ chatId, metadata }, markdown) => this.#post(chatId, metadata, markdown),
      edit: (sent, markdown) =>
        editText(chats, sent, { html: toTelegramHtml(markdown) }, { signal }),
    });
  }

  /** The question is quoted by the first message of a stream alone. */
  async #post(
    chatId: string,
    metadata: StreamDelta["metadata"],
    markdown: string,
  ): Promise<SentMessage> {
    const { chats, sender, signal } = this.#deps;
    const replyTo = sender.replyTo(chatId, metadata);
    const stream = String(metadata[STREAM]);
    const sent = await sendText(chats, parseChat(chatId), { html: toTelegramHtml(markdown) }, {
      signal,
      ...!this.#quoted.has(stream) && { replyTo },
    });
    this.#quoted.add(stream);
    if (this.#quoted.size > MAX_QUOTED) this.#quoted.delete(this.#quoted.values().next().value!);
    return sent;
  }
}
