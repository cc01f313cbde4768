import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { scriptedModel } from "../agent/testing/scripted_model.ts";
import { eventsOf, testAgent, textOf } from "../agent/testing/test_agent.ts";
import { ServiceError } from "../base/errors.ts";
import type { TurnHandle } from "../contract/turns.ts";

/** A chat whose authority knows `apr_1` alone. */
function setUp() {
  const asked: unknown[] = [];
  const agent = testAgent({
    model: scriptedModel(),
    operate(request, credential) {
      asked.push([request, credential]);
      const { op, id } = request as { op: string; id: string };
      const outcome = op === "approvals.approve" ? "approved" : "denied";
      return id === "apr_1"
        ? Promise.resolve({ id, outcome })
        : Promise.reject(new ServiceError("approval_expired", `The approval ${id} is late`));
    },
  });
  const say = async (text: string, senderVerified?: boolean) => {
    const answer = agent.turns.command({
      sessionKey: "telegram:1",
      input: [{ type: "text", text }],
      actor: "telegram:1",
      senderVerified,
    })!;
    return textOf(await eventsOf(answer as TurnHandle));
  };
  return { agent, asked, say, [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose]() };
}

Deno.test("G12 /approve and /deny ask the authority as the sender, answer in a sentence, and leave no trace", async () => {
  await using chat = setUp();
  const { say, asked, agent } = chat;
  assertEquals(await say("/approve apr_1 12345678"), "Approved apr_1.");
  assertEquals(await say("  /DENY apr_1  not\nthere "), "Denied apr_1.");
  assertEquals(await say("/deny apr_1"), "Denied apr_1.");
  assertEquals(await say("/deny apr_2"), "Not done: The approval apr_2 is late.");
  const sender = { kind: "sender", sender: "telegram:1" };
  assertEquals(asked, [
    [{ op: "approvals.approve", id: "apr_1", digest: "12345678" }, sender],
    [{ op: "approvals.deny", id: "apr_1", reason: "not\nthere" }, sender],
    [{ op: "approvals.deny", id: "apr_1", reason: "" }, sender],
    [{ op: "approvals.deny", id: "apr_2", reason: "" }, sender],
  ]);
  assertEquals(agent.journal.sessions({ limit: 10 }), []);
});

Deno.test("/approve and /deny say what is missing or too long, and ask nobody", async () => {
  await using chat = setUp();
  for (const text of ["/approve", "/approve apr_1", "/approve everything"]) {
    assertEquals(await chat.say(text), "Expected: /approve ID DIGEST.");
  }
  assertEquals(await chat.say("/deny"), "Expected: /deny ID [REASON].");
  for (
    const [text, field] of [
      [`/deny ${"x".repeat(1_000)}`, "id"],
      [`/deny apr_1 ${"y".repeat(100_000)}`, "reason"],
      [`/approve apr_1 ${"0".repeat(1_000)}`, "digest"],
    ] as const
  ) {
    const said = await chat.say(text);
    assertStringIncludes(said, `Not done: ${field} must be `);
    assert(said.length < 300);
  }
  assertStringIncludes(await chat.say("/deny apr_1", false), "does not prove who writes");
  assertEquals(chat.asked, []);
});

Deno.test("/approve gives the authority every word behind the id as the digest", async () => {
  await using chat = setUp();
  await chat.say("/approve apr_1 12345678 and then do it");
  await chat.say("/approve apr_1 12345678\u200b");
  const digests = chat.asked.map((call) => (call as [{ digest: string }])[0].digest);
  assertEquals(digests, ["12345678 and then do it", "12345678\u200b"]);
});
