/**
 * The child that speaks with one MCP server. For a server over stdio it runs inside the sandbox and
 * starts the server there; for one over HTTP it may connect to the judged addresses and nothing else.
 *
 * @module
 */

import { serveSession, type SessionIo } from "../rpc/serve_session.ts";
import type { McpCall, McpStart } from "../contract/mcp_child.ts";
import { McpClient } from "./mcp_client.ts";

/** One notice of changes, and one word of progress a call, in so much time. */
const QUIET_MS = 250;

serveSession(async ({ params, notify }: SessionIo) => {
  let changed: ReturnType<typeof setTimeout> | undefined;
  const client = await McpClient.connect(params as McpStart, {
    onChanged() {
      changed ??= setTimeout(() => {
        changed = undefined;
        notify("changed", {});
      }, QUIET_MS);
    },
    onBroken: (reason) => notify("broken", { reason: reason.slice(0, 4_000) }),
  });
  return {
    async onRequest(method, asked, { signal, progress }) {
      switch (method) {
        case "list":
          return await client.list(signal);
        case "call": {
          let saidAt = -Infinity;
          return await client.call(asked as McpCall, {
            signal,
            onProgress(text) {
              if (performance.now() - saidAt < QUIET_MS) return;
              saidAt = performance.now();
              progress(text);
            },
          });
        }
        case "ping":
          return await client.ping(signal);
        case "close":
          return await client.close();
        default:
          throw new Error(`there is no "${method}"`);
      }
    },
  };
});
