/**
 * What the HTTP parser lets through and a server must not: messages of which two readers could think
 * differently, so that a guard checks one request and a handler answers another (RFC 9112).
 *
 * @module
 */

import type { IncomingMessage } from "node:http";

/** What of a message is looked at. */
export type MessageHead = Pick<IncomingMessage, "httpVersion" | "url" | "rawHeaders">;

/** Why a message has to be refused with 400; undefined for one that means one thing. */
export function messageFault({ httpVersion, url = "", rawHeaders }: MessageHead) {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return `this server speaks HTTP/1.1, not ${httpVersion}`;
  }
  const hosts = valuesOf(rawHeaders, "host");
  // RFC 9112, 3.2. A client of HTTP/1.0 need not send one.
  if (hosts.length > 1) return "it has more than one Host header";
  if (hosts.length === 0 && httpVersion === "1.1") return "it has no Host header";
  // RFC 9112, 3.2.2: the target would win, and the guard looks at the header.
  const authority = url.match(/^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i)?.[1];
  if (authority !== undefined && withoutPort80(authority) !== withoutPort80(hosts[0] ?? "")) {
    return "its target and its Host header name different hosts";
  }
  // RFC 9112, 6.1: a body in a coding that is not undone would be read as it is.
  const codings = valuesOf(rawHeaders, "transfer-encoding");
  if (codings.some((coding) => coding.trim().toLowerCase() !== "chunked")) {
    return "its Transfer-Encoding is not chunked";
  }
  return undefined;
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.toLowerCase() === name) values.push(rawHeaders[at + 1]!);
  }
  return values;
}

function withoutPort80(host: string): string {
  return host.trim().toLowerCase().replace(/:80$/, "");
}
