/**
 * A streamed answer on the chat route: a turn's events as chunks, as they come.
 *
 * The response opens at the first sign of the model, so that a turn that fails before has its own
 * status; a silent model opens it after ten seconds.
 *
 * @module
 */

import type { Clock } from "../../../base/clock.ts";
import { type ErrorData, fromErrorData, ServiceError } from "../../../base/errors.ts";
import { EVENT_STREAM_HEADERS, EventStream } from "../../sse.ts";
import { ChatChunks, type ChunkOptions, failureLine } from "./chat_chunks.ts";
import type { ChatEvent } from "./chat_segment.ts";
import { type ChatIdentity, turnFailure } from "./chat_text.ts";
import type { OpenStreams } from "../open_streams.ts";
import type { Opened } from "../open_turn.ts";
import type { RequestContext } from "../request_context.ts";

/** Milliseconds that the status line waits for the model. */
export const OPENING_MS = 10_000;

/** What a streamed answer needs. */
export interface ChatStreamOptions extends ChunkOptions {
  opened: Opened;
  events: AsyncIterable<{ event: ChatEvent }>;
  identity: ChatIdentity;
  context: RequestContext;
  streams: OpenStreams;
  clock: Clock;
}

type Events = AsyncIterator<{ event: ChatEvent }>;

/** Events that came before the response opened, and the promise of the next one if it is awaited. */
interface Opening {
  seen: ChatEvent[];
  next?: ReturnType<Events["next"]>;
}

/** The response. Throws the turn's error if it fails before the model says anything. */
export async function streamChat(options: ChatStreamOptions): Promise<Response> {
  const { opened, context, streams, clock } = options;
  const events = options.events[Symbol.asyncIterator]();
  const opening = await waitForModel(events, clock).catch((error) => {
    leave(events);
    throw error;
  });
  const stream = new EventStream({
    clock,
    onEnd(outcome) {
      forget();
      opened.leave();
      context.finish(200, outcome);
    },
  });
  const fail = (error: unknown) => {
    stream.write(failureLine(context.fail(error).envelope));
    stream.close();
  };
  const forget = streams.add(() => {
    fail(new ServiceError("turn_interrupted", "The service is stopping"));
    opened.leave();
  });
  context.streams = true;
  // Not awaited: it goes on as long as the response's body is read.
  writeAnswer(stream, events, opening, options)
    .catch((error) => {
      opened.leave();
      fail(error);
    })
    .finally(() => leave(events));
  return new Response(stream.body, { headers: EVENT_STREAM_HEADERS });
}

/** Lets the source of the events go; what it still had to say is nobody's concern. */
function leave(events: Events): void {
  events.return?.().catch(() => {});
}

async function waitForModel(events: Events, clock: Clock): Promise<Opening> {
  const late = Promise.withResolvers<undefined>();
  const cancelTimer = clock.after(OPENING_MS, () => late.resolve(undefined));
  const seen: ChatEvent[] = [];
  let error: ErrorData | undefined;
  try {
    for (;;) {
      const next = events.next();
      const result = await Promise.race([next, late.promise]);
      if (result === undefined) {
        // It is awaited again only after what was seen is written.
        next.catch(() => {});
        return { seen, next };
      }
      if (result.done) throw brokenOff();
      const { event } = result.value;
      if (event.type === "error") error = event.error;
      const failure = event.type === "turn_end" ? turnFailure(event, error) : undefined;
      if (failure !== undefined) throw fromErrorData(failure);
      seen.push(event);
      if (isSign(event)) return { seen };
    }
  } finally {
    cancelTimer();
  }
}

/** Whether an event says that the model has answered. */
function isSign({ type }: ChatEvent): boolean {
  return type !== "turn_start" && type !== "notice" && type !== "summary" && type !== "error";
}

async function writeAnswer(
  stream: EventStream,
  events: Events,
  opening: Opening,
  options: ChatStreamOptions,
): Promise<void> {
  const chunks = new ChatChunks(options.identity, options);
  let error: ErrorData | undefined;
  let ended = false;
  /** Writes an event; a promise only when the stream is full, because it is called for every delta. */
  const write = (event: ChatEvent): Promise<void> | undefined => {
    if (event.type === "error") error = event.error;
    if (event.type === "turn_end" || event.type === "approval_asked") {
      const failure = event.type === "turn_end" ? turnFailure(event, error) : undefined;
      if (failure !== undefined) throw fromErrorData(failure);
      stream.write(chunks.closing(event));
      stream.close();
      ended = true;
      return undefined;
    }
    const lines = chunks.lines(event);
    return lines === "" ? undefined : stream.write(lines);
  };
  stream.write(chunks.opening());
  for (const event of opening.seen) {
    const room = write(event);
    if (room !== undefined) await room;
    if (ended) return;
  }
  for (let next = opening.next ?? events.next();; next = events.next()) {
    const result = await next;
    if (result.done) break;
    const room = write(result.value.event);
    if (room !== undefined) await room;
    if (ended) return;
  }
  if (!options.opened.signal.aborted) throw brokenOff();
}

function brokenOff(): ServiceError {
  return new ServiceError("internal", "The events of the turn broke off before its end");
}
