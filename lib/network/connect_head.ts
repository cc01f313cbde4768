/**
 * The one request that the proxy of sandboxed programs takes: `CONNECT <host>:<port> HTTP/1.1` and an
 * empty line, nothing before, between or behind (RFC 9110, 9.3.6). Whoever asks waits for the answer
 * before it sends more, so bytes that come with the request are an attempt to smuggle.
 *
 * Shared by the proxy and by the relay in the sandbox; imports nothing.
 *
 * @module
 */

/** What a request names. */
export interface HostPort {
  /** As it was written, without brackets; not looked up and not judged. */
  host: string;
  port: number;
}

/** Longest request, bytes: a name of 253 characters and a port fit. */
export const MAX_CONNECT_BYTES = 512;

/** The answer to a request that was let through. */
export const CONNECTED = "HTTP/1.1 200 OK\r\n\r\n";

/** Longest answer, bytes. */
export const MAX_ANSWER_BYTES = 2_048;

const MAX_HOST_CHARS = 253;
const AUTHORITY = /^(?:([A-Za-z0-9_.-]+)|\[([0-9A-Fa-f:.]+)\]):([1-9]\d{0,4})$/;

/** Reads `<host>:<port>`, an address of IPv6 in brackets; undefined for anything else. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = AUTHORITY.exec(text);
  if (match === null) return;
  const host = match[1] ?? match[2]!;
  const port = Number(match[3]);
  if (host.length > MAX_HOST_CHARS || port > 65_535) return;
  return { host, port };
}

/** The request for a host and port. */
export function connectHead({ host, port }: HostPort): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `CONNECT ${name}:${port} HTTP/1.1\r\n\r\n`;
}

/** Reads a request, from its first byte to its empty line; undefined for anything else. */
export function parseConnectHead(head: string): HostPort | undefined {
  // A line break within would be a second line, and the pattern for the authority has none.
  const match = /^CONNECT (\S+) HTTP\/1\.1\r\n\r\n$/.exec(head);
  return match === null ? undefined : parseHostPort(match[1]!);
}

/** The answer to a request that was not let through; `reason` is for people. */
export function refusalHead(status: number, reason: string): string {
  const words: Record<number, string> = {
    400: "Bad Request",
    403: "Forbidden",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
  };
  const body = `${reason.slice(0, 1_000)}\n`;
  const bytes = new TextEncoder().encode(body).length;
  return `HTTP/1.1 ${status} ${
    words[status] ?? "Error"
  }\r\nContent-Type: text/plain; charset=utf-8\r\n` +
    `Content-Length: ${bytes}\r\nConnection: close\r\n\r\n${body}`;
}
