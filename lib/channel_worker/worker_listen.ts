/**
 * Serves HTTP for a channel, with bounds of time and size (`ChannelHost.listen`).
 *
 * @module
 */

import { toErrorData } from "../base/errors.ts";
import { listen } from "../listen/listen.ts";
import { portLog } from "../listen/port_log.ts";
import type { ChannelListener } from "../channel/channel_host.ts";
import type { WorkerLog } from "./worker_log.ts";

/** Bytes of a request's body. */
export const MAX_LISTEN_BODY_BYTES = 16 * 1024 * 1024;

const LIMITS = { requestTimeoutMs: 60_000, maxConnections: 256 };

/** How long answers that are under way may take when it closes, milliseconds. */
const CLOSE_GRACE_MS = 2_000;

/** Opens a port. Rejects with `config_invalid`, naming the address and what to do. */
export async function workerListen(
  { host, port }: { host: string; port: number },
  handler: (request: Request) => Promise<Response>,
  { runtimeName, log }: { runtimeName: string; log: WorkerLog },
): Promise<ChannelListener> {
  const listener = await listen({
    host,
    port,
    setting: `channels.${runtimeName}`,
    limits: LIMITS,
    onPortChange: portLog(log, `channels.${runtimeName}`),
    handler: async (request) => {
      if (Number(request.headers.get("content-length") ?? 0) > MAX_LISTEN_BODY_BYTES) {
        return new Response("The body is too large", { status: 413 });
      }
      try {
        return await handler(boundedBody(request));
      } catch (error) {
        if (error instanceof BodyTooLarge) {
          return new Response("The body is too large", { status: 413 });
        }
        log.error("A request could not be answered", { reason: toErrorData(error).message });
        return new Response("The request could not be answered", { status: 500 });
      }
    },
  });
  return { url: listener.url, close: () => listener.close(CLOSE_GRACE_MS) };
}

class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
  override readonly message = "The body is too large";
}

/**
 * A whole Request, where the server's own has not all that one has. A length need not be said, so the
 * bytes are counted.
 */
function boundedBody({ url, method, headers, signal, body }: Request): Request {
  let left = MAX_LISTEN_BODY_BYTES;
  const bounded = body?.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        left -= chunk.length;
        if (left < 0) controller.error(new BodyTooLarge());
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Request(url, { method, headers, signal, body: bounded });
}
