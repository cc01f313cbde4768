/**
 * A response as a stream of events: of a request that has just opened it, or taken up again after
 * some event.
 *
 * It opens at once with `response.created`, whatever the turn does.
 *
 * @module
 */

import type { Clock } from "../../../base/clock.ts";
import type { Answer } from "../../../contract/turns.ts";
import { type ErrorData, fromErrorData, ServiceError, toErrorData } from "../../../base/errors.ts";
import { EVENT_STREAM_HEADERS, EventStream } from "../../sse.ts";
import type { OpenStreams } from "../open_streams.ts";
import type { RequestContext } from "../request_context.ts";
import { brokenOff } from "./read_response.ts";
import { eventLines, type ResponseEvent } from "./response_event.ts";
import type { ResponseEvents } from "./response_events.ts";

/** What a stream needs. */
export interface ResponseStreamOptions {
  answer: Answer;
  /** None of its events given yet. */
  events: ResponseEvents;
  /** The turn goes on after a restart: a service that stops is not its end. */
  background: boolean;
  /** Sequence number after which the stream begins; -1 for all events. */
  startingAfter: number;
  /** This reader's place: `signal` aborts when it has left. */
  seat: { readonly signal: AbortSignal; leave(): void };
  /** Told why the turn failed, for the log line of the request that opened it. */
  onFailure?: (failure: ErrorData) => void;
  /** End a stream that did not fail with `[DONE]` (config api.openResponsesDone). */
  done: boolean;
  context: RequestContext;
  streams: OpenStreams;
  clock: Clock;
}

/** Ends a stream for clients that wait for it. */
const DONE = "data: [DONE]\n\n";

/** The response; its body goes on as long as it is read. */
export function streamResponse(options: ResponseStreamOptions): Response {
  const { answer, events, background, startingAfter, seat, context, streams, clock } = options;
  const stream = new EventStream({
    clock,
    onEnd(outcome) {
      forget();
      seat.leave();
      context.finish(200, outcome);
    },
  });

  function write(event: ResponseEvent): Promise<void> | undefined {
    if (event.sequence_number > startingAfter) return stream.write(eventLines(event));
  }

  async function writeAll(): Promise<void> {
    write(events.created());
    for await (const { event } of answer.events(seat.signal)) {
      for (const given of events.next(event)) {
        const room = write(given);
        // One by one: each of those that close the levels of an answer holds all of its text.
        if (room !== undefined) await room;
      }
      if (events.ending !== undefined) return finish(events.ending.failure);
    }
    if (!seat.signal.aborted) throw brokenOff();
  }

  function finish(failure: ErrorData | undefined): void {
    if (failure !== undefined) options.onFailure?.(failure);
    else if (options.done) stream.write(DONE);
    stream.close();
  }

  /** Ends the stream of a turn that says nothing more here. */
  function breakOff(error: unknown): void {
    if (events.ending !== undefined) return;
    const failure = toErrorData(error);
    // Cut off, not failed: the turn goes on after the restart, and so can whoever reads it.
    if (!background || failure.code !== "draining") {
      context.fail(fromErrorData(failure));
      const broken = events.breakOff({ ...failure, logId: failure.logId ?? context.requestId });
      for (const event of broken) write(event);
    }
    stream.close();
  }

  const forget = streams.add(() => {
    breakOff(new ServiceError("draining", "The service is stopping"));
    seat.leave();
  });
  context.streams = true;
  // Not awaited: it goes on as long as the response's body is read.
  writeAll().catch(breakOff);
  return new Response(stream.body, { headers: EVENT_STREAM_HEADERS });
}
