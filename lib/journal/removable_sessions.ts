import type { DatabaseSync } from "node:sqlite";
import type { Removable, RemovablePage } from "../contract/retention.ts";
import { Queries } from "./query.ts";
import { KEPT_MS } from "./request_keys.ts";

/** Sessions that a page looks at. */
const PAGE_SESSIONS = 100;

/** Rows that one read of a session's size passes over. */
const ROWS_A_READ = 5_000;

/** What a row takes beside its text, about: its own columns, and its place in indexes. */
const ROW_BYTES = 64;

/** How full pages are, about. */
const PAGE_FILL = 0.75;

/** What a session takes beside its rows. */
const SESSION_BYTES = 256;

/** What {@linkcode RemovableSessions} needs. */
export interface RemovableSessionsDeps {
  db: DatabaseSync;
  now: () => number;
  /** Whether somebody reads the session now. */
  hasReaders: (sessionId: number) => boolean;
}

/** A session that may go, if nothing needs it. */
interface Candidate {
  id: number;
  key: string;
  updatedAt: number;
}

/**
 * Sessions that retention may remove. Not those with an open turn, with a message or answer that has not
 * been delivered, or with a reader; nor those that are pinned or belong to an automation, nor any that changed within
 * the 8 days in which a repeated request is known by its key.
 */
export class RemovableSessions extends Queries {
  readonly #now: () => number;
  readonly #hasReaders: (sessionId: number) => boolean;
  // A session's changes have times of their own, so one is a cursor.
  readonly #select = this.query(
    `SELECT id, key, updated_at FROM sessions
     WHERE updated_at > ? AND updated_at < ? AND key NOT NULL
     ORDER BY updated_at LIMIT ${PAGE_SESSIONS}`,
    toCandidate,
  );
  readonly #selectOne = this.query(
    "SELECT id, key, updated_at FROM sessions WHERE key = ?",
    toCandidate,
  );
  readonly #selectNeeded = this.query<[number]>(
    `SELECT 1 FROM sessions AS s WHERE s.id = ?1 AND (
       s.pinned = 1
       OR EXISTS (SELECT 1 FROM turns WHERE session_id = ?1 AND ended_at IS NULL)
       OR EXISTS (SELECT 1 FROM said_waiting WHERE session_id = ?1)
       OR s.key GLOB 'automation:*' AND EXISTS (SELECT 1 FROM automations WHERE id = substr(s.key, 12)))`,
  );
  readonly #selectSending = this.query(
    `SELECT t.session_id FROM channel_turns AS c CROSS JOIN turns AS t ON t.turn = c.turn
     UNION ALL SELECT t.session_id FROM outbox AS o INDEXED BY outbox_lanes
       CROSS JOIN turns AS t ON t.id = o.turn_id WHERE o.state IN ('pending', 'sending')
     UNION ALL SELECT t.session_id FROM outbox AS o INDEXED BY outbox_undecided
       CROSS JOIN turns AS t ON t.id = o.turn_id WHERE o.state IN ('unknown', 'dead')`,
    ([id]: [number]) => id,
  );
  readonly #eventBytes = this.query<SizeRow>(sizeOf(
    `SELECT seq AS place, octet_length(body) AS bytes FROM events
     WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ${ROWS_A_READ}`,
  ));
  readonly #messageBytes = this.query<SizeRow>(sizeOf(
    `SELECT id AS place, coalesce(octet_length(body), 0) AS bytes FROM messages
     WHERE session_id = ?1 AND id > ?2 ORDER BY id LIMIT ${ROWS_A_READ}`,
  ));
  readonly #turnBytes = this.query<SizeRow>(sizeOf(
    `SELECT t.turn AS place, octet_length(i.parts) + 128 AS bytes
     FROM turns AS t CROSS JOIN inputs AS i ON i.turn = t.turn
     WHERE t.session_id = ?1 AND t.turn > ?2 ORDER BY t.turn LIMIT ${ROWS_A_READ}`,
  ));
  readonly #pages = this.query<[number]>("PRAGMA page_count");
  readonly #freePages = this.query<[number]>("PRAGMA freelist_count");
  readonly #pageBytes = this.query<[number]>("PRAGMA page_size");
  readonly #filesOf = this.query(
    `SELECT s.id, s.key, s.updated_at FROM session_files AS f
     CROSS JOIN sessions AS s ON s.id = f.session_id WHERE f.sha256 = ? AND s.key NOT NULL`,
    toCandidate,
  );

  constructor({ db, now, hasReaders }: RemovableSessionsDeps) {
    super(db);
    this.#now = now;
    this.#hasReaders = hasReaders;
  }

  /** Bytes of the database that hold something. */
  usedBytes(): number {
    return (this.#pages.get()![0] - this.#freePages.get()![0]) * this.#pageBytes.get()![0];
  }

  /** A page may hold few, or none, and still name a next one. */
  async page(after?: string): Promise<RemovablePage> {
    const candidates = this.#select.all(Number(after ?? 0), this.#now() - KEPT_MS);
    const isNeeded = this.needs();
    const items: Removable[] = [];
    for (const { id, key, updatedAt } of candidates) {
      if (isNeeded(id)) continue;
      items.push({ name: key, bytes: await this.#bytesOf(id), at: updatedAt });
    }
    const last = candidates.at(-1);
    return candidates.length < PAGE_SESSIONS ? { items } : { items, after: `${last!.updatedAt}` };
  }

  /** Id of the session, if it is as it was listed and nothing needs it; inside a batch of the writer. */
  find({ name, at }: Removable, isNeeded: (id: number) => boolean): number | undefined {
    const found = this.#selectOne.get(name);
    return found?.updatedAt === at && !isNeeded(found.id) ? found.id : undefined;
  }

  /** Tells, as things are now, whether something needs a session. */
  needs(): (sessionId: number) => boolean {
    const sending = new Set(this.#selectSending.all());
    return (id) =>
      sending.has(id) || this.#hasReaders(id) || this.#selectNeeded.get(id) !== undefined;
  }

  /** Whether something needs a session that has this file. */
  needsFile(sha256: string): boolean {
    const sessions = this.#filesOf.all(sha256);
    if (sessions.length === 0) return false;
    const isNeeded = this.needs();
    return sessions.some(({ id }) => isNeeded(id));
  }

  /** Reads some rows in each turn of the event loop. */
  async #bytesOf(id: number): Promise<number> {
    let sum = SESSION_BYTES;
    for (const query of [this.#eventBytes, this.#messageBytes, this.#turnBytes]) {
      for (let after = 0, rows = ROWS_A_READ; rows === ROWS_A_READ;) {
        const [count, place, bytes] = query.get(id, after)!;
        [rows, after] = [count, place];
        sum += bytes / PAGE_FILL + count * ROW_BYTES;
        if (rows === ROWS_A_READ) await new Promise((resolve) => setTimeout(resolve));
      }
    }
    return Math.round(sum);
  }
}

type SizeRow = [rows: number, lastPlace: number, bytes: number];

function sizeOf(rows: string): string {
  return `SELECT count(*), coalesce(max(place), 0), coalesce(sum(bytes), 0) FROM (${rows})`;
}

function toCandidate([id, key, updatedAt]: [number, string, number]): Candidate {
  return { id, key, updatedAt };
}
