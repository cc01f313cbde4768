/**
 * Ctrl-C.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";

/** The signals of this process, as far as they are needed here. */
export interface Signals {
  onInterrupt(listener: () => void): void;
  offInterrupt(listener: () => void): void;
  /** Does what Ctrl-C does, for a key that came while the terminal was raw. */
  interrupt(): void;
  /** Ends the process at once. */
  exit(code: number): void;
}

/** The signals of this process. */
export const processSignals: Signals = {
  onInterrupt: (listener) => Deno.addSignalListener("SIGINT", listener),
  offInterrupt: (listener) => Deno.removeSignalListener("SIGINT", listener),
  interrupt: () => Deno.kill(Deno.pid, "SIGINT"),
  exit: (code) => Deno.exit(code),
};

/**
 * Runs `work` with a signal that the first Ctrl-C aborts, with a ServiceError `turn_cancelled`; the
 * second one ends the process, whatever it waits for. `onFirst` is called at the first.
 */
export async function withInterrupts<T>(
  signals: Signals,
  onFirst: () => void,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const listener = () => {
    if (controller.signal.aborted) return signals.exit(130);
    controller.abort(new ServiceError("turn_cancelled", "Cancelled"));
    onFirst();
  };
  signals.onInterrupt(listener);
  try {
    return await work(controller.signal);
  } finally {
    signals.offInterrupt(listener);
  }
}
