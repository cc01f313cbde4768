/** The other end of a port, for tests of what the service does with a place that says anything at all. */

import type { Frame } from "../../rpc/transport.ts";
import type { OpenedPlace } from "../open_place.ts";

type CallFrame = Extract<Frame, { type: "call" }>;

/** See the module. */
export class FakePlace {
  readonly opened: OpenedPlace;
  /** Whether it was ended. */
  closed = false;
  /** All but the call that asks whether it is ready. */
  readonly heard: Frame[] = [];
  /** Answers calls as told; undefined: not at all. */
  onCall: ((call: CallFrame) => void) | undefined;
  readonly #port: MessagePort;
  readonly #ended = Promise.withResolvers<string>();
  readonly #load = Promise.withResolvers<CallFrame>();

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.#port = port2;
    this.#port.onmessage = ({ data }: MessageEvent<Frame>) => {
      if (data.type === "call" && data.method === "load") return this.#load.resolve(data);
      this.heard.push(data);
      if (data.type === "call") this.onCall?.(data);
    };
    this.opened = {
      port: port1,
      close: () => {
        this.closed = true;
        this.#port.close();
      },
      ended: this.#ended.promise,
    };
  }

  /** Says anything. */
  say(frame: unknown): void {
    this.#port.postMessage(frame);
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
  }
}
