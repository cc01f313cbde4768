/**
 * Answers that grow in place: a message is posted with the first words, and edited as more come, as often
 * as the platform allows; what no longer fits goes on in a further message.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { StreamDelta } from "../../contract/outbound_message.ts";

/** Where a stream goes. */
export interface StreamPlace {
  chatId: string;
  metadata: Readonly<Record<string, unknown>>;
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
  everyMs: number;
  clock: Pick<Clock, "elapsed" | "after">;
}

/** Streams that are known; of more, the one that was touched longest ago is not edited any more. */
const MAX_STREAMS = 1_000;

interface Stream<Ref> {
  text: string;
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
    const stream = this.#streams.get(key) ?? { text: "", messages: [], lastCallMs: -Infinity };
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
    place: StreamPlace,
    text: string,
    streamEnd: boolean,
  ): Promise<void> {
    const parts = this.#deps.split(text);
    // Text that only grows may still be cut elsewhere than before: what was shown is shown anew then.
    for (const [index, part] of parts.entries()) {
      const isFinal = index < parts.length - 1 || streamEnd;
      const message = stream.messages[index];
      if (message === undefined) {
        await this.#room(stream);
        stream.messages.push({
          ref: await this.#deps.post(place, part, isFinal),
          shown: part,
        });
      } else if (message.shown !== part) {
        await this.#room(stream);
        await this.#deps.edit(message.ref, part, isFinal);
        message.shown = part;
      }
    }
  }

  /** Waits until the stream may call again. */
  async #room(stream: Stream<Ref>): Promise<void> {
    const { clock, everyMs } = this.#deps;
    const leftMs = stream.lastCallMs + everyMs - clock.elapsed();
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
