/**
 * The requests of a connection in their order, one at a time, and a refusal in the envelope for what
 * the HTTP parser cannot read.
 *
 * What must stay true: the bytes of a refusal never stand inside another answer, nor in the place of
 * one. A request that was read whole is answered first, and the refusal comes after it. And no
 * request is begun before the one in front of it is answered: only safe ones might be (RFC 9112,
 * 9.3.2), and a connection would have no bound to what it can set going.
 *
 * @module
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ServiceError } from "../base/errors.ts";
import { toHttpError } from "./errors.ts";

/** What was refused before it was a request. */
export interface Unreadable {
  peerAddress: string;
  status: number;
  reason: string;
}

/** A refusal, ready to be sent. */
interface Refusal {
  line: string;
  error: ServiceError;
}

/** What is known of a connection. */
interface Exchanges {
  /** The request that was read last, whole or not. */
  last?: IncomingMessage;
  /** Answers that are not finished, of requests that wait too. */
  open: Set<ServerResponse>;
  /** Begin the requests that wait for an answer before their own. */
  waiting: (() => void)[];
  /** Sent when the last of them is. */
  refusal?: Refusal;
}

/** Requests that a connection may have sent before their answers; one with more is ended. */
const MAX_PIPELINED = 100;

/** Begins what was read when its turn has come; never, if the client has left. */
export interface Turns {
  request(request: IncomingMessage, response: ServerResponse, begin: () => void): void;
  /** An upgrade, after which the connection is no longer HTTP. */
  upgrade(socket: Duplex, begin: () => void): void;
}

/** Watches a server's connections; the result has to be told of everything that is read. */
export function keepOrder(
  server: Server,
  onUnreadable: (refusal: Unreadable) => void = () => {},
): Turns {
  const connections = new WeakMap<Duplex, Exchanges>();

  function exchangesOf(socket: Duplex): Exchanges {
    let exchanges = connections.get(socket);
    if (exchanges === undefined) {
      connections.set(socket, exchanges = { open: new Set(), waiting: [] });
    }
    return exchanges;
  }

  function refuse(socket: Duplex, { line, error }: Refusal): void {
    if (!socket.writable) return void socket.destroy();
    const { envelope, reason } = toHttpError(error);
    const status = Number.parseInt(line, 10);
    const peerAddress = (socket as Socket).remoteAddress ?? "unknown";
    onUnreadable({ peerAddress, status, reason });
    const body = JSON.stringify(envelope);
    socket.end(
      `HTTP/1.1 ${line}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
        `Connection: close\r\n\r\n${body}`,
    );
  }

  server.on("clientError", (error: Error & { code?: string }, socket) => {
    const exchanges = exchangesOf(socket);
    const { open, last } = exchanges;
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
    if (exchanges.refusal !== undefined) {
      // The limits are checked again and again. Anything else is more garbage, or the client's end.
      if (!isTimeout(error)) socket.destroy();
      return;
    }
    const refusal = refusalFor(error);
    if (last !== undefined && !last.complete) {
      // It broke off in a request that may have its answer, or a part of it, already.
      const [only, more] = open;
      if (only === undefined || more !== undefined || only.headersSent) socket.destroy();
      else refuse(socket, refusal);
    } else if (open.size === 0) {
      refuse(socket, refusal);
    } else {
      exchanges.refusal = refusal;
    }
  });

  // Without a listener, the connection would end without a word.
  server.on("connect", (_request, socket: Duplex) => {
    if (exchangesOf(socket).open.size > 0) return void socket.destroy();
    const error = new ServiceError("invalid_request", "This is no proxy: CONNECT is not taken");
    refuse(socket, { line: "400 Bad Request", error });
  });

  return {
    request(request, response, begin) {
      const { socket } = request;
      const exchanges = exchangesOf(socket);
      const { open, waiting } = exchanges;
      exchanges.last = request;
      open.add(response);
      if (open.size > MAX_PIPELINED) return void socket.destroy();
      response.once("close", () => {
        open.delete(response);
        if (socket.destroyed) waiting.length = 0;
        const next = waiting.shift();
        if (next !== undefined) next();
        else if (exchanges.refusal !== undefined) refuse(socket, exchanges.refusal);
      });
      if (open.size === 1) begin();
      else waiting.push(begin);
    },
    upgrade(socket, begin) {
      const exchanges = connections.get(socket);
      if (exchanges !== undefined && exchanges.open.size > 0) exchanges.waiting.push(begin);
      else begin();
    },
  };
}

function isTimeout({ code }: { code?: string }): boolean {
  return code === "ERR_HTTP_REQUEST_TIMEOUT";
}

function refusalFor(error: Error & { code?: string }): Refusal {
  if (isTimeout(error)) {
    return {
      line: "408 Request Timeout",
      error: new ServiceError("request_timeout", "The request took too long"),
    };
  }
  if (error.code === "HPE_HEADER_OVERFLOW") {
    return {
      line: "431 Request Header Fields Too Large",
      error: new ServiceError("too_large", "The header section is too large"),
    };
  }
  return {
    line: "400 Bad Request",
    error: new ServiceError("invalid_request", "The request cannot be read as HTTP"),
  };
}
