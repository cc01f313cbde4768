/**
 * What the command line prints when something failed.
 *
 * @module
 */

import { ServiceError, toErrorData } from "../lib/base/errors.ts";
import type { ExitCode } from "./command.ts";
import { OUTCOMES } from "./outcome.ts";
import { jsonLine, type Output } from "./output.ts";

/**
 * Prints on standard error what went wrong and what to do next, for a usage error the command's
 * `help`. Returns the exit code.
 */
export function reportError(
  thrown: unknown,
  out: Output,
  { json, verbose, help }: { json: boolean; verbose: boolean; help?: string },
): ExitCode {
  const error = explained(thrown);
  const data = toErrorData(error);
  const outcome = OUTCOMES[data.code];
  const { exit } = outcome;
  const next = data.code === "usage" && help !== undefined ? `See: ${help}` : outcome.next;
  if (json) {
    const message = out.hinted(data.message);
    const hinted = { ...data, message, next: next && out.hinted(next) };
    out.note({ text: jsonLine({ error: hinted }), isData: true });
    return exit;
  }
  const expected = error instanceof ServiceError;
  out.note({ text: "error:", style: "red" }, ` ${data.message}`);
  if (next !== undefined) out.note(`  ${next}`);
  if (!expected && !verbose) out.note("  Unexpected error; run again with --verbose for details");
  if (verbose && error instanceof Error && error.stack !== undefined) {
    out.note({ text: error.stack, style: "dim" });
    if (error.cause !== undefined) out.note({ text: `caused by ${error.cause}`, style: "dim" });
  }
  return exit;
}

/** What Deno opens for nobody: its words name a flag that no one should add. */
function explained(error: unknown): unknown {
  if (!(error instanceof Deno.errors.NotCapable)) return error;
  const [, path] = /^Requires all access to (".*?")/.exec(error.message) ?? [];
  if (path === undefined) return error;
  return new ServiceError("usage", `Cannot use ${path}: it belongs to the kernel`, {}, {
    cause: error,
  });
}
