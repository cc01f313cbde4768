/**
 * Frames over a message port, or between a Worker and the thread that started it.
 *
 * @module
 */

import type { Frame, Transport } from "./transport.ts";

/** A `MessagePort`, a `Worker`, or a Worker's own global scope. */
export interface Port {
  postMessage(message: unknown, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent) => void) | null;
  onmessageerror: ((event: MessageEvent) => void) | null;
  close?(): void;
}

/** Carries frames over a port. */
export function portTransport(port: Port): Transport {
  return {
    open(take, closed) {
      port.onmessage = ({ data }) => take(data);
      port.onmessageerror = () => closed("it said something that cannot be read");
    },
    send(frame: Frame, transfer = []) {
      const bytes = "bytes" in frame && frame.bytes !== undefined ? [frame.bytes.buffer] : [];
      port.postMessage(frame, [...bytes, ...transfer]);
    },
    close() {
      port.onmessage = port.onmessageerror = null;
      port.close?.();
    },
  };
}
