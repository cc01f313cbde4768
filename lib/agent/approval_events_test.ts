import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ActionPort, ApprovalView } from "../contract/actions.ts";
import { grammarFaults } from "./testing/check_grammar.ts";
import { calls, scriptedModel } from "./testing/scripted_model.ts";
import { eventsOf, only, testAgent, until } from "./testing/test_agent.ts";

const VIEW: ApprovalView = {
  id: "apr_1",
  digest: "a".repeat(64),
  capability: "fs.write",
  tool: "write",
  target: "/t",
  details: "",
  isWhole: true,
  session: "test:one",
  channel: "test",
  actor: "test:person",
  createdAt: 0,
  expiresAt: 1,
};

const BRIEF = { text: "/tmp/a", isWhole: true };

/** An agent whose action waits for a person until `answer` is called, or it is left or cut off. */
function waitingAgent() {
  const answered = Promise.withResolvers<"approved" | "denied">();
  let lefts = 0;
  const act: ActionPort["act"] = async (_, { signal, left, onApproval }) => {
    onApproval?.({ type: "requested", approval: VIEW, brief: BRIEF });
    const outcome = await Promise.race([
      answered.promise,
      new Promise<"void">((resolve) =>
        left?.addEventListener("abort", () => {
          lefts++;
          resolve("void");
        })
      ),
      new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason))
      ),
    ]);
    onApproval?.({ type: "resolved", approvalId: VIEW.id, outcome });
    return outcome === "approved" ? { status: "ok", output: "done" } : {
      status: "refused",
      output: "refused",
      error: { code: "refused", message: "refused" },
    };
  };
  const agent = testAgent({
    act,
    model: scriptedModel([calls(["write", {}])]),
    agent: { turnTimeoutS: 60, stallTimeoutS: 30 },
  });
  return { agent, answered, lefts: () => lefts };
}

Deno.test("a turn stands still while an action waits, and goes on with the time that it had", async () => {
  const { agent, answered } = waitingAgent();
  await using _ = agent;
  const handle = await agent.submit("go");
  await until(handle, "approval_requested");
  agent.clock.tick(290_000);
  answered.resolve("approved");
  const events = await eventsOf(handle);
  assertEquals(grammarFaults(events), []);
  assertEquals(only(events, "turn_end")[0]!.status, "done");
  assertEquals(only(events, "approval_requested")[0]!.approval, VIEW);
  assertEquals(only(events, "approval_resolved")[0]!.outcome, "approved");
  assertEquals(agent.clock.timers(), 0);
});

Deno.test("G8 a requester who leaves voids what waits, and the turn goes on unattended", async () => {
  const { agent, lefts } = waitingAgent();
  await using _ = agent;
  const handle = await agent.submit("go");
  await until(handle, "approval_requested");
  handle.setPresent(false);
  handle.setPresent(true);
  const events = await eventsOf(handle);
  assertEquals(only(events, "approval_resolved")[0]!.outcome, "void");
  assertEquals(only(events, "tool_result")[0]!.status, "refused");
  assertEquals([lefts(), grammarFaults(events)], [1, []]);
});

Deno.test("a turn that is cancelled while an action waits says that the approval is void", async () => {
  const { agent } = waitingAgent();
  await using _ = agent;
  const handle = await agent.submit("go");
  await until(handle, "approval_requested");
  handle.cancel();
  const events = await eventsOf(handle);
  assertEquals(grammarFaults(events), []);
  assertEquals(only(events, "approval_resolved")[0]!.outcome, "void");
  assertEquals(only(events, "turn_end")[0]!.status, "cancelled");
  const { status, output } = only(events, "tool_result")[0]!;
  assertEquals([status, output], [
    "interrupted",
    "Not run: the turn ended while it waited for a person.",
  ]);
});

Deno.test("a call that is cut off after it was approved may have run", async () => {
  const cut = Promise.withResolvers<never>();
  const agent = testAgent({
    act: async (_, { signal, onApproval }) => {
      onApproval?.({ type: "requested", approval: VIEW, brief: BRIEF });
      onApproval?.({ type: "resolved", approvalId: VIEW.id, outcome: "approved" });
      signal.addEventListener("abort", () => cut.reject(signal.reason));
      return await cut.promise;
    },
    model: scriptedModel([calls(["write", {}])]),
  });
  await using _ = agent;
  const handle = await agent.submit("go");
  await until(handle, "approval_resolved");
  handle.cancel();
  const events = await eventsOf(handle);
  assertStringIncludes(only(events, "tool_result")[0]!.output, "it is not known");
});
