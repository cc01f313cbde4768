/**
 * IndexedDB over a SQLite file of a channel's folder, for libraries of browsers that keep their state there and
 * nowhere else. What they use of it (Indexed Database API 3.0): versions and upgrades, stores with keys of
 * their own, indexes, ranges, cursors that go forward.
 *
 * Invariants:
 * - A transaction is one of SQLite, and is on the disk before `complete` is told. A process that is killed
 *   has all of it or nothing.
 * - Transactions run one after the other, in the order in which they were made.
 * - One that has nothing more to do when everything that was told of its last request has run is committed.
 *
 * @module
 */

import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { deserialize, serialize } from "node:v8";
import type { Migration } from "../../base/migrate.ts";
import { type Key, keyBytes, keyOf } from "./indexed_db_key.ts";
import { openStateDatabase } from "./open_state_database.ts";

const MIGRATIONS: readonly Migration[] = [{
  version: 1,
  name: "initial",
  sql: `
    CREATE TABLE databases (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE stores (
      id INTEGER PRIMARY KEY, database TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (database, name)
    ) STRICT;
    CREATE TABLE indexes (
      id INTEGER PRIMARY KEY, store INTEGER NOT NULL REFERENCES stores ON DELETE CASCADE,
      name TEXT NOT NULL, path TEXT NOT NULL, is_unique INTEGER NOT NULL, UNIQUE (store, name)
    ) STRICT;
    CREATE TABLE records (
      store INTEGER NOT NULL REFERENCES stores ON DELETE CASCADE, key BLOB NOT NULL, value BLOB NOT NULL,
      PRIMARY KEY (store, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE entries (
      idx INTEGER NOT NULL REFERENCES indexes ON DELETE CASCADE, key BLOB NOT NULL,
      store INTEGER NOT NULL, record BLOB NOT NULL, PRIMARY KEY (idx, key, record),
      FOREIGN KEY (store, record) REFERENCES records ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entries_of_record ON entries (store, record);
  `,
}];

type Handler<Target = unknown> = ((event: { target: Target; type: string }) => unknown) | null;

type Mode = "readonly" | "readwrite" | "versionchange";

/** Rows of a store or of an index, by which what is found is read. */
interface Source {
  database: DatabaseSync;
  transaction: IDBTransaction;
  /** Selects `key` and `value`, and ends in a condition. */
  select: string;
  id: number;
}

/** Gives a library `indexedDB` and what belongs to it as globals; returns what closes the file. */
export function provideIndexedDb(stateDir: string, name: string): () => void {
  const database = openStateDatabase(stateDir, name, MIGRATIONS);
  const indexedDB = new IDBFactory(database);
  Object.assign(globalThis, {
    ...{ indexedDB, IDBFactory, IDBDatabase, IDBTransaction, IDBObjectStore, IDBIndex, IDBCursor },
    ...{ IDBCursorWithValue: IDBCursor, IDBRequest, IDBOpenDBRequest: IDBRequest, IDBKeyRange },
  });
  return () => indexedDB.end();
}

/** Runs transactions, each alone. */
class Turns {
  readonly #waiting: IDBTransaction[] = [];

  add(transaction: IDBTransaction): void {
    if (this.#waiting.push(transaction) === 1) queueMicrotask(() => transaction.begin());
  }

  /** The first one is over. */
  next(): void {
    this.#waiting.shift();
    const [next] = this.#waiting;
    if (next !== undefined) queueMicrotask(() => next.begin());
  }
}

export class IDBFactory {
  readonly #database: DatabaseSync;
  readonly #turns = new Turns();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  open(name: string, version?: number): IDBRequest {
    const request = new IDBRequest();
    const database = this.#database;
    const db = new IDBDatabase(database, this.#turns, name);
    const upgrade = new IDBTransaction(database, this.#turns, "versionchange", db);
    upgrade.request(() => {
      const known = database.prepare("SELECT version FROM databases WHERE name = ?").get(name);
      const oldVersion = Number(known?.version ?? 0);
      db.version = version ?? Math.max(oldVersion, 1);
      if (db.version < oldVersion) {
        throw new DOMException(`The database has the version ${oldVersion}`, "VersionError");
      }
      request.result = db;
      if (db.version === oldVersion) return;
      database.prepare("INSERT OR REPLACE INTO databases (name, version) VALUES (?, ?)")
        .run(name, db.version);
      request.transaction = upgrade;
      db.upgrade = upgrade;
      request.tell("upgradeneeded", { oldVersion, newVersion: db.version });
    });
    upgrade.onDone = (error) => {
      db.upgrade = request.transaction = null;
      request.settle(error === undefined ? { result: db } : { error });
    };
    return request;
  }

  end(): void {
    this.#database.close();
  }
}

export class IDBRequest {
  result: unknown;
  error: DOMException | null = null;
  readyState: "pending" | "done" = "pending";
  transaction: IDBTransaction | null = null;
  onsuccess: Handler = null;
  onerror: Handler = null;
  onblocked: Handler = null;
  onupgradeneeded: Handler = null;

