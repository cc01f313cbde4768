/**
 * The gateway's own end of its connection to the authority.
 *
 * @module
 */

import { OWN_PROCESS, whenNarrowed } from "../rpc/child_transport.ts";
import { type Port, portTransport } from "../rpc/port_transport.ts";
import { streamTransport } from "../rpc/stream_transport.ts";
import type { Transport } from "../rpc/transport.ts";

/** Of a frame to or from the authority: files of a message are in it, in base64. */
export const MAX_GATEWAY_FRAME_BYTES = 128 * 1024 * 1024;

const scope = globalThis as { postMessage?: unknown; name?: string };

/** Whether this is a process of its own, and not a Worker of the launcher. */
export const IS_PROCESS: boolean = typeof scope.postMessage !== "function" ||
  scope.name === OWN_PROCESS;

/** Functions of the console that write to standard output. */
const PRINTING = [
  "debug",
  "dir",
  "dirxml",
  "group",
  "groupCollapsed",
  "info",
  "log",
  "table",
] as const;

/** Over standard input and output, or the Worker's port. */
export function gatewayTransport(): Transport {
  if (!IS_PROCESS) return portTransport(self as unknown as Port);
  // Standard output carries frames: what a package prints goes to standard error.
  // deno-lint-ignore no-console -- of whoever's package
  for (const name of PRINTING) console[name] = console.error;
  return streamTransport(
    { readable: ReadableStream.from(input()), writable: Deno.stdout.writable },
    { maxFrameBytes: MAX_GATEWAY_FRAME_BYTES },
  );
}

/** Standard input, read from when this process has the permissions of the gateway. */
async function* input(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  await whenNarrowed();
  yield* Deno.stdin.readable;
}
