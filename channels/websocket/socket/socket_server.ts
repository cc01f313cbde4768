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
import { WebSocketServer } from "ws";
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

export interface SocketServer {
  /** For a listener's upgrades. Never throws. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Uint8Array): void;
  counts(): SocketCounts;
  /** Takes nothing new, says 1001 to everybody, and cuts those who are still there after `graceMs`. */
  close(graceMs?: number): Promise<void>;
}

/** Makes a server. */
export function createSocketServer(options: SocketServerOptions): SocketServer {
  const { admission, maxMessageBytes, clock, log, limits } = options;
  const path = upgradePath(options.path);
  const protocols = new WeakMap<IncomingMessage, string>();
  const connections = new Set<WsConnection>();
  const watches = new Map<WsConnection, () => void>();
  const admitting = new Map<Duplex, () => boolean>();
  const troubles: Record<Trouble, number> = {
    slow_reader: 0,
    dead_peer: 0,
    protocol_error: 0,
    overloaded: 0,
    failed: 0,
  };
  let opened = 0;
  let refused = 0;
  let closing: Promise<void> | undefined;

  const deps: ConnectionDeps = {
    clock,
    log,
    heartbeat: new Heartbeat(clock, options),
    maxMessageBytes,
    inbound: new InboundBytes(limits?.maxInboundBytes ?? 512 * 1024 * 1024),
    onTrouble: (trouble) => troubles[trouble]++,
    onEnd: (connection) => {
      connections.delete(connection);
      watches.get(connection)?.();
      watches.delete(connection);
    },
  };
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: maxMessageBytes,
    skipUTF8Validation: false,
    // What clients compress is taken, each message by itself; nothing is compressed for them.
    perMessageDeflate: { clientNoContextTakeover: true, serverNoContextTakeover: true },
    handleProtocols: (_offered, request) => protocols.get(request) ?? false,
    // Newer than its types.
    ...{ closeTimeout: CLOSE_TIMEOUT_MS },
  });
  server.on("wsClientError", (error, socket) => refuse(socket, refusal(400, error.message)));

  function refuse(socket: Duplex, answer: UpgradeRefusal): void {
    refused++;
    refuseUpgrade(socket, answer, clock);
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Uint8Array): void {
    if (closing !== undefined) return refuse(socket, stopping());
    const fault = checkUpgrade(request, path);
    if (fault !== undefined) return refuse(socket, fault);
    const decide = awaitDecision(socket);
    Promise.resolve(request).then((opening) => admission.admit(opening)).then((answer) => {
      if (!decide()) return;
      if (!("peer" in answer)) return refuse(socket, answer);
      if (closing !== undefined) return refuse(socket, stopping());
      if (answer.protocol !== undefined) protocols.set(request, answer.protocol);
      accept(request, socket, head, answer);
    }, (error) => {
      log.error("A WebSocket handshake could not be decided about", { reason: messageOf(error) });
      if (decide()) refuse(socket, refusal(500, "Internal error"));
    });
  }

  /** A function that is true once: when nothing was decided before, and somebody is there to hear it. */
  function awaitDecision(socket: Duplex): () => boolean {
    const decide = () => {
      if (!admitting.delete(socket)) return false;
      cancel();
      socket.off("close", decide);
      socket.off("end", decide);
      return !socket.destroyed;
    };
    const cancel = clock.after(limits?.admissionTimeoutMs ?? 15_000, () => {
      log.warning("A WebSocket handshake took too long to decide about");
      if (decide()) {
        refuse(socket, refusal(503, "The handshake took too long", { "Retry-After": "5" }));
      }
    });
    admitting.set(socket, decide);
    socket.once("close", decide);
    socket.once("end", decide);
    return decide;
  }

  function accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Uint8Array,
    { peer, onRevoked }: LetIn,
  ): void {
    const peerAddress = request.socket.remoteAddress ?? "unix";
    server.handleUpgrade(
      request,
      socket,
      head as Parameters<typeof server.handleUpgrade>[2],
      (ws) => {
        const connection = new WsConnection(ws, { peer, peerAddress, socket }, deps);
        connections.add(connection);
        opened++;
        const leave = () => connection.close(1008, "The token was revoked");
        if (onRevoked !== undefined) watches.set(connection, onRevoked(leave));
        options.onConnection(connection);
      },
    );
  }

  async function end(): Promise<void> {
    for (const [socket, decide] of admitting) if (decide()) refuse(socket, stopping());
    for (const connection of connections) connection.close(1001, "The service is stopping");
    await Promise.all([...connections].map(({ closed }) => aborted(closed)));
  }

  return {
    upgrade,
    counts: () => ({
      open: connections.size,
      admitting: admitting.size,
      inboundBytes: deps.inbound.bytes,
      opened,
      refused,
      troubles: { ...troubles },
    }),
    close(graceMs = 0) {
      const cut = () => connections.forEach((connection) => connection.terminate());
      closing ??= end();
      const cancel = clock.after(graceMs, cut);
      return closing.finally(cancel);
    },
  };
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