  /** Tells whoever asked. True where an error was taken care of. */
  settle({ result, error }: { result?: unknown; error?: DOMException }): boolean {
    [this.result, this.error, this.readyState] = [result, error ?? null, "done"];
    return this.tell(error === undefined ? "success" : "error", {});
  }

  tell(type: "success" | "error" | "upgradeneeded", about: object): boolean {
    let isHandled = false;
    const preventDefault = () => void (isHandled = true);
    this[`on${type}`]?.({ ...about, type, target: this, preventDefault } as never);
    return isHandled;
  }
}

export class IDBDatabase {
  version = 0;
  upgrade: IDBTransaction | null = null;
  onversionchange: Handler = null;
  onclose: Handler = null;
  onabort: Handler = null;
  onerror: Handler = null;
  readonly #database: DatabaseSync;
  readonly #turns: Turns;
  readonly name: string;

  constructor(database: DatabaseSync, turns: Turns, name: string) {
    [this.#database, this.#turns, this.name] = [database, turns, name];
  }

  get objectStoreNames(): string[] & { item(at: number): string | null } {
    const rows = this.#database.prepare("SELECT name FROM stores WHERE database = ? ORDER BY name")
      .all(this.name);
    const names = rows.map(({ name }) => name as string);
    return Object.assign(names, {
      item: (at: number) => names[at] ?? null,
      contains: (name: string) => names.includes(name),
    });
  }

  createObjectStore(name: string): IDBObjectStore {
    this.#database.prepare("INSERT INTO stores (database, name) VALUES (?, ?)")
      .run(this.name, name);
    return this.upgrade!.objectStore(name);
  }

  deleteObjectStore(name: string): void {
    this.#database.prepare("DELETE FROM stores WHERE database = ? AND name = ?")
      .run(this.name, name);
  }

  transaction(_: string | readonly string[], mode: Mode = "readonly"): IDBTransaction {
    return new IDBTransaction(this.#database, this.#turns, mode, this);
  }

  close(): void {}
}

export class IDBTransaction {
  error: DOMException | null = null;
  oncomplete: Handler = null;
  onerror: Handler = null;
  onabort: Handler = null;
  /** Told with what has undone it. */
  onDone: ((error?: DOMException) => void) | undefined;
  readonly #database: DatabaseSync;
  readonly #turns: Turns;
  readonly #jobs: { run: () => unknown; request: IDBRequest }[] = [];
  #state: "waiting" | "running" | "done" = "waiting";
  #isClosed = false;
  readonly mode: Mode;
  readonly db: IDBDatabase;

  constructor(database: DatabaseSync, turns: Turns, mode: Mode, db: IDBDatabase) {
    [this.#database, this.#turns, this.mode, this.db] = [database, turns, mode, db];
    turns.add(this);
  }

  objectStore(name: string): IDBObjectStore {
    const row = this.#database.prepare("SELECT id FROM stores WHERE database = ? AND name = ?")
      .get(this.db.name, name);
    if (row === undefined) throw new DOMException(`No store ${name}`, "NotFoundError");
    return new IDBObjectStore(this.#database, this, Number(row.id), name);
  }

  /** Runs something when its turn comes. */
  request(run: () => unknown, request = new IDBRequest()): IDBRequest {
    if (this.#isClosed) throw new DOMException("It is over", "TransactionInactiveError");
    [request.transaction, request.readyState] = [this, "pending"];
    this.#jobs.push({ run, request });
    return request;
  }

  begin(): void {
    if (this.#state !== "waiting") return this.#turns.next();
    this.#state = "running";
    try {
      this.#database.exec(this.mode === "readonly" ? "BEGIN" : "BEGIN IMMEDIATE");
      this.#run();
    } catch (error) {
      this.#abort(toDomException(error));
    }
  }

  commit(): void {
    this.#isClosed = true;
    if (this.#state === "running" && this.#jobs.length === 0) this.#commit();
  }

  abort(): void {
    this.#abort(new DOMException("The transaction was aborted", "AbortError"));
  }

  #run(): void {
    if (this.#state !== "running") return;
    const job = this.#jobs.shift();
    if (job === undefined) {
      if (this.#isClosed) return this.#commit();
      // Whoever was told of the last request may have more to ask, as soon as it has run.
      setTimeout(() => this.#jobs.length === 0 ? this.commit() : this.#run(), 0);
      return;
    }
    const { run, request } = job;
    let error: DOMException | undefined;
    let result: unknown;
    try {
      result = run();
    } catch (cause) {
      error = toDomException(cause);
    }
    const isHandled = request.settle({ result, error });
    if (error !== undefined && !isHandled) this.#abort(error);
    queueMicrotask(() => this.#run());
  }

  #commit(): void {
    if (this.#state !== "running") return;
    try {
      this.#database.exec("COMMIT");
    } catch (error) {
      return this.#abort(toDomException(error));
    }
    this.#end();
    this.oncomplete?.({ type: "complete", target: this });
    this.onDone?.();
  }

  #abort(error: DOMException): void {
    if (this.#state === "done") return;
    const isRunning = this.#state === "running";
    const { isOpen } = this.#database;
    if (isRunning && isOpen && this.#database.isTransaction) this.#database.exec("ROLLBACK");
    this.error = error;
    // One that waits is passed over when its turn comes.
    if (isRunning) this.#end();
    else [this.#state, this.#isClosed] = ["done", true];
    for (const { request } of this.#jobs.splice(0)) request.settle({ error });
    this.onabort?.({ type: "abort", target: this });
    this.onDone?.(error);
  }

  #end(): void {
    [this.#state, this.#isClosed] = ["done", true];
    this.#turns.next();
  }
}

/** What stores and indexes have in common: finding. */
abstract class Found {
  /** Whose records are found. */
  protected abstract readonly store: IDBObjectStore;
  readonly #source: Source;

  constructor(source: Source) {
    this.#source = source;
  }

  get(query: unknown): IDBRequest {
    return this.#ask(() => this.#rows(query, 1)[0]?.value);
  }

  getAll(query?: unknown, count?: number): IDBRequest {
    return this.#ask(() => this.#rows(query, count).map(({ value }) => value));
  }

  getAllKeys(query?: unknown, count?: number): IDBRequest {
    return this.#ask(() => this.#rows(query, count).map(({ record }) => record));
  }

  count(query?: unknown): IDBRequest {
    return this.#ask(() => this.#rows(query).length);
  }

  openCursor(query?: unknown): IDBRequest {
    const request = new IDBRequest();
    const cursor: IDBCursor = new IDBCursor(this.store, request, () => {
      const [row] = this.#rows(query, 1, cursor.at);
      if (row === undefined) return null;
      [cursor.at, cursor.key, cursor.primaryKey, cursor.value] = [
        row.at,
        row.key,
        row.record,
        row.value,
      ];
      return cursor;
    });
    return this.#source.transaction.request(cursor.next, request);
  }

  #ask(run: () => unknown): IDBRequest {
    return this.#source.transaction.request(run);
  }

  /** `from`: behind which to go on. */
  #rows(query?: unknown, count = 0, from?: readonly [Uint8Array, Uint8Array]) {
    const { database, select, id } = this.#source;
    const { lower, upper, lowerOpen, upperOpen } = rangeOf(query);
    const parts: [string, ...SQLInputValue[]][] = [
      ...lower === undefined ? [] : [[`key ${lowerOpen ? ">" : ">="} ?`, keyBytes(lower)] as never],
      ...upper === undefined ? [] : [[`key ${upperOpen ? "<" : "<="} ?`, keyBytes(upper)] as never],
      ...from === undefined ? [] : [["(key, record) > (?, ?)", ...from] as never],
    ];
    const where = parts.map(([sql]) => ` AND ${sql}`).join("");
    const limit = count > 0 ? ` LIMIT ${count}` : "";
    return database.prepare(
      `SELECT * FROM (${select}) WHERE 1${where} ORDER BY key, record${limit}`,
    )
      .all(id, ...parts.flatMap(([, ...values]) => values))
      .map(({ key, record, value }) => ({
        at: [key, record] as [Uint8Array, Uint8Array],
        key: keyOf(key as Uint8Array),
        record: keyOf(record as Uint8Array),
        value: deserialize(value as Uint8Array),
      }));
  }
}

export class IDBObjectStore extends Found {
  readonly #database: DatabaseSync;
  readonly #id: number;
  protected readonly store = this;
  readonly transaction: IDBTransaction;
  readonly name: string;

  constructor(database: DatabaseSync, transaction: IDBTransaction, id: number, name: string) {
    const select = "SELECT key, key AS record, value FROM records WHERE store = ?";
    super({ database, transaction, select, id });
    [this.#database, this.transaction, this.#id, this.name] = [database, transaction, id, name];
  }

  put(value: unknown, key: unknown): IDBRequest {
    const copy = serialize(value);
    return this.transaction.request(() => this.#write(copy, key, "OR REPLACE"));
  }

  add(value: unknown, key: unknown): IDBRequest {
    const copy = serialize(value);
    return this.transaction.request(() => this.#write(copy, key, ""));
  }

  delete(query: unknown): IDBRequest {
    return this.transaction.request(() => this.#remove(query));
  }

  clear(): IDBRequest {
    return this.transaction.request(() => this.#remove(undefined));
  }

  createIndex(
    name: string,
    path: string | readonly string[],
    { unique = false }: { unique?: boolean } = {},
  ): IDBIndex {
    const { lastInsertRowid: id } = this.#database.prepare(
      "INSERT INTO indexes (store, name, path, is_unique) VALUES (?, ?, ?, ?)",
    ).run(this.#id, name, JSON.stringify(path), Number(unique));
    const records = this.#database.prepare("SELECT key, value FROM records WHERE store = ?")
      .all(this.#id);
    for (const { key, value } of records) {
      const index = { id, path: JSON.stringify(path), is_unique: Number(unique) };
      this.#enter(index, key as Uint8Array, deserialize(value as Uint8Array));
    }
    return new IDBIndex(this.#database, this, Number(id), name);
  }

  deleteIndex(name: string): void {
    this.#database.prepare("DELETE FROM indexes WHERE store = ? AND name = ?").run(this.#id, name);
  }

  index(name: string): IDBIndex {
    const row = this.#database.prepare("SELECT id FROM indexes WHERE store = ? AND name = ?")
      .get(this.#id, name);
    if (row === undefined) throw new DOMException(`No index ${name}`, "NotFoundError");
    return new IDBIndex(this.#database, this, Number(row.id), name);
  }

  #write(value: Uint8Array, key: unknown, how: string): unknown {
    const database = this.#database;
    const bytes = keyBytes(key);
    if (how !== "") this.#remove(key);
    database.prepare("INSERT INTO records (store, key, value) VALUES (?, ?, ?)")
      .run(this.#id, bytes, value);
    const indexes = database.prepare("SELECT id, path, is_unique FROM indexes WHERE store = ?")
      .all(this.#id);
    for (const index of indexes) this.#enter(index, bytes, deserialize(value));
    return key;
  }

  #enter(
    { id, path, is_unique }: Record<string, unknown>,
    record: Uint8Array,
    value: unknown,
  ): void {
    const key = atPath(value, JSON.parse(String(path)));
    let bytes;
    try {
      bytes = keyBytes(key);
    } catch {
      // What has no key there is not in the index.
      return;
    }
    const database = this.#database;
    const others = is_unique === 0 ? undefined : database
      .prepare("SELECT 1 FROM entries WHERE idx = ? AND key = ?").get(id as number, bytes);
    if (others !== undefined) throw new DOMException("The key is there", "ConstraintError");
    database.prepare("INSERT INTO entries (idx, key, store, record) VALUES (?, ?, ?, ?)")
      .run(id as number, bytes, this.#id, record);
  }

  #remove(query: unknown): void {
    const { lower, upper, lowerOpen, upperOpen } = rangeOf(query);
    this.#database.prepare(
      `DELETE FROM records WHERE store = ?1 AND (?2 IS NULL OR key ${lowerOpen ? ">" : ">="} ?2)
       AND (?3 IS NULL OR key ${upperOpen ? "<" : "<="} ?3)`,
    ).run(
      this.#id,
      lower === undefined ? null : keyBytes(lower),
      upper === undefined ? null : keyBytes(upper),
    );
  }
}

export class IDBIndex extends Found {
  readonly objectStore: IDBObjectStore;
  protected readonly store: IDBObjectStore;
  readonly name: string;

  constructor(database: DatabaseSync, store: IDBObjectStore, id: number, name: string) {
    const select = `SELECT entries.key, entries.record, records.value FROM entries
      JOIN records ON records.store = entries.store AND records.key = entries.record
      WHERE entries.idx = ?`;
    super({ database, transaction: store.transaction, select, id });
    [this.objectStore, this.store, this.name] = [store, store, name];
  }
}

export class IDBCursor {
  key: unknown;
  primaryKey: unknown;
  value: unknown;
  /** Where it is: its key and that of the record, as bytes. */
  at: readonly [Uint8Array, Uint8Array] | undefined;
  readonly source: IDBObjectStore;
  readonly request: IDBRequest;
  /** Moves on by one; null at the end. */
  readonly next: () => IDBCursor | null;

  constructor(source: IDBObjectStore, request: IDBRequest, next: () => IDBCursor | null) {
    [this.source, this.request, this.next] = [source, request, next];
  }

  continue(): void {
    this.request.transaction!.request(this.next, this.request);
  }

  update(value: unknown): IDBRequest {
    return this.source.put(value, this.primaryKey);
  }

  delete(): IDBRequest {
    return this.source.delete(this.primaryKey);
  }
}

export class IDBKeyRange {
  readonly lower: unknown;
  readonly upper: unknown;
  readonly lowerOpen: boolean;
  readonly upperOpen: boolean;

  constructor(lower: unknown, upper: unknown, lowerOpen = false, upperOpen = false) {
    [this.lower, this.upper, this.lowerOpen, this.upperOpen] = [lower, upper, lowerOpen, upperOpen];
  }

  static only(key: unknown): IDBKeyRange {
    return new IDBKeyRange(key, key);
  }

  static lowerBound(lower: unknown, isOpen = false): IDBKeyRange {
    return new IDBKeyRange(lower, undefined, isOpen);
  }

  static upperBound(upper: unknown, isOpen = false): IDBKeyRange {
    return new IDBKeyRange(undefined, upper, false, isOpen);
  }

  static bound(lower: unknown, upper: unknown, lowerOpen = false, upperOpen = false): IDBKeyRange {
    return new IDBKeyRange(lower, upper, lowerOpen, upperOpen);
  }
}

function rangeOf(query: unknown): IDBKeyRange {
  if (query instanceof IDBKeyRange) return query;
  return new IDBKeyRange(query ?? undefined, query ?? undefined);
}

function atPath(value: unknown, path: string | readonly string[]): Key | unknown {
  if (typeof path !== "string") return path.map((each) => atPath(value, each));
  return path.split(".").reduce<unknown>((at, name) => (at as never)?.[name], value);
}

function toDomException(error: unknown): DOMException {
  if (error instanceof DOMException) return error;
  const { message } = error as Error;
  const isTaken = /UNIQUE constraint/.test(message);
  return new DOMException(message, isTaken ? "ConstraintError" : "UnknownError");
}
