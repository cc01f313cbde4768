/**
 * `service grants`: what is allowed in advance.
 *
 * @module
 */

import type { Capability } from "../../lib/contract/actions.ts";
import type { Grant } from "../../lib/policy/grants.ts";
import { visibleLine } from "../../lib/base/visible_text.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import { reset } from "../operator/reset.ts";
import { changeState, type OperatorDeps, operatorDeps, readState } from "../operator/with_state.ts";
import { jsonLine, type Output } from "../output.ts";
import { printTable } from "../table.ts";

/** Runs the command. */
export async function runGrants(invocation: Invocation, deps: OperatorDeps): Promise<ExitCode> {
  const { subcommand = "list", args, options, globals, out } = invocation;
  refuseOthers(subcommand, options);
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
    out.note(`${grant.subject} may ${grant.capability} exactly that, also when nobody is there`);
  }
  return EXIT.done;
}

async function list(json: boolean, out: Output, deps: OperatorDeps): Promise<ExitCode> {
  const grants = await readState(deps, (state) => state.grants.list());
  if (json) {
    for (const grant of grants) await out.stream(jsonLine(grant) + "\n");
  } else if (grants.length === 0) {
    out.note("There are no standing grants; a refusal says how to make the one that it would take");
  } else {
    printTable(
      out,
      ["GRANT", "SUBJECT", "CAPABILITY", "CREATED", "NOTE", "TARGET"],
      grants.map(grantRow),
    );
  }
  return EXIT.done;
}

function grantRow({ id, subject, capability, createdAt, note, target }: Grant): string[] {
  return [id, subject, capability, time(createdAt), visibleLine(note), visibleLine(target)];
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

/** An option of another subcommand was meant to do something. */
function refuseOthers(subcommand: string, options: Invocation["options"]): void {
  const own = subcommand === "add" ? "note" : subcommand === "reset" ? "yes" : undefined;
  const other = Object.keys(options).find((name) => options[name] !== undefined && name !== own);
  if (other === undefined) return;
  throw new ServiceError("usage", `service grants ${subcommand} takes no --${other}`, {
    param: other,
  });
}

/** ISO 8601 to the second, UTC. */
function time(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

const grants: Command = {
  description:
    "Allows single actions in advance, also when nobody is there to ask. SUBJECT is a session's key " +
    "or automation:<id>, CAPABILITY such as fs.read, exec or net.fetch, and TARGET exactly what is " +
    "touched: a real path, a whole URL, <channel>:<chat_id>, a command with its hosts, a tool of an MCP " +
    "server with its definition, or a secret with who is given it. A refusal prints the whole command " +
    "line. A grant allows nothing near its target, and nothing that the policy denies.",
  examples: [
    "service grants add automation:news net.fetch https://example.com/feed.xml --note 'the feed'",
    "service grants add api:reports fs.read /srv/reports/today.csv",
    "service grants list",
    "service grants rm gr_abcdefghjkmnpqrs",
  ],
  subcommands: [
    { name: "list", summary: "Show what is granted (also without a subcommand)" },
    { name: "add", args: "SUBJECT CAPABILITY TARGET", summary: "Grant one action" },
    { name: "rm", args: "ID", summary: "Take a grant back" },
    { name: "reset", summary: "Set a damaged file of grants aside; nothing is granted then" },
  ],
  options: [
    { name: "note", value: "TEXT", summary: "add: why, for the list and the audit" },
    { name: "yes", alias: "y", summary: "reset: do not ask" },
  ],
  run: (invocation) => runGrants(invocation, operatorDeps(invocation.globals)),
};

export default grants;
