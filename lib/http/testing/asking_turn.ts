/**
 * A turn with an action that waits for a person.
 *
 * @module
 */

import type { AgentEvent } from "../../contract/events.ts";
import { ended, type FakeTurn, says } from "./fake_turns.ts";

/** What waits; it expires after two minutes of a clock that begins at 0. */
export const APPROVAL = {
  id: "apr_1",
  digest: "ab".repeat(32),
  capability: "fs.write" as const,
  tool: "write_file",
  target: "/t",
  details: "access: write",
  isWhole: true,
  session: "api:default",
  channel: "api",
  actor: "api:anonymous",
  createdAt: 0,
  expiresAt: 120_000,
};

/** The script of such a turn, which says how it came out once that is resolved. */
export function askingTurn() {
  const outcome = Promise.withResolvers<"approved" | "denied">();
  async function* script(turn: FakeTurn): AsyncGenerator<AgentEvent> {
    yield* says(["I write."], { streamId: "s1", resuming: true });
    yield { type: "usage", model: "fake/one", usage: tokens(10) };
    const call = { callId: "c1", tool: "write_file" };
    yield { type: "tool_call", ...call, args: {}, hint: "write_file /t" };
    yield { type: "approval_requested", ...call, approval: APPROVAL };
    const came = await turn.until(outcome.promise);
    yield { type: "approval_resolved", callId: "c1", approvalId: APPROVAL.id, outcome: came };
    yield { type: "tool_result", ...call, status: "ok", output: "" };
    yield* says([`It was ${came}.`], { streamId: "s2" });
    yield { type: "usage", model: "fake/one", usage: tokens(20) };
    yield ended(tokens(30));
  }
  return { script, outcome };
}

function tokens(inputTokens: number) {
  return { inputTokens, outputTokens: 0, reasoningTokens: 0, cachedTokens: 0 };
}
