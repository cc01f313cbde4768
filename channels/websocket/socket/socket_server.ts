/**
 * The WebSocket server: from the upgrade of a request to a connection, by `ws`.
 *
 * What must stay true: nothing of a client that was not let in outlives its refusal, whatever it sends
 * meanwhile and whenever it leaves; before that nothing is read from it.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
// @ts-types="@types/ws"
import type { WebSocketServer } from "ws";
import type { Clock } from "../../../lib/base/clock.ts";
import { refuseUpgrade, type UpgradeRefusal } from "../../../lib/listen/refuse_upgrade.ts";
import type { SocketAdmission } from "../../../lib/channel/socket_host.ts";
import { upgradePath } from "../../../lib/base/upgrade_path.ts";
import type { Log } from "../../../lib/base/log.ts";
import { checkUpgrade, refusal } from "./check_upgrade.ts";
import type { Connection } from "./connection.ts";
import { Heartbeat } from "./heartbeat.ts";
import { InboundBytes } from "./inbound_bytes.ts";
import {
  CLOSE_TIMEOUT_MS,
  type ConnectionDeps,
  type Trouble,
  WsConnection,
} from "./ws_connection.ts";

/** What a server is made of. */
export interface SocketServerOptions {
  admission: Pick<SocketAdmission, "admit">;
  /** Path of the upgrade; slashes at its end do not count. */
  path: string;
  /** Bytes of one message from a client; 1009 beyond. */
  maxMessageBytes: number;
  pingIntervalMs: number;
  pingTimeoutMs: number;
  /** Is given each connection before anything was read from it; sets its listener. */
  onConnection(connection: Connection): void;
  clock: Clock;
  log: Log;
  limits?: Partial<SocketLimits>;
}

/** Bounds that are no part of the configuration. */
export interface SocketLimits {
  /** Milliseconds for an admission; default 15,000. */
  admissionTimeoutMs: number;
  /**
   * Bytes of all messages from clients, on their way in or worked on; default 512 MiB. Who sends more
   * is closed
   * with 1013.
   */
  maxInboundBytes: number;
}

/** What a server holds, and what became of the rest since its start. */
export interface SocketCounts {
  open: number;
  /** Whose handshake is being decided about. */
  admitting: number;
  inboundBytes: number;
  opened: number;
  refused: number;
  troubles: Readonly<Record<Trouble, number>>;
}

type LetIn = Extract<Awaited<ReturnType<SocketAdmission["admit"]>>, { peer: unknown }>;

