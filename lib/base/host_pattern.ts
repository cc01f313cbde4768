/**
 * How a host, or the names below one, is listed: in rules, for commands, for secrets, for MCP servers.
 *
 * @module
 */

/** A listed host, read. */
export interface HostPattern {
  /** As it was written. */
  readonly text: string;
  /** Lower case, ASCII, without brackets. */
  readonly host: string;
  readonly port?: number;
  /** `.<host>` where names below the host are meant instead of the host. */
  readonly ending?: string;
  readonly isAddress: boolean;
}

/** What one has to look like, for messages. */
export const HOST_PATTERN_FORM = "<host>, <host>:<port> or *.<host>, such as api.example.com:443";

/** Reads one; undefined for what is none. */
export function parseHostPattern(text: string): HostPattern | undefined {
  const match = /^(\*\.)?(\[[0-9A-Fa-f:.]+\]|[^\s:/?#@*[\]\\%]+)(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return;
  const below = match[1] !== undefined;
  const port = match[3] === undefined ? undefined : Number(match[3]);
  if (port !== undefined && (port < 1 || port > 65_535)) return;
  const host = URL.parse(`http://${match[2]}/`)?.hostname.replace(/^\[|\]$/g, "").replace(
    /\.$/,
    "",
  );
  if (host === undefined || host === "") return;
  // The URL standard writes every spelling of an address in one way (a package to tell one would cost
  // each start of the service its loading).
  const isAddress = host.includes(":") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
  if (below && isAddress) return;
  return { text, host, port, ending: below ? `.${host}` : undefined, isAddress };
}

/** Whether a text is one. */
export function isHostPattern(text: string): boolean {
  return parseHostPattern(text) !== undefined;
}

/** A host and port in one text; an address of IPv6 stands in brackets. */
export function joinHostPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Whether one means a host and port. `host` is lower case and ASCII, as URLs have it. */
export function meansHost(pattern: HostPattern, host: string, port: number): boolean {
  if (pattern.port !== undefined && pattern.port !== port) return false;
  return pattern.ending === undefined ? pattern.host === host : host.endsWith(pattern.ending);
}
