/**
 * What a command line says when something failed.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../lib/base/errors.ts";
import type { ExitCode } from "./command.ts";
import { OUTCOMES } from "./outcome.ts";
import { jsonLine, type Output } from "./output.ts";

/** Says on standard error what went wrong and what to do next, and returns the exit code. */
export function reportError(
  error: unknown,
  out: Output,
  { json, verbose }: { json: boolean; verbose: boolean },
): ExitCode {
  const data = toErrorData(error);
  const { exit, next } = OUTCOMES[data.code];
  if (json) {
    out.note(jsonLine({ error: { ...data, next } }));
    return exit;
  }
  const expected = error instanceof ServiceError;
  out.note({ text: "error:", style: "red" }, ` ${data.message}`);
  if (next !== undefined) out.note(`  ${next}`);
  if (!expected && !verbose) out.note("  This was not expected; --verbose shows where it happened");
  if (verbose && error instanceof Error && error.stack !== undefined) {
    out.note({ text: error.stack, style: "dim" });
    if (error.cause !== undefined) out.note({ text: `caused by ${error.cause}`, style: "dim" });
  }
  return exit;
}
