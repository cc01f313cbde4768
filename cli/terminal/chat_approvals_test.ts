import { assertEquals } from "@std/assert";
import type { ApprovalView } from "../../lib/contract/actions.ts";
import type { Approver } from "../agent/approver.ts";
import { MIN_READING_MS } from "./approval_dialog.ts";
import { ChatApprovals } from "./chat_approvals.ts";

Deno.test("ChatApprovals takes a key that is pressed twice as the answer to one question", async () => {
  let now = 0;
  const approved: string[] = [];
  const operate = ((request: { op: string; id: string }) => {
    if (request.op === "approvals.approve") approved.push(request.id);
    const { id } = request;
    return Promise.resolve({
      ...{ id, digest: "0".repeat(64), capability: "exec", target: id, details: "", grant: "{}" },
      ...{ tool: "run", session: "cli:a", channel: "cli", actor: "cli:local" },
      ...{ created_at: 0, expires_at: 60 },
    });
  }) as Approver["operate"];
  const approvals = new ChatApprovals({
    connected: () => ({ approver: { operate, isOwnTurnsOnly: true } }),
    sessionKey: () => "cli:a",
    isOwn: () => true,
    isRunning: () => true,
    yes: false,
    print() {},
    note() {},
    report(error) {
      throw error;
    },
    update() {},
    width: () => 80,
    now: () => now,
  });
  for (const id of ["apr_1", "apr_2"]) await approvals.requested({ id } as ApprovalView, "t");
  const press = async () => {
    const dialog = approvals.dialogs[0]!;
    const key = { name: "1", text: "1", ctrl: false, meta: false, shift: false };
    const choice = dialog.key(key, true, now);
    if (choice !== undefined && choice !== "typed") await approvals.choose(dialog, choice);
  };
  now = MIN_READING_MS;
  await press();
  now += 100;
  await press();
  assertEquals(approved, ["apr_1"]);
  now += MIN_READING_MS;
  await press();
  assertEquals(approved, ["apr_1", "apr_2"]);
});
