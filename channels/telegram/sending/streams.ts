/**
 * Answers while they are written: messages that are edited, in groups more seldom than in private.
 *
 * @module
 */

import type { Clock } from "../../../lib/agent/clock.ts";
import type { StreamDelta } from "../../../lib/channel/outbound_message.ts";
import { EditedStreams } from "../../../lib/channel/platform/edited_streams.ts";
import { splitForTelegram } from "../text/split_for_telegram.ts";
import { toTelegramHtml } from "../text/to_telegram_html.ts";
import { isGroup, parseChat } from "./chat_place.ts";
import type { Chats } from "./chats.ts";
import type { Sender } from "./sender.ts";
import { editText, sendText, type SentMessage } from "./send_text.ts";
import { everyMsIn } from "./status_notes.ts";

/** What streams are shown with. */
export interface StreamsDeps {
  chats: Chats;
  sender: Sender;
  clock: Pick<Clock, "elapsed" | "after">;
  signal: AbortSignal;
}

/** Questions whose answers have begun. */
const MAX_QUOTED = 1_000;

/** See the module. */
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
  push(piece: StreamDelta): Promise<void> {
    return (isGroup(piece.chatId) ? this.#inGroups : this.#inPrivate).push(piece);
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

  /** The question is quoted by the first message of its answer alone. */
  async #post(
    chatId: string,
    metadata: StreamDelta["metadata"],
    markdown: string,
  ): Promise<SentMessage> {
    const { chats, sender, signal } = this.#deps;
    const replyTo = sender.replyTo(chatId, metadata);
    const question = `${chatId} ${replyTo}`;
    const sent = await sendText(chats, parseChat(chatId), { html: toTelegramHtml(markdown) }, {
      signal,
      ...!this.#quoted.has(question) && { replyTo },
    });
    this.#quoted.add(question);
    if (this.#quoted.size > MAX_QUOTED) this.#quoted.delete(this.#quoted.values().next().value!);
    return sent;
  }
}
