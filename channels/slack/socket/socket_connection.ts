/**
 * One connection of Socket Mode, by the real client. It is read here: the client's own reading fails for
 * good at a message without a payload, and says nothing of what is in `hello`
 * (https://docs.slack.dev/apis/events-api/using-socket-mode).
 *
 * @module
 */

import { SocketModeClient } from "@slack/socket-mode";
import type { Clock } from "../../../lib/base/clock.ts";
import { silentLogger } from "../../../lib/channel/platform/mod.ts";
import { clientOptions, textOf } from "../api/slack_api.ts";
import { slackFault } from "../api/slack_faults.ts";

/** Something that Slack tells, to be acknowledged. */
export interface Envelope {
  /** `events_api`, `interactive`, … */
  type: string;
  payload: unknown;
}

/** What it works with. */
export interface SocketConnectionDeps {
  appToken: string;
  apiUrl: URL;
  clock: Clock;
  /** Ends what is under way. */
  signal: AbortSignal;
  /** Resolves when what is told is on the disk; Slack is told so then. Rejects: Slack tells it again. */
  onEnvelope: (envelope: Envelope) => Promise<void>;
  /** Slack wants another connection in the place of this one. */
  onRefresh: (reason: string) => void;
  /** Envelopes that may be at work; default 10,000. */
  maxAtWork?: number;
}

/** How long Slack has to greet, milliseconds. */
const HELLO_MS = 20_000;

/** No pong for so long is a connection that is gone, milliseconds. */
const PONG_MS = 20_000;
const PING_MS = 60_000;

/**
 * Envelopes that may be at work, and their characters. Slack tells what was not acknowledged three times
 * more and then no more, so that nothing is left out: with more, the connection ends, and what came behind
 * is read when there is another.
 */
const MAX_AT_WORK = 10_000;
const MAX_AT_WORK_CHARS = 64 * 1024 * 1024;

/** Slack does not end the connection itself: so long after our word it is cut, milliseconds. */
const FAREWELL_MS = 1_000;

export class SocketConnection {
  readonly #deps: SocketConnectionDeps;
  readonly #client: SocketModeClient;
  readonly #over = Promise.withResolvers<void>();
  #connections = 1;
  #atWork = 0;
  #atWorkChars = 0;
  #isOver = false;
  #cancelFarewell: (() => void) | undefined;

  constructor(deps: SocketConnectionDeps) {
    this.#deps = deps;
    const { appToken } = deps;
    this.#client = new SocketModeClient({
      appToken,
      autoReconnectEnabled: false,
      clientPingTimeout: PONG_MS,
      serverPingTimeout: PING_MS,
      logger: silentLogger,
      clientOptions: clientOptions(deps),
    });
    this.#client.removeAllListeners("ws_message");
    this.#client.on("ws_message", (data: unknown) => this.#read(data));
    this.#client.on("disconnected", () => {
      this.#isOver = true;
      this.#cancelFarewell?.();
      this.#over.resolve();
    });
  }

  /** Resolves when it is gone. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Connections with the app's token that Slack has, this one among them. */
  get connections(): number {
    return this.#connections;
  }

  /** Resolves when Slack has greeted. Rejects with what {@linkcode slackFault} makes of it. */
  async open(): Promise<void> {
    const { clock, signal } = this.#deps;
    const cancel = clock.after(HELLO_MS, () => this.cut());
    const stop = () => this.cut();
    signal.addEventListener("abort", stop, { once: true });
    void this.over.then(() => signal.removeEventListener("abort", stop));
    try {
      await this.#client.start();
      signal.throwIfAborted();
    } catch (error) {
      this.cut();
      this.#over.resolve();
      if (error === undefined) throw new Error("Slack has closed the connection");
      throw slackFault(error, "apps.connections.open", "appToken");
    } finally {
      cancel();
    }
  }

  /** Says farewell, so that what was acknowledged gets there. */
  close(): void {
    if (this.#isOver || this.#cancelFarewell !== undefined) return;
    this.#client.disconnect().catch(() => {});
    this.#cancelFarewell = this.#deps.clock.after(FAREWELL_MS, () => this.cut());
  }

  /** Ends it at once. */
  cut(): void {
    // A second word to a client that waits for the answer to its first cuts the connection.
    for (let words = 0; words < 2 && !this.#isOver; words += 1) {
      this.#client.disconnect().catch(() => {});
    }
    // Where the first word has ended it already, the client waits for an answer still.
    const { websocket } = this.#client as unknown as {
      websocket?: { closeHandshakeTimeout?: number };
    };
    clearTimeout(websocket?.closeHandshakeTimeout);
  }

  #read(data: unknown): void {
    const text = String(data);
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    switch (textOf(message, "type")) {
      case "":
        return;
      case "hello": {
        const { num_connections: connections } = message as { num_connections?: unknown };
        if (typeof connections === "number") this.#connections = connections;
        return void this.#client.emit("connected", {});
      }
      case "disconnect":
        return this.#deps.onRefresh(textOf(message, "reason"));
      default:
        return void this.#take(message as Record<string, unknown>, text.length);
    }
  }

  async #take(message: Record<string, unknown>, chars: number): Promise<void> {
    const id = textOf(message, "envelope_id");
    if (id === "" || this.#isOver) return;
    const { maxAtWork = MAX_AT_WORK } = this.#deps;
    if (this.#atWork >= maxAtWork || this.#atWorkChars >= MAX_AT_WORK_CHARS) return this.cut();
    this.#atWork += 1;
    this.#atWorkChars += chars;
    try {
      await this.#deps.onEnvelope({ type: textOf(message, "type"), payload: message.payload });
      const socket = this.#client.websocket;
      if (socket?.isActive()) socket.send(JSON.stringify({ envelope_id: id }), () => {});
    } catch {
      // Slack tells it again, on this connection or the next.
    } finally {
      this.#atWork -= 1;
      this.#atWorkChars -= chars;
    }
  }
}
