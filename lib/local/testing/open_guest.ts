import type { ByteStreams } from "../../rpc/stream_transport.ts";
import { connectClient, type LocalClient } from "../client.ts";
import { type OperationHandlers, serveGuest } from "../server.ts";

/** Both ends of a connection within this process. */
export function streamPair(): [ByteStreams, ByteStreams] {
  const there = new TransformStream<Uint8Array, Uint8Array>();
  const back = new TransformStream<Uint8Array, Uint8Array>();
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ];
}

/** A client of a service that has these operations alone; at the end it goes away and they end. */
export async function openGuest(
  handlers: Partial<OperationHandlers>,
  options: Partial<Parameters<typeof serveGuest>[1]> = {},
): Promise<{ client: LocalClient; served: Promise<void> } & AsyncDisposable> {
  const [here, there] = streamPair();
  const served = serveGuest(there, {
    handlers: handlers as OperationHandlers,
    version: "1.0.0",
    ...options,
  });
  const client = await connectClient(here, options.key);
  return {
    client,
    served,
    async [Symbol.asyncDispose]() {
      client.close();
      await served;
    },
  };
}
