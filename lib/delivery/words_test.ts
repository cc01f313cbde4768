import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { ApprovalView } from "../contract/actions.ts";
import { approvalWords, outcomeWords } from "./words.ts";

const APPROVAL: ApprovalView = {
  id: "apr_aaaabbbbccccdddd",
  digest: "0123456789abcdef".repeat(4),
  capability: "fs.write",
  tool: "write_file",
  target: "/tmp/a",
  details: "",
  isWhole: true,
  session: "irc:a",
  channel: "irc",
  actor: "irc:someone",
  createdAt: 1_000,
  expiresAt: 121_000,
};

Deno.test("approvalWords() says what waits, for how long, and how to answer", () => {
  assertEquals(
    approvalWords(APPROVAL, { text: "/tmp/a\ncontent: hello", isWhole: true }),
    "**Approval needed**: write_file (fs.write)\n\n```\n/tmp/a\ncontent: hello\n```\n\n" +
      "Allow it within 120 s: `/approve apr_aaaabbbbccccdddd 01234567`\n\n" +
      "Refuse it: `/deny apr_aaaabbbbccccdddd`",
  );
});

Deno.test("approvalWords() lets nothing out of its block, however it is written", () => {
  fc.assert(fc.property(fc.array(fc.constantFrom("`", "```", "\n", "a", "~~~")), (parts) => {
    const text = parts.join("");
    const words = approvalWords(APPROVAL, { text, isWhole: true });
    const [, fence] = /\n\n(`{3,})\n/.exec(words)!;
    assertEquals(words.split(`\n${fence}\n`).length, 3);
    assert(!text.includes(fence!));
  }));
});

Deno.test("approvalWords() says where to answer what it does not show whole, and how to refuse it here", () => {
  const words = approvalWords(APPROVAL, { text: "/tmp/a", isWhole: false });
  assert(!words.includes("/approve"), words);
  assertStringIncludes(words, "`service approvals show apr_aaaabbbbccccdddd`");
  assertStringIncludes(words, "`service approvals approve apr_aaaabbbbccccdddd`");
  assertStringIncludes(words, "Refuse it: `/deny apr_aaaabbbbccccdddd`");
});

Deno.test("outcomeWords() has nothing to say of an answer, and a sentence of everything else", () => {
  assertEquals(outcomeWords("done", undefined), undefined);
  assertEquals(outcomeWords("failed", "No answer."), "This could not be answered: No answer.");
  assertEquals(outcomeWords("failed", undefined), "This could not be answered.");
  assertEquals(outcomeWords("timed_out", " "), "This took too long and was ended.");
});
