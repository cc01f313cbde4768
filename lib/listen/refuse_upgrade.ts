/**
 * A refusal over the raw socket of an upgrade, where no HTTP server answers any more.
 *
 * @module
 */

import type { Duplex } from "node:stream";
import type { Clock } from "../base/clock.ts";

/** An answer that is none of an upgrade. */
export interface UpgradeRefusal {
  status: number;
  /** JSON. */
  body: string;
  headers?: Readonly<Record<string, string>>;
}

/** How long a client may take to read a refusal, milliseconds. */
const LINGER_MS = 2_000;

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  426: "Upgrade Required",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/**
 * Answers and ends the socket. What the client has sent already is read and thrown away for a moment: a
 * socket that is closed over unread bytes is reset, and the answer with it (RFC 9112, 9.6).
 */
export function refuseUpgrade(
  socket: Duplex,
  { status, body, headers = {} }: UpgradeRefusal,
  clock: Pick<Clock, "after">,
): void {
  if (socket.destroyed || !socket.writable) return void socket.destroy();
  const bytes = new TextEncoder().encode(body);
  const fields = {
    "Content-Type": "application/json",
    "Content-Length": String(bytes.length),
    ...headers,
    Connection: "close",
  };
  const cancel = clock.after(LINGER_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.once("end", () => {
    if (socket.writableFinished) socket.destroy();
    else socket.once("finish", () => socket.destroy());
  });
  socket.once("close", cancel);
  let head = `HTTP/1.1 ${status} ${REASONS[status] ?? ""}\r\n`;
  for (const [name, value] of Object.entries(fields)) head += `${name}: ${value}\r\n`;
  socket.write(`${head}\r\n`);
  socket.end(bytes);
  socket.resume();
}
