/**
 * `service mcp serve`: this agent as an MCP server over standard input and output, which carry nothing
 * else.
 *
 * @module
 */

import { EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import { type Signals, withInterrupts } from "../agent/interrupts.ts";
import { VERSION } from "../version.ts";

/** What the command reaches outside of itself. */
export interface ServeDeps {
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
  signals: Signals;
  streams: { readable: ReadableStream<Uint8Array>; writable: WritableStream<Uint8Array> };
}

/** Channel of its sessions. */
const CHANNEL = "mcp";

/** Serves until the client closes its end, or Ctrl-C. */
export async function serveAgent(
  { options, globals, out }: Invocation,
  { withService, signals, streams }: ServeDeps,
): Promise<ExitCode> {
  const readsAll = options["all-sessions"] === true;
  const { serveStdio } = await import("../../lib/mcp/serve/serve_stdio.ts");
  return await withService(
    globals,
    (client) =>
      withInterrupts(signals, () => {}, async (signal) => {
        const gone = endOf(client);
        const stopped = AbortSignal.any([signal, gone]);
        await serveStdio(
          {
            access: {
              turn: (params, signal) => client.stream("turn", params, { stop: signal }),
              operate: (request, signal) =>
                client.call("operate", { request, ...!readsAll && { channel: CHANNEL } }, {
                  signal,
                }),
              channel: CHANNEL,
              readsAll,
            },
            version: VERSION,
            onInternal: (error) =>
              out.note(`error: ${error instanceof Error ? error.message : error}`),
          },
          streams,
          stopped,
        );
        if (signal.aborted) return EXIT.interrupted;
        if (!gone.aborted) return EXIT.done;
        out.note("error: the service has ended; start this command anew");
        return EXIT.failed;
      }),
  );
}

/** Aborts when the service has gone: every call would fail from then on, and a client starts it anew. */
function endOf(client: LocalClient): AbortSignal {
  const ended = new AbortController();
  void client.ended.then(() => ended.abort());
  return ended.signal;
}
