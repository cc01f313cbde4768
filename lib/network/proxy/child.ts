/**
 * The child that is a sandboxed program's proxy. It may use the network but for closed ranges, and its
 * own socket's folder; it starts nothing, and asks the authority about each connection.
 *
 * @module
 */

import { lookup } from "node:dns/promises";
import { serveSession, type SessionIo } from "../../rpc/serve_session.ts";
import {
  ASK_ADDRESSES,
  ASK_HOST,
  type HostAnswer,
  type ProxyStart,
  UNREACHED,
} from "./protocol.ts";
import { serveProxy } from "./proxy.ts";

/** Addresses of a name that are asked about. */
const MAX_ADDRESSES = 16;

/** Begins to listen. */
export function run({ params, request, notify }: SessionIo): Record<never, never> {
  const { socket, limits } = params as ProxyStart;
  const listener = Deno.listen({ transport: "unix", path: socket });
  void serveProxy(listener, {
    askHost: (asked) => request(ASK_HOST, asked) as Promise<HostAnswer>,
    askAddresses: (asked) => request(ASK_ADDRESSES, asked) as Promise<HostAnswer>,
    async lookUp(host) {
      const found = await lookup(host, { all: true });
      return [...new Set(found.map(({ address }) => address))].slice(0, MAX_ADDRESSES);
    },
    async connect(hostname, port) {
      const conn = await Deno.connect({ hostname, port });
      conn.setNoDelay();
      conn.setKeepAlive();
      return conn;
    },
    onUnreached: (unreached) => notify(UNREACHED, unreached),
    limits,
  });
  return {};
}

if (import.meta.main) serveSession(run);
