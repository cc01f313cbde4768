/**
 * Asks a channel's package one thing, in a place that is there for that alone.
 *
 * @module
 */

import type { Clock } from "../../agent/clock.ts";
import type { OpenedPlace } from "../../channel/place/open_place.ts";
import { PlaceClient } from "../../channel/place/place_client.ts";
import { LOG_RATE, type PlaceCall } from "../../channel/place/protocol.ts";
import { Rate } from "../../channel/place/rate.ts";
import type { Log } from "../../log.ts";

/** What is asked, and how. */
export interface AskOptions {
  runtimeName: string;
  call: PlaceCall;
  /** From the start of the place to its answer. */
  timeoutMs: number;
  clock: Clock;
  log: Log;
}

/** What the call came to. Rejects with what the package said, or why it said nothing. */
export async function askPlace(
  opened: OpenedPlace,
  { runtimeName, call, timeoutMs, clock, log }: AskOptions,
): Promise<unknown> {
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
  const late = Promise.withResolvers<never>();
  const cancel = clock.after(
    timeoutMs,
    () => late.reject(new Error(`it took longer than ${timeoutMs / 1_000} s`)),
  );
  try {
    return await Promise.race([client.ready.then(() => client.call(call)), late.promise]);
  } finally {
    cancel();
    client.close("it was asked");
  }
}
