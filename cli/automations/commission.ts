/**
 * `service automations commission`, `finding` and `grant`: an automation is rehearsed, what that has shown
 * is looked at, and exactly what it would need is granted. Each takes the token of an operator.
 *
 * @module
 */

import type { OperationResult } from "../../lib/operations/operations.ts";
import { visibleLine } from "../../lib/base/visible_text.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import { EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import type { ConfirmDeps } from "../confirm.ts";
import { approverToken, type TokenSource } from "../operator/approver_token.ts";
import { operateWith } from "../operator/operate_with.ts";
import { saidDigest } from "../operator/said_digest.ts";
import type { Output } from "../output.ts";
import { automationId } from "./find_automation.ts";

type Report = OperationResult<"automations.commission">;
type Finding = Report["finding"];

/** What the subcommands reach outside of themselves. */
export interface CommissionDeps {
  token(out: Output): TokenSource;
  terminal(out: Output): Pick<ConfirmDeps, "isTerminal" | "readLine">;
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
}

/** Names of the subcommands. */
export const COMMISSION_COMMANDS: readonly string[] = ["commission", "finding", "grant"];

/** Runs one of {@linkcode COMMISSION_COMMANDS}. */
export async function runCommission(
  invocation: Invocation,
  deps: CommissionDeps,
): Promise<ExitCode> {
  const { subcommand, args, globals, out } = invocation;
  const token = await approverToken(deps.token(out), "operate");
  return await deps.withService(globals, async (client) => {
    const ask = operateWith(client, token);
    const id = await automationId(ask, args[0]!);
    if (subcommand === "commission") {
      if (!globals.json) out.note("Dry run: actions are only recorded …");
      const report = await ask({ op: "automations.commission", id });
      if (globals.json) out.json(report);
      else printReport(out, report);
      return report.finding.outcome === "done" ? EXIT.done : EXIT.failed;
    }
    const { finding, current } = await ask({ op: "automations.finding", id });
    if (subcommand === "finding") {
      if (globals.json) out.json({ finding, current });
      else {
        printFinding((...spans) => out.line(...spans), finding);
        if (!current) out.note(CHANGED);
      }
      return EXIT.done;
    }
    if (!current) throw new ServiceError("conflict", CHANGED);
    const digest = await saidDigest(invocation, {
      digest: finding.digest,
      what: "the report",
      verb: "grant",
      show: () => printFinding((...spans) => out.note(...spans), finding),
      other: new ServiceError("conflict", "That isn't the digest of the latest report", {
        param: "digest",
      }),
    }, deps.terminal(out));
    if (digest === undefined) {
      out.note("Nothing was granted");
      return EXIT.failed;
    }
    const granted = await ask({ op: "automations.grant", id, digest });
    if (globals.json) out.json(granted);
    else {
      for (const grant of granted.grants) {
        out.line(`${grant.id}  ${grant.capability}  ${visibleLine(grant.target)}`);
      }
      out.note(
        `Granted to ${id} as it is now; changing it ends the grants. List them with: service grants list`,
      );
    }
    return EXIT.done;
  });
}

const CHANGED = "The automation has changed since the dry run; run it again";

function printReport(out: Output, report: Report): void {
  const { finding, text, error, usage } = report;
  if (text !== "") out.line({ text, isData: true });
  if (error !== undefined) out.note(`The dry run failed: ${visibleLine(error)}`);
  printFinding((...spans) => out.note(...spans), finding);
  out.note(`Tokens: ${usage.input_tokens} in, ${usage.output_tokens} out`);
  if (finding.outcome === "done" && finding.grants.length > 0) {
    out.note(`Grant this with: service automations grant ${finding.automation_id}`);
  }
}

const WORDS = { allow: "allowed", grant: "needs a grant", deny: "never" } as const;
const STYLES = { allow: "green", grant: "yellow", deny: "red" } as const;

/** What a dry run has shown. Everything in it was chosen by a model, so nothing of it stays hidden. */
function printFinding(line: Output["line"], finding: Finding): void {
  const { id, outcome, by, finished_at: finishedAt, actions, left, grants, digest } = finding;
  line(`${id}, ${outcome}, by ${visibleLine(by)}, ${new Date(finishedAt * 1_000).toISOString()}`);
  for (const { effect, capability, target, reason, count } of actions) {
    const times = count === 1 ? "" : ` (${count} times)`;
    line(
      { text: WORDS[effect], style: STYLES[effect] },
      {
        text: `  ${capability} of ${visibleLine(target)}${times}: ${visibleLine(reason)}`,
        isData: true,
      },
    );
  }
  if (actions.length === 0) line("It attempted no actions");
  if (left > 0) line(`${left} more that were not kept: the grants are incomplete`);
  line(`grants: ${grants.length}`);
  line(`digest: ${digest.slice(0, 8)} ${digest.slice(8)}`);
}
