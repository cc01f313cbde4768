import type { Peer } from "../../../lib/channel/socket_host.ts";
import {
  type Frame,
  type FRAMES,
  type ServerFrame,
  serverFrame,
} from "../../../lib/contract/wire/frames.ts";
import type { Connection, MessageListener } from "../socket/connection.ts";
import type { OutFrame } from "../socket/out_frame.ts";

/** A connection whose client is the test. Every frame is checked against its schema. */
export class FakeConnection implements Connection {
  readonly peerAddress = "127.0.0.1";
  readonly peer: Peer;
  readonly frames: ServerFrame[] = [];
  readonly out: OutFrame[] = [];
  closedWith: { code: number; reason: string } | undefined;
  /** Set: `whenDrained` waits for it. */
  drained: PromiseWithResolvers<void> | undefined;
  readonly #ended = new AbortController();
  #listener: MessageListener | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(peer: Partial<Peer> = {}) {
    this.peer = { clientId: "c1", actor: "websocket:c1", ...peer };
  }

  get closed(): AbortSignal {
    return this.#ended.signal;
  }

  send(frame: OutFrame): void {
    if (this.#ended.signal.aborted) return;
    this.out.push(frame);
    this.frames.push(serverFrame.parse(JSON.parse(new TextDecoder().decode(frame.bytes))));
    for (const wake of [...this.#waiting]) wake();
  }

  whenDrained(): Promise<void> {
    return this.drained?.promise ?? Promise.resolve();
  }

  close(code: number, reason: string): void {
    this.closedWith ??= { code, reason };
    this.end();
  }

  onEnd(listener: () => void): void {
    this.#ended.signal.addEventListener("abort", listener);
  }

  onMessage(listener: MessageListener): void {
    this.#listener = listener;
  }

  /** The client has gone. */
  end(): void {
    this.#ended.abort();
    for (const wake of [...this.#waiting]) wake();
  }

  /** What the client says; resolves when it is done with. */
  async say(message: unknown): Promise<void> {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    await this.#listener!({ text });
  }

  async sayBinary(binary: Uint8Array): Promise<void> {
    await this.#listener!({ binary });
  }

  /** Resolves when so many frames were sent in all. */
  async until(count: number): Promise<ServerFrame[]> {
    while (this.frames.length < count && !this.#ended.signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await promise;
      this.#waiting.delete(resolve);
    }
    return this.frames;
  }

  /** All frames of an event so far. */
  of<Event extends keyof typeof FRAMES>(event: Event): Frame<Event>[] {
    return this.frames.filter((frame): frame is Frame<Event> & ServerFrame =>
      frame.event === event
    );
  }
}
