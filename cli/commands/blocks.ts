/**
 * `service blocks`: capabilities that a denial blocks in a session until an operator clears them.
 *
 * @module
 */

import { BLOCKS } from "../../lib/operations/approvals.ts";
import type { Command } from "../command.ts";
import { askSubcommand, listSubcommand, runSubcommand } from "../operator/ask_subcommand.ts";
import { fullKey } from "../operator/full_key.ts";
import { asksHere, type HomeSubcommand } from "../operator/operate_here.ts";
import { resetSubcommand } from "../operator/reset.ts";
import { operatorDeps } from "../operator/with_state.ts";

const SUBCOMMANDS: HomeSubcommand[] = [
  listSubcommand("latches.list", BLOCKS["latches.list"], {
    rows: ({ latches }) => latches,
    columns: ["SESSION", "CAPABILITY", "SINCE", "REASON"],
    cells: ({ session, capability, since, reason }, time) => [
      session,
      capability,
      time(since),
      reason,
    ],
    none: "No blocked capabilities",
  }),
  askSubcommand("latches.clear", BLOCKS["latches.clear"], {
    asked: ({ session, capability }) => ({ session: fullKey(session), capability }),
    say: ({ session, capability }, out) =>
      out.note(`Cleared: ${session} can ask for ${capability} again`),
  }),
  resetSubcommand("latches", "Set a damaged file of blocks aside, and start empty"),
];

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
  subcommands: SUBCOMMANDS.map(({ spec }) => spec),
  run: (invocation) =>
    runSubcommand(SUBCOMMANDS, invocation, asksHere(operatorDeps(invocation.globals))),
};

export default blocks;
