import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { dispatchOutbound, type OutboundMembers } from "./dispatch_outbound.ts";
import { eventOf } from "./outbound_event.ts";
import type { OutboundEvent, OutboundMessage } from "../contract/outbound_message.ts";

function message(changes: Partial<OutboundMessage> = {}): OutboundMessage {
  return {
    id: "m",
    channel: "irc",
    chatId: "#a",
    content: "hi",
    media: [],
    metadata: {},
    ...changes,
  };
}

/** A runtime that notes which members were called with what. */
function runtime(hasDelta = true): OutboundMembers & { calls: [string, unknown][] } {
  const calls: [string, unknown][] = [];
  const note = (member: string) => (given: unknown) => {
    calls.push([member, given]);
    return Promise.resolve();
  };
  return {
    calls,
    send: note("send"),
    ...hasDelta && { sendDelta: note("sendDelta") },
    sendReasoningDelta: note("sendReasoningDelta"),
    sendReasoningEnd: note("sendReasoningEnd"),
  };
}

const EVENTS: [legacy: Record<string, unknown>, event: OutboundEvent][] = [
  [{ _progress: true }, { type: "progress", toolHint: false }],
  [{ _progress: true, _tool_hint: true }, { type: "progress", toolHint: true }],
  [{ _stream_delta: true }, { type: "stream_delta" }],
  [{ _stream_delta: true, _stream_id: "s" }, { type: "stream_delta", streamId: "s" }],
  [{ _stream_end: true }, { type: "stream_end", resuming: false }],
  [
    { _stream_end: true, _stream_delta: true, _resuming: true, _stream_id: "s" },
    { type: "stream_end", resuming: true, streamId: "s" },
  ],
  [{ _reasoning_delta: true, _stream_id: "r" }, { type: "reasoning_delta", streamId: "r" }],
  [{ _reasoning_end: true }, { type: "reasoning_end" }],
  [{ _turn_end: true }, { type: "turn_end", status: "done" }],
  [{ _turn_end: "failed" }, { type: "turn_end", status: "failed" }],
  [{ _goal_status: { done: 1 } }, { type: "goal_status" }],
];

for (const [flags, event] of EVENTS) {
  Deno.test(`dispatchOutbound() does with ${JSON.stringify(flags)} what it does with ${event.type} (C30)`, async () => {
    assertEquals(eventOf(message({ metadata: { ...flags, message_id: "7" } })), event);
    for (const hasDelta of [true, false]) {
      const [typed, legacy] = [runtime(hasDelta), runtime(hasDelta)];
      await dispatchOutbound(typed, message({ event, metadata: { message_id: "7" } }));
      await dispatchOutbound(legacy, message({ metadata: { ...flags, message_id: "7" } }));
      assertEquals(legacy.calls, typed.calls);
      assertEquals(typed.calls.length > 0, true);
    }
  });
}

Deno.test("dispatchOutbound() follows the typed event, whatever flags say beside it (C30)", async () => {
  const events = fc.constantFrom(...EVENTS.map(([, event]) => event));
  const flags = fc.constantFrom(...EVENTS.map(([flags]) => flags));
  await fc.assert(fc.asyncProperty(events, flags, async (event, metadata) => {
    const [plain, flagged] = [runtime(), runtime()];
    await dispatchOutbound(plain, message({ event }));
    await dispatchOutbound(flagged, message({ event, metadata: { ...metadata, _stream_id: "x" } }));
    assertEquals(flagged.calls, plain.calls);
  }));
});

Deno.test("dispatchOutbound() gives pieces to sendDelta, thoughts to their own members, and the rest to send", async () => {
  const to = runtime();
  await dispatchOutbound(to, message());
  await dispatchOutbound(to, message({ metadata: { _stream_delta: true, _stream_id: "s" } }));
  await dispatchOutbound(to, message({ metadata: { _stream_end: true }, content: "" }));
  await dispatchOutbound(to, message({ metadata: { _reasoning_end: true } }));
  await dispatchOutbound(to, message({ metadata: { _progress: false } }));
  assertEquals(
    to.calls,
    [
      ["send", message()],
      ["sendDelta", {
        chatId: "#a",
        delta: "hi",
        metadata: {},
        streamId: "s",
        streamEnd: false,
        resuming: false,
      }],
      ["sendDelta", { chatId: "#a", delta: "", metadata: {}, streamEnd: true, resuming: false }],
      ["sendReasoningDelta", { chatId: "#a", metadata: {}, delta: "hi" }],
      ["sendReasoningEnd", { chatId: "#a", metadata: {} }],
      ["send", message({ metadata: { _progress: false } })],
    ].map(([member, given]) => {
      if (member !== "send" || (given as OutboundMessage).metadata["_progress"] === undefined) {
        return [member, given] as [string, unknown];
      }
      // A flag that is off is none, and does not go out either.
      return [member, message()] as [string, unknown];
    }),
  );
});

Deno.test("dispatchOutbound() rejects with what the member rejects with", async () => {
  const to = { ...runtime(), sendDelta: () => Promise.reject(new Error("gone")) };
  await assertRejects(
    () => dispatchOutbound(to, message({ event: { type: "stream_delta" } })),
    Error,
    "gone",
  );
});
