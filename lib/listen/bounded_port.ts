/**
 * A port that is not listened on while it has as many connections as it may: the system refuses the
 * others, and none of them is ever accepted.
 *
 * To accept and close them is not enough. Deno 2.9 accepts all that wait before any of this runs, gives
 * up what was closed a moment later, and once there was no free file for one it accepts nobody any more,
 * without an error.
 *
 * @module
 */

import { Server, type Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { hostPort } from "./explain_listen.ts";

/** How long a port that has room again rests first, so that a flood does not open it for each that leaves. */
const REST_MS = 100;

/** How long it stays open before it is said to be; until then, to be full again is nothing new. */
const CALM_MS = 10_000;

const MAX_RETRY_MS = 5_000;

/** Where, and for how many. */
export interface BoundedPortOptions {
  /** Name or address to bind, IPv6 without brackets. */
  host: string;
  /** 0 for a free one. */
  port: number;
  /** Connections at once. Those that are being turned away count until their files are free. */
  maxConnections: number;
  /** Connections that wait to be accepted; so many may be accepted beyond `maxConnections`, and closed. */
  backlog: number;
  clock: Clock;
  /** Must not throw. */
  onChange?: (change: PortChange) => void;
}

/** What an operator should know of a port; said once for a flood, however often the port opens in it. */
export type PortChange =
  /** Nobody is let in until a connection ends. */
  | { kind: "full"; maxConnections: number }
  /** It cannot be listened on again at once; that is tried on. */
  | { kind: "blocked"; reason: string }
  /** It has been listened on for a while; `closedMs` after it was full or blocked first. */
  | { kind: "open"; closedMs: number };

/**
 * Opens a server's port, closes it while it is full, and opens it again. Connections that are open never
 * notice. Where the right to listen does not hold for the port that the system chose (`port: 0`), the
 * port stays open, and further connections are closed at once.
 */
export class BoundedPort {
  readonly #server: Server;
  readonly #options: BoundedPortOptions;
  readonly #onClose: () => void;
  #port: number;
  #mayReopen = false;
  #held = 0;
  #state: "opening" | "open" | "full" | "resting" | "closed" = "opening";
  #cancelTimer = () => {};
  #retryMs = REST_MS;
  /** Since when a flood goes on. */
  #closedAt: number | undefined;
  #saidBlocked = false;

  constructor(server: Server, options: BoundedPortOptions) {
    this.#server = server;
    this.#options = options;
    this.#port = options.port;
    // One function for all sockets: there may be thousands.
    this.#onClose = () => this.#leave();
    server.maxConnections = options.maxConnections;
    server.on("connection", this.#take);
    // Where a server does not listen, node:http cuts each connection after its next answer.
    Object.defineProperty(server, "listening", {
      get: () => this.#state !== "closed" || server.address() !== null,
    });
  }

  /** Listens. Rejects with the server's error. */
  open(): Promise<void> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.once("listening", () => {
        server.off("error", reject);
        server.on("error", this.#onError);
        server.on("listening", this.#onListening);
        this.#port = (server.address() as { port: number }).port;
        this.#mayReopen = this.#options.port !== 0 || mayListen(this.#options.host, this.#port);
        this.#onListening();
        resolve();
      });
      this.#listen();
    });
  }

  /** Never listens again. The server is to be closed by whoever has it. */
  stop(): void {
    this.#state = "closed";
    this.#cancelTimer();
  }

  readonly #take = (socket: Socket): void => {
    this.#held++;
    socket.on("close", this.#onClose);
    const { maxConnections, onChange } = this.#options;
    if (this.#held < maxConnections || this.#state !== "open" || !this.#mayReopen) return;
    this.#cease("full");
    if (this.#closedAt !== undefined) return;
    this.#closedAt = this.#options.clock.elapsed();
    onChange?.({ kind: "full", maxConnections });
  };

  #leave(): void {
    this.#held--;
    if (this.#state === "full" && this.#held < this.#options.maxConnections) this.#rest(REST_MS);
  }

  /** What waited to be accepted is refused, and what was accepted already without anybody knowing is cut. */
  #cease(state: "full" | "resting"): void {
    this.#state = state;
    this.#cancelTimer();
    // That of HTTP would end idle connections and the time-outs of all others.
    Server.prototype.close.call(this.#server);
  }

  #rest(ms: number): void {
    this.#state = "resting";
    this.#cancelTimer = this.#options.clock.after(ms, () => this.#listen());
  }

  #listen(): void {
    this.#state = "opening";
    const { host, backlog } = this.#options;
    this.#server.listen({ host, port: this.#port, backlog });
  }

  readonly #onListening = (): void => {
    this.#state = "open";
    this.#retryMs = REST_MS;
    const { clock, onChange } = this.#options;
    const since = this.#closedAt;
    if (since === undefined) return;
    const closedMs = clock.elapsed() - since;
    this.#cancelTimer = clock.after(CALM_MS, () => {
      this.#closedAt = undefined;
      this.#saidBlocked = false;
      onChange?.({ kind: "open", closedMs });
    });
  };

  /** Somebody else may have taken the port. */
  readonly #onError = (error: Error): void => {
    if (this.#state !== "opening" && this.#state !== "open") return;
    this.#cease("resting");
    this.#closedAt ??= this.#options.clock.elapsed();
    if (!this.#saidBlocked) this.#options.onChange?.({ kind: "blocked", reason: error.message });
    this.#saidBlocked = true;
    this.#rest(this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  };
}

function mayListen(host: string, port: number): boolean {
  return Deno.permissions.querySync({ name: "net", host: hostPort(host, port) }).state ===
    "granted";
}
