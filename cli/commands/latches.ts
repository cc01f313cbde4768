/**
 * `service latches`: what a person has denied in a session, and an operator may clear.
 *
 * @module
 */

import { CAPABILITIES, type Capability } from "../../lib/contract/actions.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import { reset } from "../operator/reset.ts";
import { changeState, type OperatorDeps, operatorDeps, readState } from "../operator/with_state.ts";
import { jsonLine, type Output } from "../output.ts";
import { printTable } from "../table.ts";

/** Runs the command. */
async function runLatches(invocation: Invocation, deps: OperatorDeps): Promise<ExitCode> {
  const { subcommand = "list", options, globals, out } = invocation;
  if (options["yes"] !== undefined && subcommand !== "reset") {
    throw new ServiceError("usage", `service latches ${subcommand} takes no --yes`, {
      param: "yes",
    });
  }
  switch (subcommand) {
    case "clear":
      return await clear(invocation, deps);
    case "reset":
      return await reset("latches", invocation, deps);
    default:
      return await list(globals.json, out, deps);
  }
}

async function list(json: boolean, out: Output, deps: OperatorDeps): Promise<ExitCode> {
  const latches = await readState(deps, (state) => state.latches.list());
  if (json) {
    for (const latch of latches) await out.stream(jsonLine(latch) + "\n");
  } else if (latches.length === 0) {
    out.note("Nobody has denied anything");
  } else {
    printTable(
      out,
      ["SESSION", "CAPABILITY", "SINCE", "REASON"],
      latches.map(({ sessionKey, capability, since, reason }) => [
        sessionKey,
        capability,
        new Date(since).toISOString().replace(/\.\d+Z$/, "Z"),
        reason,
      ]),
    );
  }
  return EXIT.done;
}

async function clear(
  { args, globals, out }: Invocation,
  deps: OperatorDeps,
): Promise<ExitCode> {
  const [typed, capability] = args as [string, string];
  if (!(CAPABILITIES as readonly string[]).includes(capability)) {
    throw new ServiceError(
      "usage",
      `CAPABILITY is ${JSON.stringify(capability)}; expected one of ${CAPABILITIES.join(", ")}`,
      { param: "CAPABILITY" },
    );
  }
  // A name alone is a session of the command line, as in `service sessions`.
  const sessionKey = typed.includes(":") ? typed : `cli:${typed}`;
  const cleared = await changeState(
    deps,
    out,
    (state) => state.latches.clear(sessionKey, capability as Capability),
  );
  if (!cleared) {
    throw new ServiceError(
      "not_found",
      `Nobody has denied ${capability} in the session "${sessionKey}"`,
    );
  }
  if (globals.json) out.json({ sessionKey, capability, cleared });
  else out.note(`${capability} is asked about again in ${sessionKey}`);
  return EXIT.done;
}

const latches: Command = {
  description:
    "When a person denies an action, nothing more of its capability is asked about in that session: " +
    "it is refused, also after a restart, until it is cleared here. What the policy or a grant allows " +
    "goes on.",
  examples: [
    "service latches list",
    "service latches clear api:reports net.fetch",
  ],
  subcommands: [
    { name: "list", summary: "Show what is denied (also without a subcommand)" },
    { name: "clear", args: "SESSION CAPABILITY", summary: "Let it be asked about again" },
    { name: "reset", summary: "Set a damaged file of latches aside; nothing is denied then" },
  ],
  options: [
    { name: "yes", alias: "y", summary: "reset: do not ask" },
  ],
  run: (invocation) => runLatches(invocation, operatorDeps(invocation.globals)),
};

export default latches;
