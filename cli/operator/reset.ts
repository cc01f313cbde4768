/**
 * `service tokens reset`, and the same for grants, blocks and secrets: a damaged file is set aside only
 * when an operator asks for it.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT, type ExitCode, type Invocation, type OptionSpec } from "../command.ts";
import { confirm } from "../confirm.ts";
import type { Subcommand } from "./ask_subcommand.ts";
import { changeState, type OperatorDeps, readState } from "./with_state.ts";

/** A file that may be damaged. */
type Resettable = "tokens" | "grants" | "latches" | "secrets";

/** The subcommand. */
export function resetSubcommand(name: Resettable, summary: string): Subcommand<OperatorDeps> {
  const yes: OptionSpec = { name: "yes", alias: "y", summary: "Reset without asking" };
  return {
    spec: { name: "reset", summary, options: [yes] },
    run: (invocation, deps) => reset(name, invocation, deps),
  };
}

/** Asks, unless there is `--yes`, and begins with an empty file. */
async function reset(
  name: Resettable,
  { options, globals, out }: Invocation,
  deps: OperatorDeps,
): Promise<ExitCode> {
  const what = name === "latches" ? "blocks" : name;
  const damaged = await readState(deps, (state) => state[name].damaged());
  if (damaged === undefined) {
    throw new ServiceError("invalid_request", `The ${what} are not damaged; nothing was changed`);
  }
  if (options["yes"] !== true) {
    out.note(damaged);
    if (!await confirm(`Set the file aside and start without any ${what}?`, deps.confirm(out))) {
      out.note("Nothing was changed");
      return EXIT.failed;
    }
  }
  const wasReset = await changeState(deps, out, (state) => state[name].reset());
  if (globals.json) out.json({ reset: wasReset, reason: damaged });
  else out.note(`Started without any ${what}; the damaged file is kept beside the new one`);
  return EXIT.done;
}
