/**
 * The one file that owns listening, so that how it is done can change.
 *
 * It is `node:http` everywhere. `Deno.serve` (2.9) has no time-out for a header section that never
 * ends, and does not notice a client that leaves before the status line once its request had a body
 * of some hundred bytes, so that the turn of such a client would go on.
 *
 * @module
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { systemClock } from "../agent/clock.ts";
import { settlesWithin } from "../agent/life.ts";
import { ServiceError } from "../errors.ts";
import { toHttpError } from "./errors.ts";
import { messageFault } from "./message_fault.ts";
import { keepOrder, type Unreadable } from "./keep_order.ts";

/** Answers a request. Must not throw, and its bodies must not fail. */
export type Handler = (request: Request, peerAddress: string) => Response | Promise<Response>;

/** Where and how to listen. */
export interface ListenOptions {
  /** Name or address to bind, IPv6 without brackets. */
  host: string;
  /** 0 for a free one. */
  port: number;
  handler: Handler;
  /** Section of the configuration that holds host and port, for errors, such as `api`. */
  setting: string;
  /** Hears of what no handler saw, because it could not be read as a request. */
  onUnreadable?: (refusal: Unreadable) => void;
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
   * Connections at the same time; default 1,000. Further ones are closed at once. A process that
   * runs out of file descriptors is worse off: Deno 2.9 does not accept again when it has some.
   */
  maxConnections: number;
}

/** An open listener. */
export interface Listener {
  /** Such as `http://127.0.0.1:8900` or `http://[::1]:8900`. */
  readonly url: string;
  readonly port: number;
  /**
   * Takes no new requests, and lets open ones end for `graceMs` (default 0: not at all) before it
   * cuts them. Streams are to be ended by whoever writes them, or they use up the time. Called
   * again with less, it hurries.
   */
  close(graceMs?: number): Promise<void>;
}

/** Opens a listener. Throws `config_invalid`, naming the address and what to do, if it cannot. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const listener = await listenNode(options).catch((error) => {
    throw explain(error, options);
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

async function listenNode(options: ListenOptions): Promise<Listener> {
  const { host, port, handler, limits } = options;
  const [{ createServer }, { getRequestListener }] = await Promise.all([
    import("node:http"),
    import("@hono/node-server"),
  ]);
  const answer = getRequestListener(
    (request, { incoming }) =>
      handler(request, (incoming as IncomingMessage).socket.remoteAddress ?? "unknown"),
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
  const server: Server = createServer({
    headersTimeout: limits?.headersTimeoutMs ?? 15_000,
    requestTimeout: limits?.requestTimeoutMs ?? 300_000,
    maxHeaderSize: limits?.maxHeaderBytes ?? 16_384,
    connectionsCheckingInterval: Math.min(1_000, limits?.headersTimeoutMs ?? 1_000),
    keepAliveTimeout: 65_000,
    // It would refuse without the envelope.
    requireHostHeader: false,
  }, onRequest);
  // Headers over a count would be dropped without a word, and may be the Host or the key.
  server.maxHeadersCount = 0;
  server.maxConnections = limits?.maxConnections ?? 1_000;
  // An expectation other than 100-continue may be ignored (RFC 9110, 10.1.1).
  server.on("checkExpectation", onRequest);
  const takeTurns = keepOrder(server, options.onUnreadable);

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    takeTurns(request, response, () => begin(request, response));
  }

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const fault = messageFault(request);
    if (fault === undefined) return void answer(request, response);
    const error = new ServiceError("invalid_request", `The request cannot be read: ${fault}`);
    const { status, envelope, reason } = toHttpError(error);
    const peerAddress = request.socket.remoteAddress ?? "unknown";
    options.onUnreadable?.({ peerAddress, status, reason });
    response.writeHead(status, { "content-type": "application/json", connection: "close" });
    response.end(JSON.stringify(envelope));
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const bound = server.address() as { port: number };
  let closing: Promise<void> | undefined;
  return {
    url: urlOf(host, bound.port),
    port: bound.port,
    async close(graceMs = 0) {
      closing ??= closeNode(server);
      if (graceMs > 0) await settlesWithin(systemClock, closing, graceMs);
      server.closeAllConnections();
      await closing;
    },
  };
}

function closeNode(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
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

function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function explain(error: unknown, { host, port, setting }: ListenOptions): ServiceError {
  const at = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const code = (error as { code?: string }).code;
  const name = error instanceof Error ? error.name : "";
  const details = { param: `${setting}.port` };
  if (name === "AddrInUse" || code === "EADDRINUSE") {
    return new ServiceError(
      "config_invalid",
      `Cannot listen on ${at}: the port is in use; stop the program that has it, or set ` +
        `${setting}.port to another number (0: any free one)`,
      details,
      { cause: error },
    );
  }
  if (name === "PermissionDenied" || name === "NotCapable" || code === "EACCES") {
    return new ServiceError(
      "config_invalid",
      `Cannot listen on ${at}: not permitted; ports below 1024 need special rights, so set ` +
        `${setting}.port to a higher number`,
      details,
      { cause: error },
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new ServiceError(
    "config_invalid",
    `Cannot listen on ${at}: ${reason}; set ${setting}.host to an address of this machine`,
    { param: `${setting}.host` },
    { cause: error },
  );
}
