/**
 * The one file that owns listening, so that how it is done can change.
 *
 * It is `node:http` everywhere. `Deno.serve` (2.9) has no time-out for a header section that never
 * ends, and does not notice a client that leaves before the status line once its request had a body
 * of some hundred bytes, so that the turn of such a client would go on.
 *
 * @module
 */

import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { systemClock } from "../base/clock.ts";
import { listenAddress } from "../base/addresses.ts";
import { settlesWithin } from "../contract/life.ts";
import { refuseUpgrade } from "./refuse_upgrade.ts";
import { ServiceError } from "../base/errors.ts";
import { dropServerSpan } from "../telemetry/trace.ts";
import { BoundedPort, type PortChange } from "./bounded_port.ts";
import { type ConnectionCounts, Connections } from "./connection_counts.ts";
import { toHttpError } from "./errors.ts";
import { explainListen, hostPort } from "./explain_listen.ts";
import { messageFault } from "./message_fault.ts";
import { keepOrder, type Unreadable } from "./keep_order.ts";
import { readTlsIdentity, type TlsIdentity } from "./tls_identity.ts";
import { listenUnix } from "./unix_socket.ts";

/**
 * Answers a request. Must not throw, and its bodies must not fail. `incoming` says what a request does
 * not, such as each value of a header by itself.
 */
export type Handler = (
  request: Request,
  peerAddress: string,
  incoming: IncomingMessage,
) => Response | Promise<Response>;

/**
 * Takes a request to change the protocol, and its socket with all that follows. `head` is what came with
 * it already. Must not throw. A request that means two things, or comes while the listener closes, was
 * refused before.
 */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Uint8Array) => void;

/** Where and how to listen. */
export interface ListenOptions {
  /** Name or address to bind, IPv6 without brackets. */
  host: string;
  /** 0 for a free one. */
  port: number;
  /** Absolute path of a Unix socket, instead of host and port; its file has the mode 0600. */
  socketPath?: string;
  /** Speaks TLS, 1.2 at least. */
  tls?: TlsIdentity;
  handler: Handler;
  /** Is given what asks for `Upgrade: websocket`; without it, that is a request like any other. */
  onUpgrade?: UpgradeHandler;
  /** Section of the configuration that holds host and port, for errors, such as `api`. */
  setting: string;
  /** Hears of what no handler saw, because it could not be read as a request. */
  onUnreadable?: (refusal: Unreadable) => void;
  /** Hears when the port is full, and when it is not any more. Must not throw. */
  onPortChange?: (change: PortChange) => void;
  /** Closes at once when it aborts. */
  signal?: AbortSignal;
  limits?: Partial<NodeLimits>;
}

/** Bounds that `node:http` enforces. */
export interface NodeLimits {
  /** For the whole header section; default 15,000. */
  headersTimeoutMs: number;
  /** For the whole request, body included; default 300,000. */
  requestTimeoutMs: number;
  /** Bytes of the header section; default 16,384. */
  maxHeaderBytes: number;
  /**
   * Connections at the same time; default 1,000. With so many the port is closed until one ends, and
   * further ones are refused by the system; on a Unix socket they are closed at once.
   */
  maxConnections: number;
  /** Connections that wait to be accepted; default 128. */
  backlog: number;
  /**
   * Connections of one address at the same time; default: no bound of their own. Further ones are closed
   * at once. Peers on a Unix socket have no address.
   */
  maxConnectionsPerAddress: number;
  /** For a TLS handshake; default 10,000. */
  handshakeTimeoutMs: number;
}

/** An open listener. */
export interface Listener {
  /** Such as `http://127.0.0.1:8900`, `https://[::1]:8900`, or `http+unix:/run/service.sock:`. */
  readonly url: string;
  /** 0 for a Unix socket. */
  readonly port: number;
  /** As it is now. */
  counts(): ConnectionCounts;
  /**
   * Takes no new requests, and lets open ones end for `graceMs` (default 0: not at all) before it
   * cuts them. Streams are to be ended by whoever writes them, or they use up the time. Called
   * again with less, it hurries. Sockets that were upgraded are cut last; whoever has them is to end
   * them before.
   */
  close(graceMs?: number): Promise<void>;
}

/** Opens a listener. Throws `config_invalid`, naming the address and what to do, if it cannot. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const listener = await listenNode(options).catch((error) => {
    throw explainListen(error, options);
  });
  const stop = () => void listener.close(0);
  options.signal?.addEventListener("abort", stop, { once: true });
  if (options.signal?.aborted) await listener.close(0);
  return {
    ...listener,
    close(graceMs = 0) {
      options.signal?.removeEventListener("abort", stop);
      return listener.close(graceMs);
    },
  };
}

/** Loads what a listener is made of, for whoever has the time for it before one is opened. */
export async function loadListener() {
  const [{ getRequestListener }, { createServer }] = await Promise.all([
    import("@hono/node-server"),
    import("node:http"),
  ]);
  return { getRequestListener, createServer };
}

