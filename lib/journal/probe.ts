import type { DatabaseSync } from "node:sqlite";
import { query } from "./query.ts";

/** About as much as a short turn writes. */
const PROBE_CHARS = 16 * 1024;

/**
 * Writes a row of some pages and takes it back, inside a batch of the writer. SQLite writes no page
 * whose bytes stay the same; those of a row that is deleted with `secure_delete` it writes.
 */
export function createProbe(db: DatabaseSync): () => void {
  const hash = "-".repeat(PROBE_CHARS);
  const insert = query(db, "INSERT INTO deleted_keys (key_hash, generation) VALUES (?, 0)");
  const remove = query(db, "DELETE FROM deleted_keys WHERE key_hash = ?");
  return () => {
    insert.run(hash);
    remove.run(hash);
  };
}
