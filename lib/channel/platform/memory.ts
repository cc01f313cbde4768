/**
 * Small things that a channel remembers over restarts, such as which message shows which approval: of each
 * kind so many, the newest.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import type { Migration } from "../../base/migrate.ts";
import { inTransaction, openStateDatabase } from "./open_state_database.ts";

/** Things of one kind that are kept. */
const MAX_OF_A_KIND = 1_000;

/** The first files had no version. */
const MIGRATIONS: readonly Migration[] = [{
  version: 1,
  name: "initial",
  sql: `
    CREATE TABLE IF NOT EXISTS things (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
      UNIQUE (kind, name)
    ) STRICT;
  `,
}];

export class Memory {
  readonly #database: DatabaseSync;
  readonly #maxOfAKind: number;

  /** Opens the one of a channel's folder. Throws what SQLite says. */
  constructor(stateDir: string, maxOfAKind = MAX_OF_A_KIND) {
    this.#database = openStateDatabase(stateDir, "memory", MIGRATIONS);
    this.#maxOfAKind = maxOfAKind;
  }

  /** What was kept under the name. */
  get<T>(kind: string, name: string): T | undefined {
    const row = this.#database.prepare("SELECT value FROM things WHERE kind = ? AND name = ?")
      .get(kind, name);
    return row === undefined ? undefined : JSON.parse(row.value as string) as T;
  }

  /** Names and values of a kind, the oldest first. */
  entries<T>(kind: string): [name: string, value: T][] {
    return this.#database.prepare("SELECT name, value FROM things WHERE kind = ? ORDER BY seq")
      .all(kind)
      .map(({ name, value }) => [name as string, JSON.parse(value as string) as T]);
  }

  /** Keeps plain JSON, on the disk when it returns; the oldest of its kind makes room. */
  set(kind: string, name: string, value: unknown): void {
    const database = this.#database;
    inTransaction(database, () => {
      database.prepare("INSERT OR REPLACE INTO things (kind, name, value) VALUES (?, ?, ?)")
        .run(kind, name, JSON.stringify(value));
      database.prepare(
        `DELETE FROM things WHERE kind = ?1 AND seq <=
          (SELECT seq FROM things WHERE kind = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
      ).run(kind, this.#maxOfAKind);
    });
  }

  delete(kind: string, name: string): void {
    this.#database.prepare("DELETE FROM things WHERE kind = ? AND name = ?").run(kind, name);
  }

  close(): void {
    this.#database.close();
  }
}