/** A server, for the upgrades of a listener. */
export class SocketServer {
  readonly #options: SocketServerOptions;
  readonly #path: string;
  readonly #deps: ConnectionDeps;
  #server: Promise<WebSocketServer> | undefined;
  readonly #protocols = new WeakMap<IncomingMessage, string>();
  readonly #connections = new Set<WsConnection>();
  readonly #watches = new Map<WsConnection, () => void>();
  /** What is being decided about, with what ends that. */
  readonly #admitting = new Map<Duplex, () => boolean>();
  readonly #troubles: Record<Trouble, number> = {
    slow_reader: 0,
    dead_peer: 0,
    protocol_error: 0,
    overloaded: 0,
    failed: 0,
  };
  #opened = 0;
  #refused = 0;
  #closing: Promise<void> | undefined;

  constructor(options: SocketServerOptions) {
    const { maxMessageBytes, clock, log, limits } = options;
    this.#options = options;
    this.#path = upgradePath(options.path);
    this.#deps = {
      clock,
      log,
      heartbeat: new Heartbeat(clock, options),
      maxMessageBytes,
      inbound: new InboundBytes(limits?.maxInboundBytes ?? 512 * 1024 * 1024),
      onTrouble: (trouble) => this.#troubles[trouble]++,
      onEnd: (connection) => {
        this.#connections.delete(connection);
        this.#watches.get(connection)?.();
        this.#watches.delete(connection);
      },
    };
  }

  /** Never throws. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Uint8Array): void {
    if (this.#closing !== undefined) return this.#refuse(socket, stopping());
    const fault = checkUpgrade(request, this.#path);
    if (fault !== undefined) return this.#refuse(socket, fault);
    const { admission, log } = this.#options;
    const decide = this.#awaitDecision(socket);
    const server = this.#server ??= this.#openServer().catch((error) => {
      // The next one tries again.
      this.#server = undefined;
      throw error;
    });
    const admitted = Promise.resolve(request).then((opening) => admission.admit(opening));
    Promise.all([admitted, server]).then(([answer, server]) => {
      if (!decide()) return;
      if (!("peer" in answer)) return this.#refuse(socket, answer);
      if (this.#closing !== undefined) return this.#refuse(socket, stopping());
      if (answer.protocol !== undefined) this.#protocols.set(request, answer.protocol);
      this.#accept(server, request, socket, head, answer);
    }, (error) => {
      log.error("A WebSocket handshake could not be decided about", { reason: messageOf(error) });
      if (decide()) this.#refuse(socket, refusal(500, "Internal error"));
    });
  }

  counts(): SocketCounts {
    return {
      open: this.#connections.size,
      admitting: this.#admitting.size,
      inboundBytes: this.#deps.inbound.bytes,
      opened: this.#opened,
      refused: this.#refused,
      troubles: { ...this.#troubles },
    };
  }

  /** Takes nothing new, says 1001 to everybody, and cuts those who are still there after `graceMs`. */
  close(graceMs = 0): Promise<void> {
    const cut = () => this.#connections.forEach((connection) => connection.terminate());
    this.#closing ??= this.#end();
    const cancel = this.#options.clock.after(graceMs, cut);
    return this.#closing.finally(cancel);
  }

  async #end(): Promise<void> {
    for (const [socket, decide] of this.#admitting) if (decide()) this.#refuse(socket, stopping());
    for (const connection of this.#connections) connection.close(1001, "The service is stopping");
    await Promise.all([...this.#connections].map(({ closed }) => aborted(closed)));
  }

  /** With the first client: a start needn't wait for what it is made of. */
  async #openServer(): Promise<WebSocketServer> {
    // @ts-types="@types/ws"
    const { WebSocketServer } = await import("ws");
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: this.#options.maxMessageBytes,
      skipUTF8Validation: false,
      // What clients compress is taken, each message by itself; nothing is compressed for them.
      perMessageDeflate: { clientNoContextTakeover: true, serverNoContextTakeover: true },
      handleProtocols: (_offered, request) => this.#protocols.get(request) ?? false,
      // Newer than its types.
      ...{ closeTimeout: CLOSE_TIMEOUT_MS },
    });
    server.on(
      "wsClientError",
      (error, socket) => this.#refuse(socket, refusal(400, error.message)),
    );
    return server;
  }

  #refuse(socket: Duplex, answer: UpgradeRefusal): void {
    this.#refused++;
    refuseUpgrade(socket, answer, this.#options.clock);
  }

  /** A function that is true once: when nothing was decided before, and somebody is there to hear it. */
  #awaitDecision(socket: Duplex): () => boolean {
    const { clock, limits, log } = this.#options;
    const decide = () => {
      if (!this.#admitting.delete(socket)) return false;
      cancel();
      socket.off("close", decide);
      socket.off("end", decide);
      return !socket.destroyed;
    };
    const cancel = clock.after(limits?.admissionTimeoutMs ?? 15_000, () => {
      log.warning("A WebSocket handshake took too long to decide about");
      if (decide()) {
        this.#refuse(socket, refusal(503, "The handshake took too long", { "Retry-After": "5" }));
      }
    });
    this.#admitting.set(socket, decide);
    socket.once("close", decide);
    socket.once("end", decide);
    return decide;
  }

  #accept(
    server: WebSocketServer,
    request: IncomingMessage,
    socket: Duplex,
    head: Uint8Array,
    { peer, onRevoked }: LetIn,
  ): void {
    const peerAddress = request.socket.remoteAddress ?? "unix";
    type Head = Parameters<WebSocketServer["handleUpgrade"]>[2];
    server.handleUpgrade(request, socket, head as Head, (ws) => {
      const connection = new WsConnection(ws, { peer, peerAddress, socket }, this.#deps);
      this.#connections.add(connection);
      this.#opened++;
      const leave = () => connection.close(1008, "The token was revoked");
      if (onRevoked !== undefined) this.#watches.set(connection, onRevoked(leave));
      this.#options.onConnection(connection);
    });
  }
}

function stopping(): UpgradeRefusal {
  return refusal(503, "The service is stopping; connect again later", { "Retry-After": "5" });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}
