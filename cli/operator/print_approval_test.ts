import { assertEquals } from "@std/assert";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { approvalLines } from "./print_approval.ts";

const VIEW: OperationResult<"approvals.get"> = {
  id: "apr_1",
  digest: "0123456789abcdef".repeat(4),
  capability: "exec",
  tool: "exec",
  target: "/bin/sh -c x",
  details: "program: /bin/sh\nfolder: /w",
  session: "cli:a",
  channel: "cli",
  actor: "cli:local",
  created_at: 0,
  expires_at: 120,
};

function textOf(view: Partial<OperationResult<"approvals.get">>): string[] {
  return approvalLines({ ...VIEW, ...view }, 0)
    .map((line) => line.map((part) => typeof part === "string" ? part : part.text).join(""));
}

Deno.test("approvalLines() shows what it is about, the details and the digest", () => {
  assertEquals(textOf({}), [
    "exec of /bin/sh -c x",
    "  approval: apr_1, expires in 2 min",
    "  asked by: exec in cli:a (cli, cli:local)",
    "  program: /bin/sh",
    "  folder: /w",
    "  digest: 01234567 89abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
  ]);
});

Deno.test("approvalLines() keeps the facts before a long target, and says again what it is about", () => {
  const target = `HEAD${"x".repeat(5_000)}TAIL`;
  const lines = textOf({ target, details: "line\n".repeat(40) });
  assertEquals(lines[0]!.length < 400, true);
  assertEquals(lines.filter((line) => line === `  target: ${target}`).length, 1);
  assertEquals(lines.at(-2), lines[0]);
});
