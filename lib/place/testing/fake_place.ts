/** The other end of a port, for tests of what the service does with a place that says anything at all. */

import type { OpenedPlace } from "../open_place.ts";
import type { ToPlace } from "../protocol.ts";

/** See the module. */
export class FakePlace {
  readonly opened: OpenedPlace;
  /** Whether it was ended. */
  closed = false;
  readonly heard: ToPlace[] = [];
  /** Answers calls as told; undefined: not at all. */
  onHeard: ((message: ToPlace) => void) | undefined;
  readonly #port: MessagePort;
  readonly #ended = Promise.withResolvers<string>();

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.#port = port2;
    this.#port.onmessage = ({ data }) => {
      this.heard.push(data);
      this.onHeard?.(data);
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
  say(message: unknown): void {
    this.#port.postMessage(message);
  }

  ready(): void {
    this.say({ type: "ready", supportsStreaming: false });
  }

  /** Answers every call with nothing. */
  answerAll(): void {
    this.onHeard = (message) => {
      if (message.type === "call") this.say({ type: "answer", id: message.id });
    };
  }

  end(reason: string): void {
    this.#ended.resolve(reason);
  }
}
