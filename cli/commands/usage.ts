/**
 * `service usage`: what models were used for, and what that cost.
 *
 * @module
 */

import type { LocalClient } from "../../lib/local/client.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { USAGE } from "../../lib/operations/usage.ts";
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { operateWith } from "../operator/operate_with.ts";
import { operationSubcommand, typedInput } from "../operator/operation_subcommand.ts";
import { processService } from "../process_service.ts";
import { printTable } from "../table.ts";

/** What the command reaches outside of itself. */
export interface UsageDeps {
  withService<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
}

const SHOW = USAGE["usage.show"];

type Sum = OperationResult<"usage.show">["total"];

/** Runs the command. */
export async function runUsage(invocation: Invocation, deps: UsageDeps): Promise<ExitCode> {
  const { globals, out } = invocation;
  const typed = typedInput(SHOW, invocation);
  const answer = await deps.withService(
    globals,
    (client) => operateWith(client)({ op: "usage.show", ...typed }),
  );
  if (globals.json) {
    out.json(answer);
    return EXIT.done;
  }
  const { by, from, to, rows, total, unpriced } = answer;
  if (rows.length === 0) {
    out.note(`No model was used from ${from} to ${to}`);
    return EXIT.done;
  }
  printTable(out, [by.toUpperCase(), "TURNS", "INPUT", "CACHED", "OUTPUT", "COST"], [
    ...rows.map((row) => cells(row.name, row)),
    cells("total", total),
  ]);
  if (unpriced.length > 0) {
    out.note(
      `Without a price: ${unpriced.join(", ")}. Set one, for a million tokens, with: ` +
        `service config set 'prices["${unpriced[0]}"]' '{"input": 1, "output": 2}'`,
    );
  }
  return EXIT.done;
}

function cells(name: string, sum: Sum): string[] {
  const counts = [sum.turns, sum.input_tokens, sum.cached_tokens, sum.output_tokens];
  const cost = sum.cost?.toLocaleString("en", {
    minimumFractionDigits: 2,
    maximumFractionDigits: 4,
  });
  return [name, ...counts.map((count) => count.toLocaleString("en")), cost ?? "-"];
}

const usage: Command = {
  description:
    "Shows how many turns models were used for, their tokens, and what they cost by the prices of the " +
    "configuration. Days are in UTC. Deleted conversations count too.",
  examples: [
    "service usage",
    "service usage --by model --from 2026-01-01",
  ],
  options: operationSubcommand(SHOW).options!,
  run: (invocation) => runUsage(invocation, { withService: processService }),
};

export default usage;
