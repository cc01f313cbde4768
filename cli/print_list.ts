/**
 * Prints what a command lists.
 *
 * @module
 */

import { EXIT, type ExitCode, type Invocation } from "./command.ts";
import { jsonLine } from "./output.ts";
import { printTable, type TableOptions } from "./table.ts";

/** How rows are shown to people. */
export interface ListLook<Row> extends TableOptions {
  columns: readonly string[];
  cells(row: Row): readonly string[];
  /** Said where there is no row. */
  none: string;
}

/** Prints a table, or with `--json` a line for each row. */
export async function printList<Row>(
  { globals, out }: Pick<Invocation, "globals" | "out">,
  rows: readonly Row[],
  { columns, cells, none, wraps }: ListLook<Row>,
): Promise<ExitCode> {
  if (globals.json) { for (const row of rows) await out.stream(jsonLine(row) + "\n"); }
  else if (rows.length === 0) out.note(none);
  else printTable(out, columns, rows.map(cells), { wraps });
  return EXIT.done;
}
