/**
 * Asks a channel's package, in a worker that is there for that alone.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { ChannelWorker } from "../../channel_worker/open_channel_worker.ts";
import { endedBy, WorkerClient } from "../../channel_worker/worker_client.ts";
import {
  CHANNEL_NEWS,
  type ChannelCallName,
  type ChannelParams,
  LOG_RATE,
} from "../../channel_worker/protocol.ts";
import { Rate } from "../../base/rate.ts";
import type { Log } from "../../base/log.ts";

/** Whose worker it is. */
export interface AskedWorker {
  runtimeName: string;
  /** Ends it. */
  signal: AbortSignal;
  clock: Clock;
  log: Log;
}

/** A worker that is asked. */
export interface WorkerToAsk {
  /**
   * What a call came to. Rejects with what the package said, or why it said nothing within `timeoutMs`; the
   * worker is of no use after that.
   */
  ask<M extends ChannelCallName>(
    method: M,
    params: ChannelParams<M>,
    timeoutMs: number,
  ): Promise<unknown>;
  close(): void;
}

/** Takes what is said in a worker to the log, and asks. */
export function workerToAsk(
  opened: ChannelWorker,
  { runtimeName, signal, clock, log }: AskedWorker,
): WorkerToAsk {
  const stop = () => client.close("the service is stopping");
  const lines = new Rate(LOG_RATE, clock);
  const client = new WorkerClient({
    opened,
    clock,
    // It was not started, so it has nothing to ask for.
    mine: { calls: {}, notices: CHANNEL_NEWS },
    handlers: {
      calls: {},
      notices: {
        running() {},
        detail() {},
        log({ level, message, data }) {
          if (lines.take()) log[level](message, { ...data, channel: runtimeName });
        },
        ended: endedBy,
      },
    },
    onGone: () => signal.removeEventListener("abort", stop),
  });
  signal.addEventListener("abort", stop, { once: true });
  return {
    close: () => client.close("it was asked"),
    async ask(method, params, timeoutMs) {
      const late = Promise.withResolvers<never>();
      const cancel = clock.after(
        timeoutMs,
        () => late.reject(new Error(`it took longer than ${timeoutMs / 1_000} s`)),
      );
      try {
        return await Promise.race([
          client.ready.then(() => client.call(method, params)),
          late.promise,
        ]);
      } finally {
        cancel();
      }
    },
  };
}

/** What is asked, and how. */
export interface AskOptions<M extends ChannelCallName> extends AskedWorker {
  method: M;
  params: ChannelParams<M>;
  /** From now to its answer. */
  timeoutMs: number;
}

/**
 * What the call came to. Rejects with what the package said, or why it said nothing; the worker is gone
 * then, and one that comes later is ended when it comes.
 */
export async function askWorker<M extends ChannelCallName>(
  open: () => Promise<ChannelWorker>,
  options: AskOptions<M>,
): Promise<unknown> {
  const { method, params, timeoutMs, clock, signal } = options;
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {});
  const cancel = clock.after(
    timeoutMs,
    () => over.reject(new Error(`it took longer than ${timeoutMs / 1_000} s`)),
  );
  const stop = () => over.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  let worker: WorkerToAsk | undefined;
  let done = false;
  const answer = async () => {
    const opened = await open();
    if (done) return opened.close();
    worker = workerToAsk(opened, options);
    return await worker.ask(method, params, timeoutMs);
  };
  try {
    return await Promise.race([answer(), over.promise]);
  } finally {
    done = true;
    cancel();
    signal.removeEventListener("abort", stop);
    worker?.close();
  }
}
