/** The other end of two pipes, for tests of what the service does with a worker that says anything at all. */

import { encodeFrame, FrameReader } from "../../rpc/frames.ts";
import type { Frame } from "../../rpc/transport.ts";
import type { ChannelWorker } from "../open_channel_worker.ts";

type CallFrame = Extract<Frame, { type: "call" }>;

/** Is written as `null`. */
const NOTHING = { toJSON: () => null };

export class FakeWorker {
  readonly opened: ChannelWorker;
  /** Whether it was ended. */
  closed = false;
  /** All but the call that asks whether it is ready. */
  readonly heard: Frame[] = [];
  /** Answers calls as told; undefined: not at all. */
  onCall: ((call: CallFrame) => void) | undefined;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #ended = Promise.withResolvers<string>();
  readonly #load = Promise.withResolvers<CallFrame>();

  constructor() {
    const toWorker = new TransformStream<Uint8Array, Uint8Array>();
    const fromWorker = new TransformStream<Uint8Array, Uint8Array>();
    this.#writer = fromWorker.writable.getWriter();
    void this.#read(toWorker.readable);
    this.opened = {
      streams: { readable: fromWorker.readable, writable: toWorker.writable },
      close: () => void (this.closed = true),
      ended: this.#ended.promise,
    };
  }

  async #read(readable: ReadableStream<Uint8Array>): Promise<void> {
    const frames = new FrameReader();
    for await (const bytes of readable) {
      for (const value of frames.push(bytes)) {
        const frame = value as Frame;
        if (frame.type === "call" && frame.method === "load") {
          this.#load.resolve(frame);
          continue;
        }
        this.heard.push(frame);
        if (frame.type === "call") this.onCall?.(frame);
      }
    }
  }

  /** Says anything. */
  say(frame: object | string | null): void {
    for (
      const bytes of encodeFrame(
        typeof frame === "string" ? { toJSON: () => frame } : frame ?? NOTHING,
      )
    ) this.write(bytes);
  }

  /** Says what need not be a frame. */
  write(bytes: Uint8Array): void {
    this.#writer.write(bytes).catch(() => {});
  }

  /** Answers that it is, once it is asked. */
  ready(): void {
    this.#load.promise.then(({ id }) =>
      this.say({ type: "answer", id, result: { supportsStreaming: false } })
    );
  }

  /** Answers that it will not be. */
  unusable(message: string): void {
    this.#load.promise.then(({ id }) =>
      this.say({ type: "error", id, error: { kind: "temporary", message } })
    );
  }

  /** Answers every call with nothing. */
  answerAll(): void {
    this.onCall = ({ id }) => this.say({ type: "answer", id });
  }

  end(reason: string): void {
    this.#ended.resolve(reason);
    this.#writer.close().catch(() => {});
  }
}
