/**
 * Asks a channel's package, in a place that is there for that alone.
 *
 * @module
 */

import type { Clock } from "../../agent/clock.ts";
import type { OpenedPlace } from "../../channel/place/open_place.ts";
import { PlaceClient } from "../../channel/place/place_client.ts";
import { LOG_RATE, type PlaceCall } from "../../channel/place/protocol.ts";
import { Rate } from "../../channel/place/rate.ts";
import type { Log } from "../../log.ts";

/** Whose place it is. */
export interface AskedPlace {
  runtimeName: string;
  clock: Clock;
  log: Log;
}

/** A place that is asked. */
export interface PlaceToAsk {
  /**
   * What a call came to. Rejects with what the package said, or why it said nothing within `timeoutMs`; the
   * place is of no use after that.
   */
  ask(call: PlaceCall, timeoutMs: number): Promise<unknown>;
  close(): void;
}

/** Takes what is said in a place to the log, and asks. */
export function placeToAsk(
  opened: OpenedPlace,
  { runtimeName, clock, log }: AskedPlace,
): PlaceToAsk {
  const lines = new Rate(LOG_RATE, clock);
  const client = new PlaceClient({
    opened,
    clock,
    onNews(news) {
      if (news.type === "publish" || news.type === "transcribe") {
        return "it published a message though it was not started";
      }
      if (news.type === "log" && lines.take()) {
        log[news.level](news.message, { ...news.data, channel: runtimeName });
      }
    },
    onGone: () => {},
  });
  return {
    close: () => client.close("it was asked"),
    async ask(call, timeoutMs) {
      const late = Promise.withResolvers<never>();
      const cancel = clock.after(
        timeoutMs,
        () => late.reject(new Error(`it took longer than ${timeoutMs / 1_000} s`)),
      );
      try {
        return await Promise.race([client.ready.then(() => client.call(call)), late.promise]);
      } finally {
        cancel();
      }
    },
  };
}

/** What is asked, and how. */
export interface AskOptions extends AskedPlace {
  call: PlaceCall;
  /** From the start of the place to its answer. */
  timeoutMs: number;
}

/** What the call came to. Rejects with what the package said, or why it said nothing. */
export async function askPlace(
  opened: OpenedPlace,
  { call, timeoutMs, ...asked }: AskOptions,
): Promise<unknown> {
  const place = placeToAsk(opened, asked);
  try {
    return await place.ask(call, timeoutMs);
  } finally {
    place.close();
  }
}
