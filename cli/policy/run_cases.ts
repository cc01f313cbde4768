/**
 * `service policy test`: runs the cases that pin the policy down.
 *
 * @module
 */

import { runPinnedCases } from "../../lib/settings/pinned_cases.ts";
import { policyTestFile } from "../../lib/config/paths.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT, type ExitCode } from "../command.ts";
import type { Output } from "../output.ts";
import { printTable } from "../table.ts";
import { type PolicyDeps, readPolicyConfig } from "./deps.ts";

/** Prints a row for each case. Returns the exit code for a failure if one did not come out as expected. */
export async function runCases(
  { file, json }: { file: string | undefined; json: boolean },
  out: Output,
  deps: PolicyDeps,
): Promise<ExitCode> {
  const config = await readPolicyConfig(deps);
  const run = await runPinnedCases({ config, paths: deps.paths, file });
  if (run === undefined) {
    throw new ServiceError(
      "not_found",
      `No test cases: ${file ?? policyTestFile(deps.paths)} doesn't exist`,
    );
  }
  const failed = run.results.filter(({ passed }) => !passed).length;
  if (json) out.json({ ok: failed === 0, file: run.file, cases: run.results });
  else {
    printTable(
      out,
      ["RESULT", "CASE", "EXPECTED", "GOT", "RULE", "REASON"],
      run.results.map(({ passed, name, expected, got, rule, reason }) => [
        passed ? "ok" : "FAILED",
        name,
        expected,
        got ?? "-",
        rule || "-",
        reason,
      ]),
    );
    out.line(`${run.file}: ${run.results.length - failed} passed, ${failed} failed`);
  }
  return failed === 0 ? EXIT.done : EXIT.failed;
}
