/**
 * The child that is a sandboxed program's proxy. It may use the network but for closed ranges, and its
 * own socket's folder; it starts nothing, and asks the authority about each connection.
 *
 * @module
 */

import { lookup } from "node:dns/promises";
import { childPeer } from "../../rpc/child_peer.ts";
import { PROXY_CHILD } from "./protocol.ts";
import { serveProxy } from "./proxy.ts";

/** Addresses of a name that are asked about. */
const MAX_ADDRESSES = 16;

const peer = childPeer(PROXY_CHILD.child, PROXY_CHILD.authority, {
  calls: {
    start({ socket, limits }) {
      const listener = Deno.listen({ transport: "unix", path: socket });
      void serveProxy(listener, {
        askHost: (asked) => peer.call("host", asked),
        askAddresses: (asked) => peer.call("addresses", asked),
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
        onUnreached: (unreached) => peer.notify("unreached", unreached),
        limits,
      });
    },
  },
  notices: {},
});
