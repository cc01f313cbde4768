/**
 * What a WebSocket's opening handshake says of who opens it: query and subprotocols.
 *
 * @module
 */

/** Characters of a client's id; what is longer is cut. */
const MAX_CLIENT_ID_CHARS = 128;

/** The subprotocol that is selected when it is offered. */
export const SUBPROTOCOL = "service.v1";

/** A browser can set no header, and a subprotocol stands in no log of a proxy as a query does. */
const TOKEN_PREFIX = "service.token.";

/** What was said. */
export interface Offered {
  /** As it was sent, cut; undefined for none, and for an empty one. */
  clientId?: string;
  /** Every token that was shown, each text once. More than one is none: which of them would count? */
  tokens: readonly string[];
  /** Whether {@linkcode SUBPROTOCOL} is offered. */
  speaks: boolean;
  /** A token is offered as a subprotocol without the one that could be selected. */
  tokenAlone: boolean;
}

/** Reads a handshake. `protocols` are the values of Sec-WebSocket-Protocol. */
export function readOffered(url: string, protocols: readonly string[]): Offered {
  const query = new URLSearchParams(queryOf(url));
  const offered = protocols.join(",").split(",").map((each) => each.trim());
  const inProtocols = offered.filter((each) => each.startsWith(TOKEN_PREFIX))
    .map((each) => each.slice(TOKEN_PREFIX.length));
  const speaks = offered.includes(SUBPROTOCOL);
  const tokens = [...query.getAll("token"), ...inProtocols].filter((each) => each !== "");
  const clientId = cut(query.get("client_id") ?? "");
  return {
    ...clientId !== "" && { clientId },
    tokens: [...new Set(tokens)],
    speaks,
    tokenAlone: inProtocols.length > 0 && !speaks,
  };
}

function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1).replace(/#.*$/s, "");
}

/** By characters as people count them: no half of one is left at the end. */
function cut(text: string): string {
  // A character is two units at most, so no more than these are ever looked at.
  return [...text.slice(0, 2 * MAX_CLIENT_ID_CHARS)].slice(0, MAX_CLIENT_ID_CHARS).join("");
}
