/**
 * What `backup` and `restore` say while they work, and how they stop.
 *
 * @module
 */

import { formatSize } from "../format_size.ts";
import type { Output } from "../output.ts";
import { plural } from "../plural.ts";
import { onStopSignals } from "../stop_signals.ts";

/** Bytes between two lines about them. */
const PROGRESS_BYTES = 256 * 1024 * 1024;

/** Tells of every 256 MiB on standard error. */
export function progressNotes(
  out: Output,
  verb: string,
): (progress: { bytes: number; files: number }) => void {
  let told = 0;
  return ({ bytes, files }) => {
    if (bytes - told < PROGRESS_BYTES) return;
    told = bytes;
    out.note(`${verb} ${plural(files, "file")}, ${formatSize(bytes)}`);
  };
}

/** A signal that aborts when this process is told to stop, so that no temporary file stays. */
export function stopSignal(): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const signals = onStopSignals(["SIGINT", "SIGTERM", "SIGHUP"], () => controller.abort());
  return { signal: controller.signal, [Symbol.dispose]: () => signals[Symbol.dispose]() };
}
