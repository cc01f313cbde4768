import { assertEquals } from "@std/assert";
import { grammarFaults } from "./testing/check_grammar.ts";
import { calls, says, scriptedModel } from "./testing/scripted_model.ts";
import { only, testAgent, textOf } from "./testing/test_agent.ts";

Deno.test("runTurn() answers, and asks again after calls, until there are none", async () => {
  const model = scriptedModel([calls(["read", { path: "a" }]), says("It ", "says a.")]);
  await using agent = testAgent({ model });
  const events = await agent.ask("What does a say?");
  assertEquals(events.map(({ type }) => type), [
    "turn_start",
    "usage",
    "tool_call",
    "tool_result",
    "text_delta",
    "text_delta",
    "segment_end",
    "usage",
    "turn_end",
  ]);
  assertEquals(grammarFaults(events), []);
  assertEquals(textOf(events), "It says a.");
  assertEquals(only(events, "turn_end")[0]!.status, "done");
});
