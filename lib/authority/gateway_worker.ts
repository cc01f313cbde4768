/**
 * Starts the gateway of one command, which lets nobody in, in a Worker.
 *
 * @module
 */

import { entryUrl } from "../base/entries.ts";
import { type Permission, workerPermissions } from "../base/permission.ts";
import { portTransport } from "../rpc/port_transport.ts";
import type { RunningGateway } from "./run_gateway.ts";

/** Starts it. */
export function gatewayWorker(table: readonly Permission[], entry?: URL): RunningGateway {
  const ended = Promise.withResolvers<string>();
  const worker = new Worker((entry ?? entryUrl("gateway")).href, {
    type: "module",
    name: "service",
    deno: { permissions: workerPermissions(table) },
  } as WorkerOptions);
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    ended.resolve(event.message);
  });
  return {
    transport: portTransport(worker),
    ended: ended.promise,
    kill: () => Promise.resolve(worker.terminate()),
  };
}
