/**
 * What a program in the sandbox asks of its proxy: a tunnel (CONNECT) or one request for an `http:` URL in
 * absolute form (RFC 9112, 3.2). What could be read in two ways is refused.
 *
 * @module
 */

import { type HostPort, parseHostPort } from "../connect_head.ts";

/** How long the body of a request is. */
export type BodyLength = number | "chunked";

/** A request that was understood, or why it was not. */
export type ClientRequest =
  | { kind: "tunnel"; to: HostPort }
  /** `head` is what the host itself is sent. */
  | { kind: "forward"; to: HostPort; head: string; body: BodyLength }
  | { kind: "refused"; status: number; reason: string };

/** Longest head, bytes. */
export const MAX_CLIENT_HEAD_BYTES = 64 * 1024;

/** Headers for the next hop alone (RFC 9110, 7.6.1), and what is set anew. */
const NOT_FORWARDED = new Set([
  "connection",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "upgrade",
]);

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([!-~]{1,16384}) HTTP\/1\.[01]$/;
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

/** Reads a head with its empty line. */
export function readClientRequest(head: string): ClientRequest {
  const [first = "", ...lines] = head.slice(0, -4).split("\r\n");
  const line = REQUEST_LINE.exec(first);
  if (line === null) return refused("its first line is no request of HTTP/1.1");
  const [, method, target] = line;
  const headers: [name: string, value: string][] = [];
  for (const text of lines) {
    // A line break alone, a NUL and a folded line match nothing here.
    const header = HEADER.exec(text);
    if (header === null) return refused("a header of it is none");
    headers.push([header[1]!, header[2]!.trimEnd()]);
  }
  if (method === "CONNECT") {
    const to = parseHostPort(target!);
    return to === undefined ? refused("expected CONNECT <host>:<port>") : { kind: "tunnel", to };
  }
  return forward(method!, target!, headers);
}

function forward(
  method: string,
  target: string,
  headers: readonly [name: string, value: string][],
): ClientRequest {
  const url = URL.parse(target);
  if (url === null || url.protocol !== "http:") {
    return refused("expected CONNECT, or an absolute URL of http:");
  }
  if (url.username !== "" || url.password !== "") {
    return refused("its URL holds a user name or password");
  }
  const to = parseHostPort(`${url.hostname}:${url.port || 80}`);
  if (to === undefined) return refused("its URL has no host");
  const body = bodyLength(headers);
  if (typeof body === "object") return refused(body.problem);
  const kept = headers.filter(([name]) => !NOT_FORWARDED.has(name.toLowerCase()));
  const lines = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    ...kept.map(([name, value]) => `${name}: ${value}`),
    // The next request may be for another host, so there is none on this connection.
    "Connection: close",
  ];
  return { kind: "forward", to, head: `${lines.join("\r\n")}\r\n\r\n`, body };
}

function bodyLength(
  headers: readonly [name: string, value: string][],
): BodyLength | { problem: string } {
  const values = (name: string) =>
    headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
  const lengths = values("content-length");
  const codings = values("transfer-encoding");
  if (codings.length > 0) {
    if (lengths.length > 0) return { problem: "it has two lengths" };
    return codings.length === 1 && codings[0]!.toLowerCase() === "chunked"
      ? "chunked"
      : { problem: "its transfer coding is not chunked" };
  }
  if (lengths.length === 0) return 0;
  if (lengths.length > 1 || !/^\d{1,15}$/.test(lengths[0]!)) {
    return { problem: "its length is no number" };
  }
  return Number(lengths[0]);
}

function refused(reason: string): ClientRequest {
  return { kind: "refused", status: 400, reason };
}