async function listenNode(options: ListenOptions): Promise<Listener> {
  const { host, handler, limits, onUpgrade, socketPath } = options;
  const tls = options.tls && await readTlsIdentity(options.tls, options.setting);
  const { getRequestListener } = await loadListener();
  const answer = getRequestListener(
    (request, { incoming }) => {
      const message = incoming as IncomingMessage;
      return handler(request, peerOf(message.socket), message);
    },
    {
      // What an HTTP/1.0 request without a Host is taken to mean.
      hostname: "localhost",
      // By default it replaces the global Response, which other servers of this thread need as it is.
      overrideGlobalObjects: false,
      errorHandler: (error) => {
        if (!(error instanceof Error) || error.name !== "RequestError") return brokenHandler();
        options.onUnreadable?.({ peerAddress: "unknown", status: 400, reason: "invalid_request" });
        return plainError(
          new ServiceError("invalid_request", `The request cannot be read: ${error.message}`),
        );
      },
    },
  );
  const peerOf = ({ remoteAddress }: { remoteAddress?: string }) =>
    remoteAddress ?? (socketPath === undefined ? "unknown" : "unix");
  const server = await createNodeServer(
    {
      headersTimeout: limits?.headersTimeoutMs ?? 15_000,
      requestTimeout: limits?.requestTimeoutMs ?? 300_000,
      maxHeaderSize: limits?.maxHeaderBytes ?? 16_384,
      connectionsCheckingInterval: Math.min(1_000, limits?.headersTimeoutMs ?? 1_000),
      keepAliveTimeout: 65_000,
      // It would refuse without the envelope.
      requireHostHeader: false,
      // What else may be upgraded to, such as h2c, may be ignored (RFC 9110, 7.8).
      ...onUpgrade && { shouldUpgradeCallback: asksForWebSocket },
    },
    onRequest,
    tls && { ...tls, handshakeTimeout: limits?.handshakeTimeoutMs ?? 10_000 },
  );
  const connections = new Connections(server, limits?.maxConnectionsPerAddress ?? Infinity);
  // Headers over a count would be dropped without a word, and may be the Host or the key.
  server.maxHeadersCount = 0;
  // An expectation other than 100-continue may be ignored (RFC 9110, 10.1.1).
  server.on("checkExpectation", onRequest);
  const turns = keepOrder(server, options.onUnreadable);

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    turns.request(request, response, () => begin(request, response));
  }

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const fault = messageFault(request);
    dropServerSpan(response);
    if (fault === undefined) return void answer(request, response);
    const { status, body } = refuse(request, unreadable(fault));
    response.writeHead(status, { "content-type": "application/json", connection: "close" });
    response.end(body);
  }

  function refuse(request: IncomingMessage, error: ServiceError) {
    const { status, envelope, reason } = toHttpError(error);
    options.onUnreadable?.({ peerAddress: peerOf(request.socket), status, reason });
    return { status, body: JSON.stringify(envelope) };
  }

  let closing: Promise<void> | undefined;
  if (onUpgrade !== undefined) {
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Uint8Array) => {
      connections.upgrade(socket);
      turns.upgrade(socket, () => {
        const fault = messageFault(request);
        const error = fault !== undefined
          ? unreadable(fault)
          : closing && new ServiceError("draining", "The service is stopping; connect again later");
        if (error === undefined) onUpgrade(request, socket, head);
        else refuseUpgrade(socket, refuse(request, error), systemClock);
      });
    });
  }

  const closePort = await bind(server, options);
  const bound = server.address() as { port: number };
  return {
    url: socketPath === undefined
      ? `${tls ? "https" : "http"}://${hostPort(host, bound.port)}`
      : `${tls ? "https" : "http"}+unix:${socketPath}:`,
    port: socketPath === undefined ? bound.port : 0,
    counts: () => connections.counts,
    async close(graceMs = 0) {
      closePort();
      closing ??= closeNode(server);
      if (graceMs > 0) await settlesWithin(systemClock, closing, graceMs);
      server.closeAllConnections();
      connections.destroyUpgraded();
      await closing;
    },
  };
}

async function createNodeServer(
  options: ServerOptions,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
  tls?: TlsIdentity & { handshakeTimeout: number },
): Promise<Server> {
  if (tls === undefined) return (await loadListener()).createServer(options, onRequest);
  const { createServer } = await import("node:https");
  const server = createServer({ ...options, ...tls, minVersion: "TLSv1.2" }, onRequest);
  // Before it is taken for bad HTTP and answered in clear text.
  server.prependListener("tlsClientError", (_error, socket) => socket.destroy());
  return server;
}

/** Returns what makes sure that the server does not listen again. */
async function bind(
  server: Server,
  { host, port, socketPath, setting, limits, onPortChange }: ListenOptions,
): Promise<() => void> {
  const maxConnections = limits?.maxConnections ?? 1_000;
  if (socketPath !== undefined) {
    // Only its owner can reach it.
    server.maxConnections = maxConnections;
    await listenUnix(server, socketPath, `${setting}.socketPath`);
    return () => {};
  }
  const bounded = new BoundedPort(server, {
    host: listenAddress(host),
    port,
    maxConnections,
    backlog: limits?.backlog ?? 128,
    clock: systemClock,
    onChange: onPortChange,
  });
  await bounded.open();
  return () => bounded.stop();
}

function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return /\bwebsocket\b/i.test(headers.upgrade ?? "");
}

function unreadable(fault: string): ServiceError {
  return new ServiceError("invalid_request", `The request cannot be read: ${fault}`);
}

function closeNode(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // A port that was full says the same when its last connection ends, and may have let in others since.
    server.on("close", () =>
      server.getConnections((_, open) => {
        if (open === 0) resolve();
      }));
  });
  server.close();
  server.closeIdleConnections();
  return closed;
}

function plainError(error: ServiceError): Response {
  const { status, envelope } = toHttpError(error);
  return Response.json(envelope, { status });
}

function brokenHandler(): Response {
  return plainError(new ServiceError("internal", "The handler threw"));
}
