import { assertEquals } from "@std/assert";
import type { ApprovalView } from "../../lib/contract/actions.ts";
import type { Approver } from "../agent/approver.ts";
import { MIN_READING_MS } from "./approval_dialog.ts";
import { ChatApprovals } from "./chat_approvals.ts";
import { paint } from "./look.ts";

/** The approvals of a chat in which actions wait. */
async function makeApprovals(...ids: string[]) {
  const clock = { now: 0 };
  const approved: string[] = [];
  const notes: string[] = [];
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
    note: (text) => notes.push(text),
    report(error) {
      throw error;
    },
    update() {},
    width: () => 80,
    now: () => clock.now,
  });
  for (const id of ids) await approvals.requested({ id } as ApprovalView, "t");
  return { approvals, approved, notes, clock };
}

Deno.test("ChatApprovals takes a key that is pressed twice as the answer to one question", async () => {
  const { approvals, approved, clock } = await makeApprovals("apr_1", "apr_2");
  const press = async () => {
    const dialog = approvals.dialog!;
    const key = { name: "1", text: "1", ctrl: false, meta: false, shift: false };
    const choice = dialog.key(key, true, clock.now);
    if (choice !== undefined && choice !== "typed") await approvals.choose(dialog, choice);
  };
  clock.now = MIN_READING_MS;
  await press();
  clock.now += 100;
  await press();
  assertEquals(approved, ["apr_1"]);
  clock.now += MIN_READING_MS;
  await press();
  assertEquals(approved, ["apr_1", "apr_2"]);
});

Deno.test("ChatApprovals asks no more about what is put off, and a command still answers it", async () => {
  const { approvals, approved, notes } = await makeApprovals("apr_1", "apr_2");
  await approvals.choose(approvals.dialog!, "later");
  assertEquals(approvals.dialog?.view.id, "apr_2");
  await approvals.choose(approvals.dialog!, "later");
  assertEquals(approvals.dialog, undefined);
  assertEquals(approvals.answerTyped("/approve", ""), true);
  assertEquals(approvals.answerTyped("/approve", "apr_2"), true);
  assertEquals(approvals.answerTyped("/approve", "apr_2 00000000"), false, "checked elsewhere");
  assertEquals(approvals.answerTyped("/deny", "apr_3"), false, "of elsewhere");
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(approved, ["apr_1", "apr_2"]);
  approvals.answerTyped("/approve", "");
  assertEquals(notes.at(-1), "Nothing waits for your approval here");
});

Deno.test("ChatApprovals offers no grant where it can't make one", async () => {
  const { approvals } = await makeApprovals("apr_1");
  const lines = approvals.dialog!.lines(80, true, 0).map((line) => paint(line, false));
  assertEquals(lines.filter((line) => /^ {2}\d/.test(line)), [
    "  1. Allow once",
    "  2. Allow for this session (exactly this)",
    "  3. Deny",
    "  4. Deny with a reason",
  ]);
});
