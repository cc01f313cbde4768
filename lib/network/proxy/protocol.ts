/**
 * What the authority and the proxy's child say to each other, beside the frames of a session.
 *
 * @module
 */

/** What the authority says of a host or of its addresses. */
export type HostAnswer =
  /** Connect to these; none yet: look the name up and ask again. */
  | { addresses: string[] }
  /** Do not; for people. */
  | { refused: string };

/** Bounds of one proxy. Milliseconds. */
export interface ProxyLimits {
  /** Connections at once; more are refused. */
  maxConnections: number;
  /** For a request to arrive, and for an answer to be taken. */
  headMs: number;
  lookUpMs: number;
  /** For each address that is tried. */
  connectMs: number;
  /** Without a byte in either direction. */
  idleMs: number;
  /** Without a byte once one side has said its last. */
  halfOpenMs: number;
}

/** What a child is started with. */
export interface ProxyStart {
  /** Path of the socket that it makes. */
  socket: string;
  limits: ProxyLimits;
}

/** Methods that the child asks the authority by: {@linkcode HostAnswer} is the answer to both. */
export const ASK_HOST = "host";
/** See {@linkcode ASK_HOST}. */
export const ASK_ADDRESSES = "addresses";

/** A notice of the child's, {@linkcode Unreached}: an allowed host that could not be reached. */
export const UNREACHED = "unreached";

/** Data of that notice. */
export interface Unreached {
  host: string;
  port: number;
  /** For people. */
  reason: string;
}
