/**
 * `service grants`: what is allowed in advance.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import { GRANTS } from "../../lib/operations/grants.ts";
import type { Command, ExitCode, Invocation } from "../command.ts";
import { askSubcommand, listSubcommand, runSubcommand } from "../operator/ask_subcommand.ts";
import { fullKey } from "../operator/full_key.ts";
import { asksHere, type HomeSubcommand } from "../operator/operate_here.ts";
import { resetSubcommand } from "../operator/reset.ts";
import { type OperatorDeps, operatorDeps } from "../operator/with_state.ts";

const SUBCOMMANDS: HomeSubcommand[] = [
  listSubcommand("grants.list", GRANTS["grants.list"], {
    rows: ({ grants }) => grants,
    columns: ["GRANT", "SUBJECT", "CAPABILITY", "CREATED", "NOTE", "TARGET"],
    cells: ({ id, subject, capability, created_at, note, target }, time) => [
      id,
      subject,
      capability,
      time(created_at),
      visibleLine(note),
      visibleLine(target),
    ],
    none: "No grants. A refusal prints the command that grants the action",
  }),
  askSubcommand("grants.add", GRANTS["grants.add"], {
    asked: (grant) => ({ ...grant, subject: fullKey(grant.subject) }),
    say({ id, subject, capability }, out) {
      out.line(id);
      out.note(`Granted: ${subject} may ${capability} this target, even unattended`);
    },
  }),
  askSubcommand("grants.remove", GRANTS["grants.remove"], {
    say: ({ id, capability, subject }, out) =>
      out.note(`Removed ${id} (${capability} of ${subject})`),
  }),
  resetSubcommand("grants", "Set a damaged file of grants aside, and start empty"),
];

/** Runs the command. */
export function runGrants(invocation: Invocation, deps: OperatorDeps): Promise<ExitCode> {
  return runSubcommand(SUBCOMMANDS, invocation, asksHere(deps));
}

const grants: Command = {
  description:
    "Allows single actions in advance, even in unattended turns. SUBJECT is a session key or " +
    "automation:<id>. CAPABILITY is one such as fs.read, exec or net.fetch. TARGET is exactly what " +
    "the action touches: a real path, a whole URL, <channel>:<chat_id>, a command with its hosts, an " +
    "MCP tool with its definition, or a secret with its receiver. A refusal prints the complete " +
    "command line. A grant covers that target alone, and never overrides a denial by the policy.",
  examples: [
    "service grants add automation:news net.fetch https://example.com/feed.xml --note 'the feed'",
    "service grants add api:reports fs.read /srv/reports/today.csv",
    "service grants list",
    "service grants rm gr_abcdefghjkmnpqrs",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: SUBCOMMANDS.map(({ spec }) => spec),
  run: (invocation) => runGrants(invocation, operatorDeps(invocation.globals)),
};

export default grants;
