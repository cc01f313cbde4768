/**
 * Shows what was tried in the sandbox of commands, and what came of it.
 *
 * @module
 */

import type { SandboxReport } from "../../lib/executor/test_sandbox.ts";
import { EXIT, type ExitCode } from "../command.ts";
import type { Output } from "../output.ts";
import { printTable } from "../table.ts";

/** Prints the table; fails when the sandbox is not there or does not hold. */
export function printSandbox(out: Output, report: SandboxReport, json: boolean): ExitCode {
  const { ok, reason, trials } = report;
  if (json) {
    out.json({ ok, reason, trials });
    return ok ? EXIT.done : EXIT.failed;
  }
  if (trials.length > 0) {
    const rows = trials.map(({ name, tried, held, detail }) => [
      held ? "held" : "OPEN",
      name,
      tried,
      detail,
    ]);
    printTable(out, ["result", "trial", "tried", "what came of it"], rows);
  }
  if (!ok) out.note(`Commands do not run in it: ${reason}`);
  return ok ? EXIT.done : EXIT.failed;
}
