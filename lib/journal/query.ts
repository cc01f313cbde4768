import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** A prepared statement whose rows are tuples: an eighth of the cost of rows as objects. */
export interface Query<Row extends unknown[]> {
  get(...params: SQLInputValue[]): Row | undefined;
  all(...params: SQLInputValue[]): Row[];
  /** Rows one by one; leaving the loop ends the read. */
  iterate(...params: SQLInputValue[]): IterableIterator<Row>;
  /** Runs it for its effect and returns the number of changed rows. */
  run(...params: SQLInputValue[]): number;
  /** As `run`, but returns the rowid of the inserted row. */
  insert(...params: SQLInputValue[]): number;
}

/** What Deno's types of node:sqlite lack. */
interface ArrayStatement extends StatementSync {
  setReturnArrays(enabled: boolean): void;
}

/** Prepares a statement. `Row` is the caller's word for its columns, in their order. */
export function query<Row extends unknown[] = never>(db: DatabaseSync, sql: string): Query<Row> {
  const statement = db.prepare(sql) as ArrayStatement;
  statement.setReturnArrays(true);
  return {
    get: (...params) => statement.get(...params) as Row | undefined,
    all: (...params) => statement.all(...params) as unknown as Row[],
    iterate: (...params) => statement.iterate(...params) as unknown as IterableIterator<Row>,
    run: (...params) => Number(statement.run(...params).changes),
    insert: (...params) => Number(statement.run(...params).lastInsertRowid),
  };
}
