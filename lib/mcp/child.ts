/**
 * The child that speaks with one MCP server. For a server over stdio it runs inside the sandbox and
 * starts the server there; for one over HTTP it may connect to the judged addresses and nothing else.
 *
 * @module
 */

import { MCP_CHILD } from "../contract/mcp_child.ts";
import { childPeer } from "../rpc/child_peer.ts";
import { McpClient } from "./mcp_client.ts";

/** One notice of changes, and one word of progress a call, in so much time. */
const QUIET_MS = 250;

let client: McpClient;
let changed: ReturnType<typeof setTimeout> | undefined;

const peer = childPeer(MCP_CHILD.child, MCP_CHILD.authority, {
  calls: {
    async start(params) {
      client = await McpClient.connect(params, {
        onChanged() {
          changed ??= setTimeout(() => {
            changed = undefined;
            peer.notify("changed", undefined);
          }, QUIET_MS);
        },
        onBroken: (reason) => peer.notify("broken", reason),
      });
    },
    list: (_, { signal }) => client.list(signal),
    call(asked, { signal, progress }) {
      let saidAt = -Infinity;
      return client.call(asked, {
        signal,
        onProgress(text) {
          if (performance.now() - saidAt < QUIET_MS) return;
          saidAt = performance.now();
          void progress(text);
        },
      });
    },
    ping: (_, { signal }) => client.ping(signal),
    close: () => client.close(),
  },
  notices: {},
});
