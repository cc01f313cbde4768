import fc from "fast-check";
import type { AgentEvent, StoredEvent } from "../../../lib/contract/events.ts";
import type { ShownOptions } from "../protocol/event_frame.ts";

/** Every choice of what is shown. */
export const anyOptions: fc.Arbitrary<ShownOptions> = fc.record({
  streaming: fc.boolean(),
  showReasoning: fc.boolean(),
  sendProgress: fc.boolean(),
  sendToolHints: fc.boolean(),
});

const usage = { inputTokens: 1, outputTokens: 2, reasoningTokens: 0, cachedTokens: 0 };

const outside: fc.Arbitrary<AgentEvent> = fc.oneof(
  fc.constant<AgentEvent>({ type: "session_updated", scope: "title", title: "T" }),
  fc.constant<AgentEvent>({ type: "message", text: "from elsewhere" }),
);

/** What stands inside a turn, with the streams in the order that the agent's contract gives them. */
const inside: fc.Arbitrary<AgentEvent[]> = fc.oneof(
  fc.tuple(fc.array(fc.string(), { minLength: 1, maxLength: 5 }), fc.boolean(), fc.nat()).map(
    ([texts, resuming, id]): AgentEvent[] => [
      ...texts.map((text): AgentEvent => ({ type: "text_delta", streamId: `s${id}`, text })),
      { type: "segment_end", streamId: `s${id}`, resuming },
    ],
  ),
  fc.tuple(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), fc.nat()).map(
    ([texts, id]): AgentEvent[] => [
      ...texts.map((text): AgentEvent => ({ type: "reasoning_delta", streamId: `r${id}`, text })),
      { type: "reasoning_end", streamId: `r${id}` },
    ],
  ),
  fc.constant<AgentEvent[]>([
    { type: "tool_call", callId: "c", tool: "exec", args: {}, hint: "exec ls" },
    { type: "tool_progress", callId: "c", tool: "exec", text: "half" },
    { type: "tool_result", callId: "c", tool: "exec", status: "ok", output: "x" },
  ]),
  fc.constant<AgentEvent[]>([{ type: "usage", model: "m", usage }]),
  fc.constant<AgentEvent[]>([{ type: "notice", text: "again" }]),
  fc.constant<AgentEvent[]>([{ type: "summary", text: "before" }]),
);

/** Merges lists, keeping the order in each, by what a random number says. */
function shuffled(lists: readonly AgentEvent[][], picks: readonly number[]): AgentEvent[] {
  const left = lists.map((list) => [...list]).filter((list) => list.length > 0);
  const merged: AgentEvent[] = [];
  for (let at = 0; left.length > 0; at++) {
    const index = (picks[at % picks.length] ?? 0) % left.length;
    merged.push(left[index]!.shift()!);
    if (left[index]!.length === 0) left.splice(index, 1);
  }
  return merged;
}

const turn: fc.Arbitrary<AgentEvent[]> = fc.tuple(
  fc.array(inside, { maxLength: 5 }),
  fc.array(outside, { maxLength: 2 }),
  fc.array(fc.nat(), { minLength: 1, maxLength: 20 }),
).map(([parts, between, picks]) => [
  { type: "turn_start", model: "m" },
  ...shuffled([...parts, between], picks),
  { type: "turn_end", status: "done", finishReason: "stop", usage },
]);

/** The events of a chat: turns one after the other, and what others do in between and meanwhile. */
export const anyChat: fc.Arbitrary<StoredEvent[]> = fc.array(
  fc.oneof(turn, outside.map((event) => [event])),
  { minLength: 1, maxLength: 4 },
).map((parts) =>
  parts.flatMap((events, index) => events.map((event) => ({ event, turn: `t${index}` })))
    .map(({ event, turn }, at) => ({
      seq: at + 1,
      turnId: ["session_updated", "message"].includes(event.type) ? "" : turn,
      event,
    }))
);
