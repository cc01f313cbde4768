import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { AgentEvent } from "../../../contract/events.ts";
import { ended, failed } from "../../testing/fake_turns.ts";
import { eventLines, type ResponseEvent } from "./response_event.ts";
import { ResponseEvents } from "./response_events.ts";
import type { MessageItem, OutputItem, ResponseIdentity } from "./response_object.ts";
import { anyTurn } from "./testing/any_turn.ts";

const usage = { inputTokens: 10, outputTokens: 5, reasoningTokens: 2, cachedTokens: 4 };

const identity: ResponseIdentity = {
  turnId: "t1",
  acceptedAt: 1_700_000_000_123,
  echo: {
    model: "fake/one",
    previous_response_id: null,
    metadata: { topic: "greeting" },
    store: true,
    background: false,
  },
};

const START: AgentEvent = { type: "turn_start", model: "fake/one" };
const COUNTED: AgentEvent = { type: "usage", model: "fake/one", usage };

function text(streamId: string, ...pieces: string[]): AgentEvent[] {
  return pieces.map((text) => ({ type: "text_delta", streamId, text }));
}

function segmentEnd(streamId: string, resuming = false): AgentEvent {
  return { type: "segment_end", streamId, resuming };
}

/** All events of the response of a turn that says this between its start and its end. */
function eventsOf(events: readonly AgentEvent[]): ResponseEvent[] {
  const mapper = new ResponseEvents(identity, () => 1_700_000_009_999);
  return [mapper.created(), ...events.flatMap((event) => mapper.next(event))];
}

function typesOf(events: readonly ResponseEvent[]): string[] {
  return events.map(({ type }) => type.replace("response.", ""));
}

function outputOf(events: readonly AgentEvent[]): OutputItem[] {
  const last = eventsOf(events).at(-1)!;
  assert("response" in last);
  return last.response.output;
}

function statusesOf(events: readonly AgentEvent[]): string[] {
  return outputOf(events).map(({ type, status }) => `${type} ${status}`);
}

const GOLDEN: Record<string, AgentEvent[]> = {
  simple: [START, ...text("s1", "Hel", "lo"), segmentEnd("s1"), COUNTED, ended(usage)],
  reasoning_and_two_steps: [
    START,
    { type: "notice", text: "retrying" },
    { type: "reasoning_delta", streamId: "r1", text: "A file" },
    { type: "reasoning_delta", streamId: "r1", text: "?" },
    { type: "reasoning_end", streamId: "r1" },
    ...text("s1", "Let me ", "look."),
    segmentEnd("s1", true),
    COUNTED,
    { type: "tool_call", callId: "c1", tool: "read_file", args: { path: "x" }, hint: "read x" },
    { type: "tool_progress", callId: "c1", tool: "read_file", text: "half" },
    { type: "tool_result", callId: "c1", tool: "read_file", status: "ok", output: "secret" },
    { type: "summary", text: "so far" },
    ...text("s2", 'It says "hi"\nand\u2028more', "."),
    segmentEnd("s2"),
    COUNTED,
    ended(usage),
  ],
  failed: [
    START,
    ...text("s1", "Hel"),
    segmentEnd("s1"),
    ...failed({ code: "internal", message: "SQLITE_FULL at /home/x", logId: "log1" }),
  ],
};

for (const [name, events] of Object.entries(GOLDEN)) {
  Deno.test(`ResponseEvents writes a turn as in fixtures/${name}.sse`, async () => {
    const expected = await Deno.readTextFile(new URL(`fixtures/${name}.sse`, import.meta.url));
    assertEquals(eventsOf(events).map(eventLines).join(""), expected);
  });
}

Deno.test("ResponseEvents gives the events of docs/http-api.md in their order", () => {
  assertEquals(typesOf(eventsOf(GOLDEN.simple!)), [
    "created",
    "in_progress",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "completed",
  ]);
});

Deno.test("ResponseEvents gives one delta per delta, and nothing of tools, notices and usage", () => {
  const types = typesOf(eventsOf(GOLDEN.reasoning_and_two_steps!));
  assertEquals(types.filter((type) => type === "output_text.delta").length, 4);
  assertEquals(types.filter((type) => type === "reasoning_summary_text.delta").length, 2);
  assert(!JSON.stringify(eventsOf(GOLDEN.reasoning_and_two_steps!)).includes("secret"));
});

Deno.test("ResponseEvents joins the texts of steps as the chat route does", () => {
  const texts = outputOf(GOLDEN.reasoning_and_two_steps!)
    .filter((item): item is MessageItem => item.type === "message")
    .map(({ content }) => content[0]!.text);
  assertEquals(texts.join(""), 'Let me look.\n\nIt says "hi"\nand\u2028more.');
});

Deno.test("ResponseEvents ends as incomplete at the model's output limit", () => {
  const events = eventsOf([
    START,
    ...text("s1", "Let me look."),
    segmentEnd("s1", true),
    COUNTED,
    { type: "tool_call", callId: "c1", tool: "read_file", args: {}, hint: "" },
    { type: "tool_result", callId: "c1", tool: "read_file", status: "ok", output: "" },
    { type: "reasoning_delta", streamId: "r1", text: "So" },
    { type: "reasoning_end", streamId: "r1" },
    ...text("s2", "It is"),
    segmentEnd("s2"),
    COUNTED,
    { ...ended(usage), finishReason: "length" },
  ]);
  const last = events.at(-1)!;
  assert(last.type === "response.incomplete");
  assertEquals(last.response.status, "incomplete");
  assertEquals(last.response.incomplete_details, { reason: "max_output_tokens" });
  assertEquals(last.response.completed_at, null);
  assertEquals(last.response.output.map(({ status }) => status), [
    "completed",
    "completed",
    "incomplete",
  ]);
});

