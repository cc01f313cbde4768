import type { IntakeCursors, IntakeStore, NewIntakeRow } from "../../contract/intake_store.ts";

/** Rows, and characters of their data, of one step: they fit a message to the service, whatever stands in them. */
const MAX_ROWS = 1_000;
const MAX_CHARS = 2 * 1024 * 1024;

/**
 * Stores rows and cursors, in one step where they fit one. Else the cursors come with the last, so that
 * what is cut off is read again.
 */
export async function storeInSteps(
  store: Pick<IntakeStore, "add">,
  rows: Iterable<NewIntakeRow>,
  cursors: IntakeCursors,
): Promise<void> {
  let step: NewIntakeRow[] = [];
  let chars = 0;
  for (const row of rows) {
    chars += row.data.length;
    if (step.length > 0 && (step.length === MAX_ROWS || chars > MAX_CHARS)) {
      await store.add(step, {});
      step = [];
      chars = row.data.length;
    }
    step.push(row);
  }
  await store.add(step, cursors);
}
