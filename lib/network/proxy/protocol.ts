/**
 * What the authority and the proxy's child call and tell each other.
 *
 * @module
 */

import { list, nothing, shape, text, whole } from "../../rpc/checks.ts";
import { call, notice } from "../../rpc/endpoint.ts";
import type { HostPort } from "../connect_head.ts";

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

/** An allowed host that could not be reached. */
export interface Unreached extends HostPort {
  /** For people. */
  reason: string;
}

const HOST_PORT = { host: text(), port: whole };

/** Both ends. What the strings say is judged by the authority (`network_judge.ts`). */
export const PROXY_CHILD = {
  authority: {
    calls: {
      host: call<HostPort, HostAnswer>({ params: shape(HOST_PORT) }),
      addresses: call<HostPort & { addresses: string[] }, HostAnswer>({
        params: shape({ ...HOST_PORT, addresses: list(text()) }),
      }),
    },
    notices: { unreached: notice<Unreached>(shape({ ...HOST_PORT, reason: text() })) },
  },
  child: { calls: { start: call<ProxyStart, void>({ result: nothing }) }, notices: {} },
};
