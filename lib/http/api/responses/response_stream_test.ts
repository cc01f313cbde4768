import { assert, assertEquals } from "@std/assert";
import type { AgentEvent, StoredEvent } from "../../../contract/events.ts";
import type { Answer } from "../../../contract/turns.ts";
import { ServiceError } from "../../../base/errors.ts";
import type { StreamOutcome } from "../../sse.ts";
import { ManualClock } from "../../testing/manual_clock.ts";
import { OpenStreams } from "../open_streams.ts";
import { RequestContext } from "../request_context.ts";
import { ResponseEvents } from "./response_events.ts";
import { streamResponse } from "./response_stream.ts";
import { blocksOf, eventOf } from "./testing/responses_client.ts";

/** A stream over events that are given one by one. */
function setUp(source: (signal?: AbortSignal) => AsyncIterable<AgentEvent>, background = false) {
  const clock = new ManualClock();
  const streams = new OpenStreams();
  const logged: { reason?: string; stream?: StreamOutcome }[] = [];
  const errors: unknown[] = [];
  const context = new RequestContext({
    requestId: "req_1",
    peer: "127.0.0.1",
    method: "POST",
    path: "/v1/responses",
    elapsed: clock.elapsed,
    accessLog: ({ reason, stream }) => void logged.push({ reason, stream }),
    log: { error: (_, fields) => void errors.push(fields) },
  });
  context.accepted = true;
  const reading = new AbortController();
  const answer: Answer = {
    id: "t1",
    acceptedAt: 1_700_000_000_000,
    cancel() {},
    async *events(signal) {
      let seq = 0;
      for await (const event of source(signal)) {
        yield { seq: ++seq, turnId: "t1", event } satisfies StoredEvent;
      }
    },
  };
  const echo = { model: "m", previous_response_id: null, metadata: {}, store: true, background };
  const response = streamResponse({
    answer,
    events: new ResponseEvents({ turnId: "t1", acceptedAt: 0, echo }, () => undefined),
    background,
    startingAfter: -1,
    seat: { signal: reading.signal, leave: () => reading.abort() },
    done: false,
    context,
    streams,
    clock,
  });
  return { response, clock, streams, reading, logged, errors };
}

async function* fails(error: Error): AsyncGenerator<AgentEvent> {
  yield { type: "turn_start", model: "m" };
  yield { type: "text_delta", streamId: "s", text: "Hel" };
  await Promise.resolve();
  throw error;
}

Deno.test("W13 streamResponse() reads no further ahead than its reader's buffer", async () => {
  const text = "x".repeat(1_000);
  let read = 0;
  const { response, reading, logged } = setUp(async function* (signal) {
    while (!signal!.aborted) {
      read++;
      yield { type: "text_delta", streamId: "s", text };
      await Promise.resolve();
    }
  });
  // The writer waits now, so that whatever else the event loop has to do gets its turn.
  const reader = response.body!.getReader();
  await reader.read();
  await new Promise((resolve) => setTimeout(resolve));
  const stuck = read;
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(read, stuck);
  assert(stuck < 300, `${stuck} deltas were read`);
  await reader.cancel();
  assert(reading.signal.aborted);
  assertEquals(logged, [{ reason: undefined, stream: "cancelled" }]);
});

Deno.test("W8 streamResponse() sends a comment while the turn is silent", async () => {
  const { response, clock } = setUp(async function* (signal) {
    yield { type: "turn_start", model: "m" };
    await new Promise((resolve) => signal!.addEventListener("abort", resolve));
  });
  const reader = response.body!.getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  let text = "";
  while (!text.includes("response.in_progress")) text += await next();
  clock.advance(15_000);
  assertEquals(await next(), ": keep-alive\n\n");
  await reader.cancel();
  assertEquals(clock.timers, 0);
});

Deno.test("W6 streamResponse() ends with response.failed when the events break off", async () => {
  const { response, logged, errors, streams } = setUp(() => fails(new Error("disk full at /x")));
  const events = (await blocksOf(response)).map(eventOf);
  assertEquals(events.map(({ sequence_number }) => sequence_number), [...events.keys()]);
  const last = events.at(-1)!;
  assert(last.type === "response.failed");
  assertEquals(last.response.error, {
    code: "server_error",
    message: "The turn failed; the service's log has the cause under req_1",
    service_code: "turn_failed",
  });
  assertEquals(last.response.output[0]?.status, "incomplete");
  assertEquals(logged, [{ reason: "turn_failed", stream: "ended" }]);
  assertEquals(errors, [{ id: "req_1", code: "internal", cause: "disk full at /x" }]);
  assertEquals(streams.size, 0);
});

Deno.test("streamResponse() cuts off a turn that goes on after the restart", async () => {
  const stops = () => fails(new ServiceError("draining", "The service is stopping"));
  const cutOff = setUp(stops, true);
  const events = (await blocksOf(cutOff.response)).map(eventOf);
  assertEquals(events.at(-1)!.type, "response.output_text.delta");
  assertEquals(cutOff.logged, [{ reason: undefined, stream: "ended" }]);

  const foreground = setUp(stops);
  const last = (await blocksOf(foreground.response)).map(eventOf).at(-1)!;
  assert(last.type === "response.failed");
  assertEquals(last.response.error?.service_code, "draining");
});

Deno.test("streamResponse() writes nothing after its last event when the service stops then", async () => {
  const { response, streams } = setUp(async function* () {
    yield {
      type: "turn_end",
      status: "done",
      finishReason: "stop",
      usage: {
        inputTokens: 0,
        outputTokens: 0,
        reasoningTokens: 0,
        cachedTokens: 0,
      },
    };
  });
  await new Promise((resolve) => setTimeout(resolve));
  streams.endAll();
  const types = (await blocksOf(response)).map((block) => eventOf(block).type);
  assertEquals(types, ["response.created", "response.in_progress", "response.completed"]);
});
