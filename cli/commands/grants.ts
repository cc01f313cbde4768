/**
 * `service grants`: what is allowed in advance.
 *
 * @module
 */

import type { Capability } from "../../lib/contract/actions.ts";
import type { Grant } from "../../lib/policy/grants.ts";
import { visibleLine } from "../../lib/base/visible_text.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import { reset, YES } from "../operator/reset.ts";
import { changeState, type OperatorDeps, operatorDeps, readState } from "../operator/with_state.ts";
import { jsonLine, type Output } from "../output.ts";
import { printTable } from "../table.ts";
import { timeText } from "../time_text.ts";

/** Runs the command. */
export async function runGrants(invocation: Invocation, deps: OperatorDeps): Promise<ExitCode> {
  const { subcommand = "list", args, globals, out } = invocation;
  switch (subcommand) {
    case "add":
      return await add(invocation, deps);
    case "rm":
      return await remove(args[0]!, globals.json, out, deps);
    case "reset":
      return await reset("grants", invocation, deps);
    default:
      return await list(globals.json, out, deps);
  }
}

async function add(
  { args, options, globals, out }: Invocation,
  deps: OperatorDeps,
): Promise<ExitCode> {
  const [typed, capability, target] = args as [string, string, string];
  const grant = await changeState(deps, out, (state) =>
    state.grants.add({
      // A name alone is a session of the command line, as in `service sessions`.
      subject: typed.includes(":") ? typed : `cli:${typed}`,
      // Checked there, with everything else.
      capability: capability as Capability,
      target,
      note: options["note"] as string | undefined ?? "",
    }));
  if (globals.json) out.json(grant);
  else {
    out.line(grant.id);
    out.note(`Granted: ${grant.subject} may ${grant.capability} this target, even unattended`);
  }
  return EXIT.done;
}

async function list(json: boolean, out: Output, deps: OperatorDeps): Promise<ExitCode> {
  const grants = await readState(deps, (state) => state.grants.list());
  if (json) {
    for (const grant of grants) await out.stream(jsonLine(grant) + "\n");
  } else if (grants.length === 0) {
    out.note("No grants. A refusal prints the command that grants the action");
  } else {
    printTable(
      out,
      ["GRANT", "SUBJECT", "CAPABILITY", "CREATED", "NOTE", "TARGET"],
      grants.map((grant) => grantRow(grant, out, deps.now())),
    );
  }
  return EXIT.done;
}

function grantRow(
  { id, subject, capability, createdAt, note, target }: Grant,
  out: Output,
  now: number,
): string[] {
  const created = timeText(out, createdAt, now);
  return [id, subject, capability, created, visibleLine(note), visibleLine(target)];
}

async function remove(
  id: string,
  json: boolean,
  out: Output,
  deps: OperatorDeps,
): Promise<ExitCode> {
  const { subject, capability } = await changeState(deps, out, (state) => state.grants.remove(id));
  if (json) out.json({ id, removed: true });
  else out.note(`Removed ${id} (${capability} of ${subject})`);
  return EXIT.done;
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
  subcommands: [
    { name: "list", summary: "List grants" },
    {
      name: "add",
      args: "SUBJECT CAPABILITY TARGET",
      summary: "Grant one action",
      options: [{ name: "note", value: "TEXT", summary: "Reason, for the list and the audit log" }],
    },
    { name: "rm", args: "ID", summary: "Revoke a grant" },
    {
      name: "reset",
      summary: "Set a damaged file of grants aside, and start empty",
      options: [YES],
    },
  ],
  run: (invocation) => runGrants(invocation, operatorDeps(invocation.globals)),
};

export default grants;
