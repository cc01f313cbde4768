/**
 * Random turns as the agent and its journal put them on record, for property tests.
 *
 * @module
 */

import fc from "fast-check";
import { type AgentEvent, NO_USAGE } from "../../../../contract/events.ts";

/** What one model call says, and how it ends. */
interface Step {
  /** Stretches of reasoning and text, in turn; empty pieces are none. */
  stretches: { kind: "text" | "reasoning"; pieces: string[] }[];
  /** How many tools it calls; the last step calls none. */
  calls: number;
  /** The process died in it, and the turn went on after the restart. */
  crashed: boolean;
}

const anyPiece = fc.string({
  unit: fc.oneof(
    fc.constantFrom("a", " ", "é", "\ud83d", "\ude00", "\0", '"', "\\", "\n", "\r", "\u2028"),
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  ),
  minLength: 1,
  maxLength: 4,
});

const anyStep: fc.Arbitrary<Step> = fc.record({
  stretches: fc.array(
    fc.record({
      kind: fc.constantFrom("text" as const, "reasoning" as const),
      pieces: fc.array(anyPiece, { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 4 },
  ),
  calls: fc.nat({ max: 2 }),
  crashed: fc.boolean(),
});

const anyEnd: fc.Arbitrary<AgentEvent[]> = fc.oneof(
  fc.constantFrom("stop" as const, "length" as const).map((finishReason): AgentEvent[] => [
    { type: "turn_end", status: "done", finishReason, usage: { ...NO_USAGE, outputTokens: 3 } },
  ]),
  fc.constantFrom("failed" as const, "cancelled" as const, "timed_out" as const)
    .map((status): AgentEvent[] => [
      { type: "error", error: { code: "provider_error", message: "It broke" } },
      { type: "turn_end", status, finishReason: "stop", usage: NO_USAGE },
    ]),
);

/** The events of a turn from its start to its end. */
export const anyTurn: fc.Arbitrary<AgentEvent[]> = fc
  .tuple(fc.array(anyStep, { maxLength: 4 }), anyEnd)
  .map(([steps, end]) => {
    const events: AgentEvent[] = [{ type: "turn_start", model: "fake/one" }];
    steps.forEach((step, at) => addStep(events, step, at));
    return [...events, ...end];
  });

function addStep(events: AgentEvent[], { stretches, calls, crashed }: Step, at: number): void {
  const textId = `s${at}`;
  let hasText = false;
  let openReasoning: string | undefined;
  const closeReasoning = () => {
    if (openReasoning === undefined) return;
    events.push({ type: "reasoning_end", streamId: openReasoning });
    openReasoning = undefined;
  };
  stretches.forEach(({ kind, pieces }, stretch) => {
    // All text of a model call is one stream; each stretch of reasoning is one of its own.
    if (kind === "text") closeReasoning();
    else openReasoning ??= `r${at}.${stretch}`;
    for (const text of pieces) {
      events.push(
        kind === "text"
          ? { type: "text_delta", streamId: textId, text }
          : { type: "reasoning_delta", streamId: openReasoning!, text },
      );
    }
    hasText ||= kind === "text";
  });
  closeReasoning();
  if (hasText) events.push({ type: "segment_end", streamId: textId, resuming: calls > 0 });
  if (crashed) return;
  events.push({ type: "usage", model: "fake/one", usage: NO_USAGE });
  for (let call = 0; call < calls; call++) {
    const callId = `c${at}.${call}`;
    events.push(
      { type: "tool_call", callId, tool: "read", args: {}, hint: "read" },
      { type: "tool_result", callId, tool: "read", status: "ok", output: "it" },
    );
  }
}
