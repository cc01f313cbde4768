import type { Clock } from "../../lib/agent/clock.ts";

/** Resolves after a time, or as soon as the signal is aborted. */
export function pause(ms: number, clock: Pick<Clock, "after">, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener("abort", end, { once: true });
  });
}
