/**
 * Where the service of a home is reached: a Unix socket in a folder of mode 0700, or, where there
 * are no Unix sockets, a loopback port whose number and key stand in a file of mode 0600.
 *
 * @module
 */

import { dirname } from "@std/path";
import { type Endpoint, endpointAt } from "../base/local_endpoint.ts";
import { isOutOfReach } from "../base/private_dir.ts";
import type { ByteStreams } from "../rpc/stream_transport.ts";
import { connectClient, type LocalClient } from "./client.ts";

export { type Endpoint, endpointAt };

/** What a service listens on. */
export interface LocalListener {
  /** What a guest must open its connection with, for a loopback port. */
  key?: string;
  connections: AsyncIterable<ByteStreams>;
  close(): void;
}

/** Listens at an endpoint; what a dead process left there is removed first. */
export async function listenLocal(endpoint: Endpoint): Promise<LocalListener> {
  await Deno.remove(endpoint.file).catch(() => {});
  if (endpoint.kind === "unix") {
    const listener = Deno.listen({ transport: "unix", path: endpoint.file });
    return { connections: listener, close: () => listener.close() };
  }
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const key = crypto.randomUUID() + crypto.randomUUID();
  await Deno.writeTextFile(endpoint.file, JSON.stringify({ port: listener.addr.port, key }), {
    mode: 0o600,
    createNew: true,
  });
  return { key, connections: listener, close: () => listener.close() };
}

/**
 * Connects to the service at an endpoint; undefined when nobody is there (or it is just leaving). Who
 * listens in a folder of somebody else is nobody: a home with a long path has its socket in a shared place.
 */
export async function connectLocal(endpoint: Endpoint): Promise<LocalClient | undefined> {
  if (!await isOutOfReach(dirname(endpoint.file))) return undefined;
  try {
    if (endpoint.kind === "unix") {
      return await connectClient(await Deno.connect({ transport: "unix", path: endpoint.file }));
    }
    const { port, key } = JSON.parse(await Deno.readTextFile(endpoint.file));
    return await connectClient(await Deno.connect({ hostname: "127.0.0.1", port }), key);
  } catch {
    return undefined;
  }
}
