// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * A bare WebSocket server on the same stack as the service (node:http and ws), that sends every message
 * back, and one that begins with `*` to everybody. `deno run -A bench/bare_ws.ts`; the first line is its
 * address.
 *
 * @module
 */

import { createServer } from "node:http";
// @ts-types="@types/ws"
import { WebSocketServer } from "ws";

const server = createServer();
const sockets = new WebSocketServer({ noServer: true });
server.on("upgrade", (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (peer) => {
    peer.on("message", (data) => {
      const text = String(data);
      if (!text.startsWith("*")) return peer.send(text);
      for (const other of sockets.clients) other.send(text);
    });
  });
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  console.log(`ws://127.0.0.1:${port}/`);
});
