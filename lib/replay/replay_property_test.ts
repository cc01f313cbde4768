/**
 * Whatever a model says, tools do and the world interferes with: what is on record of a turn comes to the
 * same events again, or the turn is refused with a reason.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { acts, answer, ends } from "../agent/testing/any_turn.ts";
import { scriptedModel, yields } from "../agent/testing/scripted_model.ts";
import { testAgent, testTool } from "../agent/testing/test_agent.ts";
import { ServiceError } from "../base/errors.ts";
import type { ActionPort } from "../contract/actions.ts";
import type { StoredEvent } from "../contract/events.ts";
import { rounds } from "../../tests/support/rounds.ts";
import { firstDifference } from "./compare.ts";
import { recordTurn } from "./record_turn.ts";
import { readRecording } from "./recording.ts";
import { replayTurn } from "./replay_turn.ts";

/** One that a person is asked about, at leisure. */
const asks = (outcome: "approved" | "denied"): ActionPort["act"] => async (request, how) => {
  const id = `apr_${request.context.callId}`;
  how.onApproval?.({
    type: "requested",
    approval: { id, details: "" } as never,
    brief: { text: "?", isWhole: true },
  });
  await new Promise((resolve) => setTimeout(resolve));
  how.onApproval?.({ type: "resolved", approvalId: id, outcome });
  return outcome === "approved"
    ? { status: "ok", output: "done" }
    : { status: "refused", output: "no", error: { code: "refused", message: "no" }, remedy: {} };
};

const every: Record<string, ActionPort["act"]> = {
  ...acts,
  approved: asks("approved"),
  denied: asks("denied"),
};

const scenario = fc.record({
  answers: fc.array(answer, { minLength: 1, maxLength: 5 }),
  acts: fc.array(fc.constantFrom(...Object.keys(every)), { maxLength: 8 }),
  interference: fc.constantFrom("nothing", "cancel", "drain", "timeout"),
  /** After which event it happens. */
  at: fc.nat(12),
  durable: fc.boolean(),
});

Deno.test("replayTurn() comes to the events of any turn, or its recording is refused", async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (one) => {
      let called = 0;
      await using agent = testAgent({
        agent: { maxSteps: 4, stallTimeoutS: 100, turnTimeoutS: 150 },
        tools: [
          testTool("read"),
          testTool("write", { readOnly: false }),
          testTool("fetch", { parallel: true }),
        ],
        model: scriptedModel(one.answers.map(({ events, end }) => yields(events, ends[end]!))),
        async act(request, how) {
          const act = every[one.acts[called++] ?? "ok"]!;
          // The gate is in another process.
          await new Promise((resolve) => setTimeout(resolve));
          return await act(request, how);
        },
      });
      const handle = await agent.submit("hi", { durable: one.durable });
      const interfere = {
        nothing: () => {},
        cancel: () => handle.cancel(),
        drain: () => void agent.turns.drain({ graceMs: 0 }),
        timeout: () => agent.clock.tick(150_000),
      }[one.interference];
      const seen: StoredEvent[] = [];
      let over = false;
      const read = (async () => {
        for await (const stored of handle.events()) {
          if (seen.push(stored) === one.at + 1) interfere();
        }
      })().catch(() => {}).finally(() => over = true);
      for (let round = 0; !over; round++) {
        assert(round < 500, "the turn does not end");
        await new Promise((resolve) => setTimeout(resolve));
        if (round % 3 === 2) agent.clock.tick(4_000);
      }
      await read;
      const session = agent.journal.session("test:one")!;
      let text: string;
      try {
        text = JSON.stringify(await recordTurn(agent.journal, session));
      } catch (error) {
        assert(error instanceof ServiceError && error.code === "conflict", String(error));
        return;
      }
      const recording = readRecording(text);
      const difference = firstDifference(recording.events, await replayTurn(recording));
      // What the model threw was no error of a model: the replay says that its record ends there.
      if (difference?.type === "error") {
        assertEquals(recording.events[difference.event - 1], {
          type: "error",
          error: { code: "turn_failed", message: "The turn failed unexpectedly" },
        });
      } else assertEquals(difference, undefined);
    }),
    { numRuns: rounds(300, 20) },
  );
});
