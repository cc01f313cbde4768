/**
 * From a child's end to what the turn is told.
 *
 * @module
 */

import type { ErrorCode } from "../base/errors.ts";
import type { ActionResult } from "../contract/actions.ts";
import { cutOutput } from "../rpc/cut_output.ts";
import type { ChildOutcome } from "../executor/executor.ts";

/** A result that failed, its message the model's to read. */
export function failed(code: ErrorCode, message: string): ActionResult {
  return { status: "failed", output: message, error: { code, message } };
}

/** The result of an outcome, its output within the bound whatever the child sent. */
export function outcomeResult(
  outcome: ChildOutcome,
  tool: string,
  maxOutputBytes: number,
): ActionResult | { redirect: string } {
  switch (outcome.type) {
    case "result":
      return { status: "ok", output: cutOutput(outcome.output, maxOutputBytes) };
    case "failure":
      return failed("tool_failed", cutOutput(outcome.message, maxOutputBytes));
    case "redirect":
      return { redirect: outcome.url };
    case "timeout":
      return failed(
        "tool_failed",
        `${tool} was ended after ${outcome.timeoutMs / 1000} s without a result`,
      );
    case "fault":
      return failed("executor_fault", `${tool} did not finish: ${outcome.message}`);
    case "addresses":
    case "file":
    case "page":
      return failed("executor_fault", `${tool} did not finish: it answered ${outcome.type}`);
  }
}

/** The result, its output behind what the turn has to know of how it came about. */
export function withNotes(result: ActionResult, notes: readonly string[]): ActionResult {
  if (notes.length === 0) return result;
  const lines = notes.map((note) => `[${note}]\n`).join("");
  return { ...result, output: lines + result.output };
}
