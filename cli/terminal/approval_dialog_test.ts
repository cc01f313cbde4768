import { assertEquals } from "@std/assert";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { ANSWERS, answersTo } from "../operator/approval_choices.ts";
import { ApprovalDialog, type Choice, MIN_READING_MS } from "./approval_dialog.ts";
import type { Key } from "./keys.ts";
import { paint } from "./look.ts";

const VIEW = { capability: "exec", target: "ls", grant: "{}" } as OperationResult<"approvals.get">;
const ALL = Object.keys(ANSWERS) as Choice[];
const NO = { ctrl: false, meta: false, shift: false };
const digit = (text: string): Key => ({ name: text, text, ...NO });
const named = (name: string): Key => ({ name, text: "", ...NO });
const READ = MIN_READING_MS;

Deno.test("ApprovalDialog answers by number once there was time to read it", () => {
  const choices = ["once", "session", "always", "deny", "reason"];
  for (const [at, choice] of choices.entries()) {
    assertEquals(
      new ApprovalDialog(VIEW, "t", ALL, 0).key(digit(`${at + 1}`), true, READ),
      choice,
    );
  }
  const early = new ApprovalDialog(VIEW, "t", ALL, 0);
  assertEquals(early.key(digit("1"), true, READ - 1), "typed");
  assertEquals(early.key(digit("1"), true, READ), "typed");
  assertEquals(early.key(digit("1"), true, 2 * READ), "once");
});

Deno.test("ApprovalDialog takes no paste for an answer, and no key that was pressed for the one before", () => {
  const pasted = { ...digit("1"), name: "paste" };
  assertEquals(new ApprovalDialog(VIEW, "t", ALL, 0).key(pasted, true, READ), "typed");
  const next = new ApprovalDialog(VIEW, "t", ALL, 0);
  next.shown(9 * READ);
  assertEquals(next.key(digit("1"), true, 9 * READ + 50), "typed");
  assertEquals(next.key(digit("1"), true, 11 * READ), "once");
});

Deno.test("ApprovalDialog takes no key from a line that is being typed", () => {
  assertEquals(new ApprovalDialog(VIEW, "t", ALL, 0).key(digit("1"), false, 9 * READ), "typed");
});

Deno.test("ApprovalDialog takes Enter only behind an arrow, and Esc leaves it waiting", () => {
  const dialog = new ApprovalDialog(VIEW, "t", ALL, 0);
  assertEquals(dialog.key(named("return"), true, READ), undefined);
  assertEquals(dialog.key(named("down"), true, READ), undefined);
  assertEquals(dialog.key(named("down"), true, READ), undefined);
  assertEquals(dialog.key(named("return"), true, READ), "session");
  assertEquals(dialog.key(named("escape"), true, READ), "later");
});

Deno.test("ApprovalDialog offers no grant for what nothing can grant, and asks for a token first", () => {
  const text = (dialog: ApprovalDialog) =>
    dialog.lines(80, true, 0).map((line) => paint(line, false)).join("\n");
  const once = new ApprovalDialog(VIEW, "t", answersTo({ grant: undefined }), 0);
  assertEquals(text(once).includes("Always"), false);
  assertEquals(once.key(digit("2"), true, READ), "deny");
  assertEquals(
    new ApprovalDialog(VIEW, "t", ["token", "later"], 0).key(digit("1"), true, READ),
    "token",
  );
});