Deno.test("W6 ResponseEvents ends with response.failed, and hides what is the service's own", () => {
  const last = eventsOf(GOLDEN.failed!).at(-1)!;
  assert(last.type === "response.failed");
  assertEquals(last.response.status, "failed");
  assertEquals(last.response.error?.service_code, "turn_failed");
  assert(last.response.error?.message.includes("log1"));
  assert(!JSON.stringify(last).includes("SQLITE_FULL"));
});

Deno.test("ResponseEvents says of a cancelled turn that it was, and keeps what was said", () => {
  const last = eventsOf([
    START,
    ...text("s1", "Hel"),
    segmentEnd("s1"),
    ...failed({ code: "turn_cancelled", message: "It was cancelled" }, "cancelled"),
  ]).at(-1)!;
  assert(last.type === "response.failed");
  assertEquals(last.response.status, "cancelled");
  assertEquals(last.response.error, null);
  assertEquals(last.response.output.map(({ status }) => status), ["incomplete"]);
});

Deno.test("ResponseEvents begins a turn that never ran before it ends it", () => {
  const error = { code: "turn_interrupted" as const, message: "It stopped" };
  assertEquals(typesOf(eventsOf(failed(error, "interrupted"))), [
    "created",
    "in_progress",
    "failed",
  ]);
});

Deno.test("ResponseEvents ends as incomplete what a crash cut off", () => {
  const again = [...text("s9", "again"), segmentEnd("s9"), COUNTED, ended(usage)];
  const cut = [START, ...text("s1", "Hel"), segmentEnd("s1", true)];
  assertEquals(statusesOf([...cut, ...again]), ["message incomplete", "message completed"]);
  assertEquals(statusesOf([...cut, START, ...again]), ["message incomplete", "message completed"]);
  assertEquals(statusesOf([START, ...text("s1", "Hel"), START, ...again]), [
    "message incomplete",
    "message completed",
  ]);
  assertEquals(
    statusesOf([
      START,
      { type: "reasoning_delta", streamId: "r1", text: "So" },
      { type: "reasoning_end", streamId: "r1" },
      { type: "reasoning_delta", streamId: "r2", text: "So" },
      { type: "reasoning_end", streamId: "r2" },
      ...again,
    ]),
    ["reasoning incomplete", "reasoning completed", "message completed"],
  );
  // The answer was there, only the turn's end was missing.
  assertEquals(
    statusesOf([START, ...text("s1", "Hello"), segmentEnd("s1"), COUNTED, START, ended(usage)]),
    ["message completed"],
  );
});

Deno.test("ResponseEvents keeps streams apart that are open at the same time", () => {
  const output = outputOf([
    START,
    ...text("s1", "a"),
    { type: "reasoning_delta", streamId: "s1", text: "x" },
    ...text("s1", "b"),
    { type: "reasoning_end", streamId: "s1" },
    ...text("s1", "c"),
    segmentEnd("s1"),
    COUNTED,
    ended(),
  ]);
  assertEquals(output.map((item) => item.type === "message" ? item.content : item.summary), [
    [{ type: "output_text", text: "abc", annotations: [], logprobs: [] }],
    [{ type: "summary_text", text: "x" }],
  ]);
  assertEquals(output.map(({ id }) => id), ["msg_t1_0", "rs_t1_1"]);
});

Deno.test("ResponseEvents.breakOff() ends what is open with a failure", () => {
  const mapper = new ResponseEvents(identity, () => undefined);
  const events = [mapper.created(), ...text("s1", "Hel").flatMap((event) => mapper.next(event))];
  events.push(...mapper.breakOff({ code: "draining", message: "It stops" }));
  assertEquals(events.map(({ sequence_number }) => sequence_number), [...events.keys()]);
  assertEquals(typesOf(events).slice(-2), ["output_item.done", "failed"]);
  assertEquals(mapper.ending?.failure?.code, "draining");
});

Deno.test("ResponseEvents numbers without a gap, closes all it opens, and repeats itself", () => {
  fc.assert(fc.property(anyTurn, (turn) => {
    const events = eventsOf(turn);
    assertEquals(events.map(({ sequence_number }) => sequence_number), [...events.keys()]);
    assertEquals(eventsOf(turn).map(eventLines), events.map(eventLines));
    const deltas = new Map<string, string>();
    const done = new Map<number, OutputItem>();
    for (const event of events) {
      if ("delta" in event) {
        deltas.set(event.item_id, (deltas.get(event.item_id) ?? "") + event.delta);
      }
      if (event.type === "response.output_item.done") done.set(event.output_index, event.item);
    }
    const last = events.at(-1)!;
    assert("response" in last && last.response.status !== "in_progress");
    assertEquals(last.response.output, [...last.response.output.keys()].map((at) => done.get(at)!));
    assertEquals(
      last.response.output.map((item) =>
        item.type === "message" ? item.content[0]!.text : item.summary[0]!.text
      ),
      [...deltas.values()],
    );
    assertEquals(events.findIndex((event) => event === last), events.length - 1);
  }));
});
