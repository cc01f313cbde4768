/**
 * A server whose port the system chose, in a Worker that may listen on none but such a port.
 *
 * @module
 */

import { createServer } from "node:http";
import { systemClock } from "../../base/clock.ts";
import { BoundedPort } from "../../listen/bounded_port.ts";

const server = createServer((_request, response) => void response.end("here"));
const bounded = new BoundedPort(server, {
  host: "127.0.0.1",
  port: 0,
  maxConnections: 1,
  backlog: 128,
  clock: systemClock,
});
await bounded.open();
(self as unknown as { postMessage(message: unknown): void }).postMessage(server.address());
