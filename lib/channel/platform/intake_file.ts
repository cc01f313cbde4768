/**
 * The file in which channels of earlier versions kept what they had heard, in their own folder.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { IntakeStore, NewIntakeRow } from "../../contract/intake_store.ts";
import { storeInSteps } from "./store_in_steps.ts";

const ENDS = ["", "-wal", "-shm", ".v0"];

/**
 * Stores what is in it, and removes it. If the process ends before that, what still waits is known by its
 * id. Rejects with what is wrong with the file, or as the store does.
 */
export async function bringFileAlong(stateDir: string, store: IntakeStore): Promise<void> {
  const path = `${stateDir}/intake.sqlite`;
  if (!existsSync(path)) return;
  try {
    using database = new DatabaseSync(path);
    const rows = database.prepare("SELECT lane, id, data FROM entries ORDER BY seq").iterate();
    const cursors = database.prepare("SELECT name, value FROM cursors").all();
    await storeInSteps(
      store,
      rows.map((row) => ({ ...row }) as unknown as NewIntakeRow),
      Object.fromEntries(cursors.map(({ name, value }) => [name, value as string])),
    );
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code !== "ERR_SQLITE_ERROR") throw error;
    throw new Error(
      `Cannot use ${path}: ${message}. Move it away, with the files beside it whose names begin with its ` +
        "own, and switch the channel off and on; what waited in it is lost",
      { cause: error },
    );
  }
  for (const end of ENDS) await Deno.remove(path + end).catch(() => {});
}
