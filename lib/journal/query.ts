import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** A prepared statement whose rows are tuples: an eighth of the cost of rows as objects. */
export interface Query<Result> {
  get(...params: SQLInputValue[]): Result | undefined;
  all(...params: SQLInputValue[]): Result[];
  /** Rows one by one; leaving the loop ends the read. */
  iterate(...params: SQLInputValue[]): IterableIterator<Result>;
  /** Runs it for its effect and returns the number of changed rows. */
  run(...params: SQLInputValue[]): number;
  /** As `run`, but returns the rowid of the inserted row. */
  insert(...params: SQLInputValue[]): number;
}

/** What Deno's types of node:sqlite lack. */
interface ArrayStatement extends StatementSync {
  setReturnArrays(enabled: boolean): void;
}

/**
 * Prepares a statement. `Row` is the caller's word for its columns, in their order; `read` makes of a row
 * what the caller wants.
 */
export function query<Row extends unknown[] = never, Result = Row>(
  db: DatabaseSync,
  sql: string,
  read: (row: Row) => Result = (row) => row as unknown as Result,
): Query<Result> {
  const statement = db.prepare(sql) as ArrayStatement;
  statement.setReturnArrays(true);
  return {
    get(...params) {
      const row = statement.get(...params) as Row | undefined;
      return row && read(row);
    },
    all: (...params) => (statement.all(...params) as unknown as Row[]).map(read),
    *iterate(...params) {
      for (const row of statement.iterate(...params)) yield read(row as unknown as Row);
    },
    run: (...params) => Number(statement.run(...params).changes),
    insert: (...params) => Number(statement.run(...params).lastInsertRowid),
  };
}

/** A class that prepares its statements as fields. */
export abstract class Queries {
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  protected query<Row extends unknown[] = never, Result = Row>(
    sql: string,
    read?: (row: Row) => Result,
  ): Query<Result> {
    return query(this.#db, sql, read);
  }
}

/** JSON as a column takes it: NULL for undefined. */
export function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
