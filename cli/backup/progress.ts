/**
 * What `backup` and `restore` say while they work, and how they stop.
 *
 * @module
 */

import type { Output } from "../output.ts";
import { onStopSignals } from "../stop_signals.ts";

/** Bytes between two lines about them. */
const PROGRESS_BYTES = 256 * 1024 * 1024;

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** `12.3 MB`; units of 1,000. */
export function formatSize(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const value = bytes / 1_000 ** unit;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** `1 file`, `2 files`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** Tells of every 256 MiB on standard error. */
export function progressNotes(
  out: Output,
  verb: string,
): (progress: { bytes: number; files: number }) => void {
  let told = 0;
  return ({ bytes, files }) => {
    if (bytes - told < PROGRESS_BYTES) return;
    told = bytes;
    out.note(`${verb} ${count(files, "file")}, ${formatSize(bytes)}`);
  };
}

/** A signal that aborts when this process is told to stop, so that no temporary file stays. */
export function stopSignal(): Disposable & { signal: AbortSignal } {
  const controller = new AbortController();
  const signals = onStopSignals(["SIGINT", "SIGTERM", "SIGHUP"], () => controller.abort());
  return { signal: controller.signal, [Symbol.dispose]: () => signals[Symbol.dispose]() };
}
