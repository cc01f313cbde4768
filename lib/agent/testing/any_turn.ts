/**
 * Turns as anything may make them: what a model says and how its answers end, and what tools do.
 *
 * @module
 */

import fc from "fast-check";
import type { ActionPort } from "../../contract/actions.ts";
import type { ModelEvent } from "../../model/port.ts";
import { type Answer, fails, finish, hangs, ignoresAbort, yields } from "./scripted_model.ts";

const throws = (): never => {
  throw new TypeError("a bug");
};

const said: fc.Arbitrary<ModelEvent> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: fc.string({ maxLength: 5 }) }),
  fc.record({ type: fc.constant("reasoning" as const), text: fc.string({ maxLength: 5 }) }),
  fc.record({
    type: fc.constant("call" as const),
    call: fc.record({
      callId: fc.constantFrom("", "a", "b"),
      tool: fc.constantFrom("read", "write", "fetch", "nope", ""),
      args: fc.oneof(fc.constant("{broken"), fc.jsonValue({ maxDepth: 1 })),
    }),
  }),
);

/** How an answer ends. */
export const ends: Record<string, Answer> = {
  stop: yields([finish()]),
  length: yields([finish({ reason: "length" })]),
  cutOff: yields([]),
  hangs: hangs(),
  ignoresAbort: ignoresAbort(),
  throws,
  provider: fails("provider_error"),
  overflow: fails("context_overflow"),
};

/** An answer, and the name of its end. */
export const answer = fc.record({
  events: fc.array(said, { maxLength: 6 }),
  end: fc.oneof(
    { weight: 5, arbitrary: fc.constant("stop") },
    { weight: 3, arbitrary: fc.constantFrom(...Object.keys(ends)) },
  ),
});

/** What an action does. */
export const acts: Record<string, ActionPort["act"]> = {
  ok: () => Promise.resolve({ status: "ok", output: "fine" }),
  progress: async (_request, { onProgress }) => {
    onProgress("half");
    await new Promise((resolve) => setTimeout(resolve));
    onProgress("more");
    return { status: "ok", output: "fine" };
  },
  failed: () =>
    Promise.resolve({ status: "failed", output: "", error: { code: "tool_failed", message: "" } }),
  refused: () =>
    Promise.resolve({ status: "refused", output: "", error: { code: "refused", message: "" } }),
  rejects: () => Promise.reject(new Error("a bug")),
  throws,
  hangs: (_request, { signal }) =>
    new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason));
    }),
  ignoresAbort: () => new Promise(() => {}),
};
