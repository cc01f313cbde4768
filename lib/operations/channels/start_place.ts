/**
 * Starts the Worker of a channel.
 *
 * @module
 */

import type { OpenedPlace } from "../../place/open_place.ts";
import type { BootMessage, PlaceBoot } from "../../place/protocol.ts";
import { type Permission, workerPermissions } from "../../base/permission.ts";
import { moduleUrl } from "../../base/layout.ts";

/** How a place is started. */
export interface StartOptions {
  boot: PlaceBoot;
  table: readonly Permission[];
  /** Takes secrets out of what it said last. */
  scrub: (text: string) => string;
}

const PLACE = moduleUrl("lib/place/worker.ts");

/** Characters of why a place has ended. */
const MAX_REASON_CHARS = 1_000;

/** Starts one, with the permissions of the table and no others. */
export function startPlace({ boot, table, scrub }: StartOptions): OpenedPlace {
  const worker = new Worker(PLACE.href, {
    type: "module",
    name: `channel ${boot.runtimeName}`,
    deno: { permissions: workerPermissions(table) },
  } as WorkerOptions);
  const { port1, port2 } = new MessageChannel();
  const ended = Promise.withResolvers<string>();
  let closed = false;

  function close(): void {
    if (closed) return;
    closed = true;
    worker.onmessage = worker.onerror = null;
    worker.terminate();
  }

  function end(reason: unknown): void {
    if (closed) return;
    close();
    ended.resolve(
      typeof reason === "string" ? scrub(reason).slice(0, MAX_REASON_CHARS) : "it ended",
    );
  }

  worker.onerror = (event) => {
    // It would end this process too.
    event.preventDefault();
    end(event.message);
  };
  worker.onmessage = ({ data }) => end((data as { reason?: unknown } | null)?.reason);
  worker.postMessage({ type: "boot", boot, port: port2 } satisfies BootMessage, [port2]);
  return { port: port1, close, ended: ended.promise };
}
