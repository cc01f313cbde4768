/**
 * Answers what the HTTP parser cannot read, in the envelope, and ends the connection.
 *
 * What must stay true: the bytes of a refusal never stand inside another answer, nor in the place of
 * one. A request that was read whole is answered first, and the refusal comes after it.
 *
 * @module
 */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ServiceError } from "../errors.ts";
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
  /** Answers that are not finished. */
  open: Set<ServerResponse>;
  /** Sent when the last of them is. */
  refusal?: Refusal;
}

/** Listens for the parser's errors; the result has to be told of every request that it reads. */
export function refuseUnreadable(
  server: Server,
  onUnreadable: (refusal: Unreadable) => void = () => {},
): (request: IncomingMessage, response: ServerResponse) => void {
  const connections = new WeakMap<Duplex, Exchanges>();

  function exchangesOf(socket: Duplex): Exchanges {
    let exchanges = connections.get(socket);
    if (exchanges === undefined) connections.set(socket, exchanges = { open: new Set() });
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

  return (request, response) => {
    const { socket } = request;
    const exchanges = exchangesOf(socket);
    exchanges.last = request;
    exchanges.open.add(response);
    response.once("close", () => {
      exchanges.open.delete(response);
      if (exchanges.open.size === 0 && exchanges.refusal) refuse(socket, exchanges.refusal);
    });
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
