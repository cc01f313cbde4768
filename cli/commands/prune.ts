/**
 * `service prune`: removes data that is over the limits of `retention`.
 *
 * @module
 */

import type { LocalClient } from "../../lib/local/client.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { confirm, type ConfirmDeps, processConfirm } from "../confirm.ts";
import { formatSize } from "../format_size.ts";
import { operateWith } from "../operator/operate_with.ts";
import type { Output } from "../output.ts";
import { processService } from "../process_service.ts";
import { printTable } from "../table.ts";

/** What the command reaches outside of itself. */
export interface PruneDeps {
  confirm(out: Output): ConfirmDeps;
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
}

type Pruned = OperationResult<"retention.prune">;

/** Names of a kind that are shown without --verbose. */
const SHOWN_NAMES = 10;

/** Runs the command. */
export async function runPrune(
  { options, globals, out }: Invocation,
  deps: PruneDeps,
): Promise<ExitCode> {
  const prune = (dryRun: boolean) =>
    deps.withService(
      globals,
      (client) => operateWith(client)({ op: "retention.prune", dry_run: dryRun }),
    );
  const isDryRun = options["dry-run"] === true;
  if (!isDryRun && options["yes"] !== true) {
    // Asked while the service is not open, so that nobody waits for the answer but this command.
    const planned = await prune(true);
    if (countOf(planned) === 0) return report(planned, globals, out);
    if (!globals.json) printPruned(planned, globals, out);
    if (!await confirm("Remove all of this for good?", deps.confirm(out))) {
      out.note("Nothing was removed");
      return EXIT.failed;
    }
  }
  return report(await prune(isDryRun), globals, out);
}

function report(pruned: Pruned, globals: Globals, out: Output): ExitCode {
  if (globals.json) out.json(pruned);
  else printPruned(pruned, globals, out);
  return pruned.removed.some(({ error }) => error !== undefined) ? EXIT.failed : EXIT.done;
}

function printPruned({ dry_run, removed }: Pruned, { verbose }: Globals, out: Output): void {
  if (removed.length === 0) {
    out.note(
      "No limits are set, so nothing is removed. Set one, for example with: " +
        "service config set retention.sessions.maxAgeDays 365",
    );
    return;
  }
  const verb = dry_run ? "Would remove" : "Removed";
  printTable(
    out,
    [verb.toUpperCase(), "COUNT", "SIZE"],
    removed.map(({ kind, count, bytes }) => [kind, `${count}`, formatSize(bytes)]),
  );
  for (const { kind, count, names, error } of removed) {
    const shown = names.slice(0, verbose ? names.length : SHOWN_NAMES);
    for (const name of dry_run ? shown : []) out.line(`  ${name}`);
    if (dry_run && count > shown.length) out.line(`  … and ${count - shown.length} more ${kind}`);
    if (error !== undefined) out.note({ text: `${kind}: ${error}`, style: "red" });
  }
}

function countOf({ removed }: Pruned): number {
  return removed.reduce((sum, { count }) => sum + count, 0);
}

const prune: Command = {
  description:
    "Removes data that is over the limits of retention in the configuration, the oldest first: " +
    "sessions, media, audit, logs and backups. What something still needs stays. Shows what would " +
    "go and asks, unless --yes is given. Set limits with, for example, " +
    "service config set retention.sessions.maxAgeDays 365, and to have the service do this every day, " +
    "service config set retention.dailyAt 03:30.",
  examples: [
    "service prune --dry-run",
    "service prune --yes",
  ],
  options: [
    { name: "dry-run", summary: "Only show what would be removed, and how much room that frees" },
    { name: "yes", alias: "y", summary: "Remove without asking" },
  ],
  run: (invocation) =>
    runPrune(invocation, {
      confirm: processConfirm,
      withService: processService,
    }),
};

export default prune;
