/**
 * The server's events over one WebSocket after another: each resumes the one before, so that the server
 * gives what came in between, or says that it cannot.
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { WebSocketClient } from "../api/mattermost_package.ts";
import { GuardedSocket } from "./guarded_socket.ts";

/** What a socket is made of. */
export interface EventSocketDeps {
  /** Of the server, `http:` or `https:`. */
  url: string;
  token: string;
  /** Whose certificates are trusted; absent: the usual. */
  httpClient?: Deno.HttpClient;
  clock: Pick<Clock, "after">;
  /** Connected, and known to the server. `isResumed`: it has given, or gives, what came in between. */
  onReady: (isResumed: boolean) => void;
  /** An event, such as `posted`, and its data. */
  onEvent: (event: string, data: Record<string, unknown>) => void;
}

/** Until the server has said that it knows us. */
const READY_MS = 20_000;

/** For the other end to say goodbye. */
const CLOSE_MS = 2_000;

/** The client's own timer would go by real time; connections are opened by `connect` alone. */
const NEVER_MS = 2 ** 31 - 1;

export class EventSocket {
  readonly #deps: EventSocketDeps;
  readonly #client: WebSocketClient;
  #socket: GuardedSocket | undefined;
  #ended = Promise.withResolvers<string>();
  #reason = "";
  #isReady = false;
  #hasMissed = true;

  constructor(deps: EventSocketDeps) {
    this.#deps = deps;
    this.#client = new WebSocketClient({
      maxWebSocketFails: 0,
      minWebSocketRetryTime: NEVER_MS,
      maxWebSocketRetryTime: NEVER_MS,
      reconnectJitterRange: 0,
      clientPingInterval: 30_000,
      newWebSocketFn: (url) => this.#open(url) as unknown as WebSocket,
    });
    this.#client.addMissedMessageListener(() => void (this.#hasMissed = true));
    this.#client.addMessageListener(({ event, data }) => {
      if (typeof data === "object" && data !== null) {
        deps.onEvent(event, data as unknown as Record<string, unknown>);
      }
    });
    // The client has set its timer when the microtask runs, and is told then to forget it.
    this.#client.addCloseListener(() => queueMicrotask(() => this.#end()));
  }

  /** Whether the server knows us, and has not gone since. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Opens a connection; resolves with why it is over. */
  async connect(): Promise<string> {
    const { url, token, clock } = this.#deps;
    this.#ended = Promise.withResolvers();
    this.#reason = "";
    this.#isReady = false;
    const cancel = clock.after(READY_MS, () => {
      if (!this.#isReady) this.close("the server does not say that it knows us");
    });
    this.#client.initialize(`${url.replace(/^http/, "ws")}/api/v4/websocket`, token);
    try {
      return await this.#ended.promise;
    } finally {
      cancel();
      await this.#closed();
      this.#socket = undefined;
    }
  }

  /** Shows to a channel, or to a thread of it, that something is being written; for some seconds. */
  typing(channelId: string, rootId: string): void {
    if (this.#isReady) this.#client.userTyping(channelId, rootId);
  }

  /** Resolves when the socket is closed, or whoever is at its other end does not say so. */
  async #closed(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const cancel = this.#deps.clock.after(CLOSE_MS, late.resolve);
    await Promise.race([this.#socket?.closed, late.promise]);
    cancel();
  }

  /** Ends the connection that there is. */
  close(reason: string): void {
    this.#reason ||= reason;
    this.#end();
  }

  #open(url: string): GuardedSocket {
    return this.#socket = new GuardedSocket({
      url,
      token: this.#deps.token,
      httpClient: this.#deps.httpClient,
      onReady: () => this.#onReady(),
      onEnd: (reason) => this.#reason ||= reason,
    });
  }

  #onReady(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    // The client hears of the frame behind this, and of what was missed with it.
    queueMicrotask(() => {
      const isResumed = !this.#hasMissed;
      this.#hasMissed = false;
      this.#deps.onReady(isResumed);
    });
  }

  #end(): void {
    this.#isReady = false;
    this.#client.close();
    // It leaves one alone that is not open yet.
    this.#socket?.close();
    this.#ended.resolve(this.#reason || "the connection was closed");
  }
}
