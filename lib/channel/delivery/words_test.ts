import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { ApprovalView } from "../../authority/actions.ts";
import { approvalWords, outcomeWords } from "./words.ts";

const APPROVAL: ApprovalView = {
  id: "apr_aaaabbbbccccdddd",
  digest: "0123456789abcdef".repeat(4),
  capability: "fs.write",
  tool: "write_file",
  target: "/tmp/a",
  details: "",
  session: "irc:a",
  channel: "irc",
  actor: "irc:someone",
  createdAt: 1_000,
  expiresAt: 121_000,
};

Deno.test("approvalWords() says what waits, for how long, and how to answer", () => {
  assertEquals(
    approvalWords({ ...APPROVAL, details: "hello" }),
    "**Approval needed**: write_file (fs.write)\n\n```\n/tmp/a\n\nhello\n```\n\n" +
      "Allow it within 120 s: `/approve apr_aaaabbbbccccdddd 01234567`\n\n" +
      "Refuse it: `/deny apr_aaaabbbbccccdddd`",
  );
});

Deno.test("approvalWords() lets nothing out of its block, however it is written", () => {
  fc.assert(fc.property(fc.array(fc.constantFrom("`", "```", "\n", "a", "~~~")), (parts) => {
    const target = parts.join("");
    const words = approvalWords({ ...APPROVAL, target });
    const [, fence] = /\n\n(`{3,})\n/.exec(words)!;
    assertEquals(words.split(`\n${fence}\n`).length, 3);
    assert(!target.includes(fence!));
  }));
});

Deno.test("approvalWords() is short, whatever is to be written, and says so", () => {
  const words = approvalWords({ ...APPROVAL, details: "\ud83d\ude00".repeat(100_000) });
  assertLess(words.length, 2_400);
  assert(words.isWellFormed());
  assertStringIncludes(words, "(cut; all of it: service approvals)");
});

Deno.test("outcomeWords() has nothing to say of an answer, and a sentence of everything else", () => {
  assertEquals(outcomeWords("done", undefined), undefined);
  assertEquals(outcomeWords("failed", "No answer."), "This could not be answered: No answer.");
  assertEquals(outcomeWords("failed", undefined), "This could not be answered.");
  assertEquals(outcomeWords("timed_out", " "), "This took too long and was ended.");
});
