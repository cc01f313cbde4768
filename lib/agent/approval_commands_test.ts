import { assertEquals } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { scriptedModel } from "./testing/scripted_model.ts";
import { eventsOf, testAgent, textOf } from "./testing/test_agent.ts";
import { readApproval } from "./approval_commands.ts";
import type { Said } from "../contract/turns.ts";
import { readCommand } from "./chat_commands.ts";
import type { TurnHandle } from "../contract/turns.ts";

const readAll = (input: readonly Said[]) => {
  const found = readCommand(input);
  return found && readApproval(found.command.name as "approve" | "deny", found.rest);
};
const words = (text: string) => readAll([{ type: "text", text }]);

Deno.test("readApproval() reads an approval and a denial", () => {
  assertEquals(words("/approve apr_1 12345678"), {
    op: "approvals.approve",
    id: "apr_1",
    digest: "12345678",
  });
  assertEquals(words("  /DENY apr_1  not\nthere "), {
    op: "approvals.deny",
    id: "apr_1",
    reason: "not\nthere",
  });
  assertEquals(words("/deny apr_1"), { op: "approvals.deny", id: "apr_1", reason: "" });
});

Deno.test("readApproval() catches whatever begins so, and nothing else", () => {
  for (
    const text of ["/approve", "/approve apr_1", "/approve apr_1 1234", "/deny", "/approve a b c"]
  ) {
    assertEquals("usage" in words(text)!, true, text);
  }
  for (const text of ["", "approve", "/approved x", "say /approve apr_1 12345678", "/denying"]) {
    assertEquals(words(text), undefined, text);
  }
  const after = [{ type: "image" }, { type: "text", text: " " }, { type: "text", text: "/deny x" }];
  assertEquals(readAll(after), { op: "approvals.deny", id: "x", reason: "" });
});

Deno.test("G12 command() asks the authority as the sender, answers in a sentence, and leaves no trace", async () => {
  const asked: unknown[] = [];
  await using agent = testAgent({
    model: scriptedModel(),
    operate(request, credential) {
      asked.push([request, credential]);
      return "id" in request && request.id === "apr_1"
        ? Promise.resolve({ done: true })
        : Promise.reject(new ServiceError("approval_expired", "The approval apr_2 is late"));
    },
  });
  const say = async (text: string) => {
    const answer = agent.turns.command({
      sessionKey: "telegram:1",
      input: [{ type: "text", text }],
      actor: "telegram:1",
    })!;
    return textOf(await eventsOf(answer as TurnHandle));
  };
  assertEquals(await say("/approve apr_1 12345678"), "Approved apr_1.");
  assertEquals(await say("/deny apr_1 no"), "Denied apr_1.");
  assertEquals(await say("/deny apr_2"), "Not denied: The approval apr_2 is late.");
  assertEquals(
    await say("/approve"),
    "Expected: /approve ID DIGEST, the first 8 digits of it or more.",
  );
  assertEquals(asked[0], [
    { op: "approvals.approve", id: "apr_1", digest: "12345678" },
    { kind: "sender", sender: "telegram:1" },
  ]);
  assertEquals(asked.length, 3);
  assertEquals(agent.journal.sessions({ limit: 10 }), []);
  assertEquals(
    agent.turns.command({
      sessionKey: "test:one",
      input: [{ type: "text", text: "hi" }],
      actor: "",
    }),
    undefined,
  );
});
