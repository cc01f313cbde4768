/** What is sent has the types that the `openai` package promises to its users. */

import { assertEquals } from "@std/assert";
import { ResponseStream } from "openai/lib/responses/ResponseStream";
import type * as OpenAI from "openai/resources/responses/responses";
import fc from "fast-check";
import { type AgentEvent, NO_USAGE } from "../../../contract/events.ts";
import type { ResponseEvent } from "./response_event.ts";
import { ResponseEvents } from "./response_events.ts";
import { type ResponseIdentity, type ResponseObject, responseObject } from "./response_object.ts";
import { anyTurn } from "./testing/any_turn.ts";
import { rounds } from "../../../../tests/support/rounds.ts";

const identity: ResponseIdentity = {
  turnId: "t1",
  acceptedAt: 1_700_000_000_123,
  echo: {
    model: "fake/one",
    previous_response_id: null,
    metadata: {},
    store: true,
    background: false,
  },
};

/**
 * The package's type but for three fields: it adds `output_text` itself; `usage` is null on the wire
 * until it is known; and the codes of this service are its own.
 */
type WireResponse = Omit<OpenAI.Response, "output_text" | "usage" | "error"> & {
  usage: OpenAI.ResponseUsage | null;
  error: Omit<OpenAI.ResponseError, "code"> & { code: string } | null;
};

type ItemEvent = Exclude<ResponseEvent, { response: ResponseObject }>;

type WireEvent = Exclude<OpenAI.ResponseStreamEvent, { response: OpenAI.Response }>;

Deno.test("responseObject() has the type of a Response", () => {
  const response: WireResponse = responseObject(identity, { status: "queued", output: [] });
  assertEquals(response.object, "response");
});

Deno.test("ResponseEvents gives events of the type ResponseStreamEvent", () => {
  const itemEvent = (event: ItemEvent): WireEvent => event;
  const typeOf = (event: ResponseEvent): OpenAI.ResponseStreamEvent["type"] => event.type;
  const events = eventsOf([
    { type: "text_delta", streamId: "s1", text: "Hello" },
    { type: "segment_end", streamId: "s1", resuming: false },
    { type: "turn_end", status: "done", finishReason: "stop", usage: NO_USAGE },
  ]);
  const itemEvents = events.filter((event): event is ItemEvent => !("response" in event));
  assertEquals(itemEvents.map(itemEvent).length, 6);
  assertEquals(events.map(typeOf).at(-1), "response.completed");
});

Deno.test("the openai package puts any response together as it is", async () => {
  await fc.assert(
    fc.asyncProperty(anyTurn, async (turn) => {
      const events = eventsOf(turn);
      const whole = await ResponseStream.fromReadableStream(jsonLines(events)).finalResponse();
      const { output_parsed: _, output_text: text, ...rest } = whole;
      const last = events.at(-1)!;
      const expected = "response" in last ? last.response : undefined;
      assertEquals(withoutParsed(rest), expected);
      assertEquals(
        text,
        expected!.output.map((item) => item.type === "message" ? item.content[0]!.text : "")
          .join(""),
      );
    }),
    { numRuns: rounds(50) },
  );
});

function eventsOf(turn: readonly AgentEvent[]): ResponseEvent[] {
  const mapper = new ResponseEvents(identity, () => undefined);
  return [mapper.created(), ...turn.flatMap((event) => mapper.next(event))];
}

function jsonLines(events: readonly ResponseEvent[]): ReadableStream {
  const lines = events.map((event) => `${JSON.stringify(event)}\n`);
  return ReadableStream.from(lines.map((line) => new TextEncoder().encode(line)));
}

/** The package adds `parsed: null` to each text. */
function withoutParsed(response: unknown): unknown {
  return JSON.parse(JSON.stringify(response, (key, value) => key === "parsed" ? undefined : value));
}
