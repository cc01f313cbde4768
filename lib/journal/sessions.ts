import type { DatabaseSync } from "node:sqlite";
import { query } from "./query.ts";
import type { Session } from "../contract/journal.ts";

/** What a session begins with. */
export type NewSession = Partial<Pick<Session, "title" | "turns" | "modelPreset" | "folder">>;

/** Sessions as rows. What changes them is called inside a batch of the writer. */
export interface SessionRows {
  /** Id of the session of that key; makes it when there is none. */
  ensure(key: string): number;
  /** Makes the session of a key that has none. Returns its id. */
  insert(key: string, facts?: NewSession): number;
  /** Counts an accepted turn; the first title that is not empty stays. */
  countTurn(id: number, title: string): void;
  /** Moves the session to the front of the list. */
  touch(id: number): void;
  setTitle(id: number, title: string): void;
  setModelPreset(id: number, preset: string | undefined): void;
  /** Whether retention keeps it. */
  setPinned(id: number, pinned: boolean): void;
  find(key: string): Session | undefined;
  exists(id: number): boolean;
  /** Id of the session of that key. */
  idOf(key: string): number | undefined;
  /** Newest first; of one owner alone, `''` for those that have none, or of one channel. */
  list(limit: number, before?: number, owner?: string, channel?: string): Session[];
}

type Row = [
  id: number,
  key: string,
  title: string,
  createdAt: number,
  updatedAt: number,
  turns: number,
  modelPreset: string | null,
  folder: string | null,
  pinned: number,
];

/** What {@linkcode createSessionRows} needs. */
export interface SessionRowsDependencies {
  db: DatabaseSync;
  now: () => number;
  /** A session's last seq. */
  lastSeq: (sessionId: number) => number;
  /** Told that the session of a key was made, inside the batch. */
  onMade: (key: string) => void;
}

/** {@linkcode SessionRows} over the table `sessions`. */
export function createSessionRows(
  { db, now, lastSeq, onMade }: SessionRowsDependencies,
): SessionRows {
  const columns = "id, key, title, created_at, updated_at, turns, model_preset, folder, pinned";
  const selectId = query<[number]>(db, "SELECT id FROM sessions WHERE key = ?");
  const selectAny = query<[number]>(db, "SELECT id FROM sessions WHERE id = ? AND key NOT NULL");
  // An id is not used again: a reader may still hold that of a deleted session.
  const insertOne = query(
    db,
    `INSERT INTO sessions (id, key, title, created_at, updated_at, turns, model_preset, folder)
     VALUES (1 + max(coalesce((SELECT max(id) FROM sessions), 0),
       (SELECT last_deleted FROM openings WHERE one = 1)), ?, ?, ?, ?, ?, ?, ?)`,
  );
  const updateTitle = query(db, "UPDATE sessions SET title = ? WHERE id = ?");
  const updatePreset = query(db, "UPDATE sessions SET model_preset = ? WHERE id = ?");
  const updatePinned = query(db, "UPDATE sessions SET pinned = ? WHERE id = ?");
  const updateTurns = query(
    db,
    `UPDATE sessions SET turns = turns + 1, updated_at = ?,
       title = CASE title WHEN '' THEN ? ELSE title END
     WHERE id = ?`,
  );
  const updateTime = query(db, "UPDATE sessions SET updated_at = ? WHERE id = ?");
  const selectOne = query<Row>(db, `SELECT ${columns} FROM sessions WHERE key = ?`);
  const selectPage = query<Row>(
    db,
    `SELECT ${columns} FROM sessions WHERE updated_at < ? AND key NOT NULL
     ORDER BY updated_at DESC LIMIT ?`,
  );
  const selectOwnerPage = query<Row>(
    db,
    `SELECT ${columns} FROM sessions WHERE owner = ? AND updated_at < ? AND key NOT NULL
     ORDER BY updated_at DESC LIMIT ?`,
  );
  // Along the times, as a page is short: by its keys all of a channel would be sorted.
  const selectChannelPage = query<Row>(
    db,
    `SELECT ${columns} FROM sessions WHERE +key > ? AND +key < ? AND updated_at < ?
     ORDER BY updated_at DESC LIMIT ?`,
  );
  // The list is paged by this time, so no two sessions may share one, nor may it step back.
  let lastUpdate = query<[number | null]>(db, "SELECT max(updated_at) FROM sessions").get()![0] ??
    0;

  function nextUpdate(): number {
    return lastUpdate = Math.max(Math.floor(now()), lastUpdate + 1);
  }

  function toSession(
    [id, key, title, createdAt, updatedAt, turns, modelPreset, folder, pinned]: Row,
  ): Session {
    return {
      id,
      key,
      title,
      ...modelPreset !== null && { modelPreset },
      ...folder !== null && { folder },
      createdAt,
      updatedAt,
      turns,
      ...pinned === 1 && { pinned: true },
      lastSeq: lastSeq(id),
    };
  }

  function insert(
    key: string,
    { title = "", turns = 0, modelPreset, folder }: NewSession = {},
  ): number {
    onMade(key);
    const createdAt = nextUpdate();
    const kept = [modelPreset ?? null, folder ?? null];
    return insertOne.insert(key, title, createdAt, createdAt, turns, ...kept);
  }

  return {
    ensure: (key) => selectId.get(key)?.[0] ?? insert(key),
    insert,
    countTurn(id, title) {
      updateTurns.run(nextUpdate(), title, id);
    },
    touch(id) {
      updateTime.run(nextUpdate(), id);
    },
    setTitle(id, title) {
      updateTitle.run(title, id);
    },
    setModelPreset(id, preset) {
      updatePreset.run(preset ?? null, id);
    },
    setPinned(id, pinned) {
      updatePinned.run(pinned ? 1 : 0, id);
    },
    find(key) {
      const row = selectOne.get(key);
      return row && toSession(row);
    },
    exists: (id) => selectAny.get(id) !== undefined,
    idOf: (key) => selectId.get(key)?.[0],
    list(limit, before = Number.MAX_SAFE_INTEGER, owner, channel) {
      const rows = channel !== undefined
        // The colon, and the character behind it.
        ? selectChannelPage.all(`${channel}:`, `${channel};`, before, limit)
        : owner === undefined
        ? selectPage.all(before, limit)
        : selectOwnerPage.all(owner, before, limit);
      return rows.map(toSession);
    },
  };
}
