/**
 * `service blocks`: capabilities that a denial blocks in a session until an operator clears them.
 *
 * @module
 */

import { BLOCKS } from "../../lib/operations/approvals.ts";
import { fullKey } from "../agent/session_name.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import { reset, YES } from "../operator/reset.ts";
import { operateHere } from "../operator/operate_here.ts";
import {
  type Differences,
  operationSubcommand,
  typedInput,
} from "../operator/operation_subcommand.ts";
import { type OperatorDeps, operatorDeps } from "../operator/with_state.ts";
import { jsonLine, type Output } from "../output.ts";
import { printTable } from "../table.ts";
import { timeText } from "../time_text.ts";

const TYPED: Differences = { meaning: { session: fullKey } };

/** Runs the command. */
async function runBlocks(invocation: Invocation, deps: OperatorDeps): Promise<ExitCode> {
  const { subcommand = "list", globals, out } = invocation;
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
  const { latches } = await operateHere({ op: "latches.list" }, deps, out);
  if (json) {
    for (const latch of latches) await out.stream(jsonLine(latch) + "\n");
  } else if (latches.length === 0) {
    out.note("No blocked capabilities");
  } else {
    printTable(
      out,
      ["SESSION", "CAPABILITY", "SINCE", "REASON"],
      latches.map(({ session, capability, since, reason }) => [
        session,
        capability,
        timeText(out, since * 1_000, deps.now()),
        reason,
      ]),
    );
  }
  return EXIT.done;
}

async function clear(invocation: Invocation, deps: OperatorDeps): Promise<ExitCode> {
  const { globals, out } = invocation;
  const typed = typedInput(BLOCKS["latches.clear"], invocation, TYPED);
  const cleared = await operateHere({ op: "latches.clear", ...typed }, deps, out);
  if (globals.json) out.json(cleared);
  else out.note(`Cleared: ${cleared.session} can ask for ${cleared.capability} again`);
  return EXIT.done;
}

const blocks: Command = {
  description:
    "When you deny an action, its capability is blocked in that session: further requests are " +
    "refused, even after a restart, until you clear the block here. Actions that the policy or a " +
    "grant allows still run.",
  examples: [
    "service blocks list",
    "service blocks clear api:reports net.fetch",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: [
    ...Object.values(BLOCKS).map((operation) => operationSubcommand(operation)),
    {
      name: "reset",
      summary: "Set a damaged file of blocks aside, and start empty",
      options: [YES],
    },
  ],
  run: (invocation) => runBlocks(invocation, operatorDeps(invocation.globals)),
};

export default blocks;
