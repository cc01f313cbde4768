/**
 * Answers that grow in place: a message is posted with the first words, and edited as more come, as often
 * as the platform allows; what no longer fits goes on in a further message.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { StreamDelta } from "../../contract/outbound_message.ts";
import { PermanentDeliveryError } from "../delivery_error.ts";

/** Where a stream goes. */
export interface StreamPlace {
  chatId: string;
  metadata: Readonly<Record<string, unknown>>;
  /** The same at every attempt to post the message, and for no other. */
  key: string;
  /** The first message of its stream. */
  isFirst: boolean;
}

/** What streams are shown with; `Ref` names a message for its edits. */
export interface EditedStreamsDeps<Ref> {
  /** Posts the first text of a message; `isFinal`: no edit follows. Rejects as `send` does. */
  post(place: StreamPlace, markdown: string, isFinal: boolean): Promise<Ref>;
  /** Gives a message its new text. Rejects as `send` does. */
  edit(ref: Ref, markdown: string, isFinal: boolean): Promise<void>;
  /** Parts that each fit one message. */
  split(markdown: string): string[];
  /** Least time between two calls for one stream, milliseconds. */
  everyMs: (chatId: string) => number;
  /** A post under a key that the platform has had is that message again, with its first text. */
  knowsKeys?: boolean;
  clock: Pick<Clock, "elapsed" | "after">;
}

/** Streams that are known; of more, the one that was touched longest ago is not edited any more. */
const MAX_STREAMS = 1_000;

interface Stream<Ref> {
  text: string;
  key: string;
  /** A first text that may stand there, though its post was rejected. */
  unsure?: string;
  /** Where the message that is being written begins in the text. */
  messages: { ref: Ref; shown: string }[];
  lastCallMs: number;
}

export class EditedStreams<Ref> {
  readonly #deps: EditedStreamsDeps<Ref>;
  readonly #streams = new Map<string, Stream<Ref>>();
  readonly #waits = new Set<() => void>();
  #isClosed = false;

  constructor(deps: EditedStreamsDeps<Ref>) {
    this.#deps = deps;
  }

  /**
   * Resolves when the text up to this piece is visible. What rejects has changed nothing that the next
   * call would repeat: the piece is to be given again, with what came since.
   */
  async push(
    { chatId, metadata, delta, streamId, streamEnd }: StreamDelta,
  ): Promise<void> {
    const key = streamId ?? chatId;
    const stream = this.#streams.get(key) ??
      { text: "", key: crypto.randomUUID(), messages: [], lastCallMs: -Infinity };
    this.#streams.delete(key);
    this.#streams.set(key, stream);
    if (this.#streams.size > MAX_STREAMS) {
      this.#streams.delete(this.#streams.keys().next().value!);
    }
    const text = stream.text + delta;
    await this.#show(stream, { chatId, metadata }, text, streamEnd);
    stream.text = text;
    if (streamEnd) this.#streams.delete(key);
  }

  /** Ends every wait, those too that a long piece would come to: its end is not to be waited for. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#waits) end();
    this.#streams.clear();
  }

  async #show(
    stream: Stream<Ref>,
    place: Pick<StreamPlace, "chatId" | "metadata">,
    text: string,
    streamEnd: boolean,
  ): Promise<void> {
    const parts = this.#deps.split(text);
    // Text that only grows may still be cut elsewhere than before: what was shown is shown anew then.
    for (const [index, part] of parts.entries()) {
      const isFinal = index < parts.length - 1 || streamEnd;
      const message = stream.messages[index];
      if (message === undefined) {
        await this.#room(stream, place.chatId);
        stream.messages.push(await this.#post(stream, place, part, isFinal));
      }
      const shown = message ?? stream.messages[index]!;
      if (shown.shown === part) continue;
      await this.#room(stream, place.chatId);
      await this.#deps.edit(shown.ref, part, isFinal);
      shown.shown = part;
    }
  }

  /**
   * A post that was rejected may stand there all the same: under the same key it's that message again,
   * with the words of its first try.
   */
  async #post(
    stream: Stream<Ref>,
    place: Pick<StreamPlace, "chatId" | "metadata">,
    part: string,
    isFinal: boolean,
  ): Promise<{ ref: Ref; shown: string }> {
    const index = stream.messages.length;
    const key = `${stream.key}.${index}`;
    try {
      const ref = await this.#deps.post({ ...place, key, isFirst: index === 0 }, part, isFinal);
      const shown = stream.unsure ?? part;
      stream.unsure = undefined;
      return { ref, shown };
    } catch (error) {
      const mayStand = this.#deps.knowsKeys && !(error instanceof PermanentDeliveryError);
      if (mayStand) stream.unsure ??= part;
      throw error;
    }
  }

  /** Waits until the stream may call again. */
  async #room(stream: Stream<Ref>, chatId: string): Promise<void> {
    const { clock, everyMs } = this.#deps;
    const leftMs = stream.lastCallMs + everyMs(chatId) - clock.elapsed();
    if (leftMs > 0 && !this.#isClosed) {
      const over = Promise.withResolvers<void>();
      const cancel = clock.after(leftMs, over.resolve);
      this.#waits.add(over.resolve);
      await over.promise;
      this.#waits.delete(over.resolve);
      cancel();
    }
    stream.lastCallMs = clock.elapsed();
  }
}
