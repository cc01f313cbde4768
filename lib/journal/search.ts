import { setImmediate } from "node:timers";
import type { DatabaseSync } from "node:sqlite";
import type { FoundSession, FoundText, SessionSearch, StoredMessage } from "../contract/journal.ts";
import type { Message } from "../contract/messages.ts";
import type { MessageLog } from "./messages.ts";
import { Queries } from "./query.ts";
import { indexedText, parseQuery, snippetOf, type TextQuery, toMatch } from "./search_text.ts";
import type { SessionRows } from "./sessions.ts";
import { titleOf } from "./title.ts";
import type { Writer } from "./writer.ts";

/** Messages of one read. One may hold the text of twenty documents. */
const READ_MESSAGES = 16;

/** What one write adds to the index: characters, each text counted as some more. */
const COST_A_WRITE = 50_000;
const TEXT_COST = 100;

/** Rows that one write removes. */
const ROWS_A_WRITE = 1_000;

/** Pages of the index that one write merges. */
const PAGES_A_WRITE = 16;

/** Matches that are looked at, those of the sessions that were begun last. */
const MAX_MATCHES = 10_000;

/** Texts that are shown of a session. */
const SHOWN_TEXTS = 3;

/** Number of the text of a session that is its title. */
const TITLE = 0;

/** Owner and channel of a session, as terms. */
const WHOSE = "'o' || owner || ' c' || substr(key, 1, instr(key, ':') - 1)";

const OF_SESSION = "rowid >= (?1 << 32) AND rowid < ((?1 + 1) << 32)";

/** What {@linkcode SearchIndex} needs. */
export interface SearchIndexDeps {
  db: DatabaseSync;
  writer: Writer;
  sessions: Pick<SessionRows, "find">;
  messages: Pick<MessageLog, "history">;
}

/** A session in which something is found. */
interface Hit {
  key: string;
  updatedAt: number;
  count: number;
  /** The newest of them. */
  shown: number[];
}

/**
 * Searches texts of people and of the agent, over the table `search`.
 *
 * The index follows the sessions when somebody searches: those that changed since it last did so, in steps
 * of the writer. So turns write nothing for it, and a home in which nobody searches has none.
 */
export class SearchIndex extends Queries {
  // Of values: a statement that may write many rows has its own savepoint, at which FTS5 writes all it has.
  readonly #insert = this.query(
    "INSERT INTO search (rowid, text, whose) VALUES ((? << 32) | ?, ?, ?)",
  );
  readonly #selectNext = this.query<[id: number, title: string, whose: string, updatedAt: number]>(
    `SELECT id, title, ${WHOSE}, updated_at FROM sessions
     WHERE updated_at > (SELECT indexed_to FROM search_state WHERE one = 1) AND key NOT NULL
     ORDER BY updated_at LIMIT 1`,
  );
  readonly #selectWhose = this.query<[string]>(`SELECT ${WHOSE} FROM sessions WHERE id = ?`);
  readonly #selectLast = this.query<[number]>(
    `SELECT rowid & 4294967295 FROM search WHERE ${OF_SESSION} ORDER BY rowid DESC LIMIT 1`,
  );
  readonly #setIndexedTo = this.query("UPDATE search_state SET indexed_to = ? WHERE one = 1");
  readonly #select = this.query<[sessionId: number, id: number]>(
    `SELECT rowid >> 32, rowid & 4294967295 FROM search WHERE search MATCH ?
     ORDER BY rowid DESC LIMIT ${MAX_MATCHES}`,
  );
  readonly #selectSeen = this.query<[key: string, updatedAt: number]>(
    `SELECT key, updated_at FROM sessions WHERE id = ?1 AND key NOT NULL AND updated_at < ?2
       AND (?3 IS NULL OR owner = ?3) AND (?4 IS NULL OR instr(key, ?4 || ':') = 1)`,
  );
  readonly #remove = this.query(
    `DELETE FROM search WHERE rowid IN
       (SELECT rowid FROM search WHERE ${OF_SESSION} LIMIT ${ROWS_A_WRITE})`,
  );
  readonly #removeTitle = this.query("DELETE FROM search WHERE rowid = (? << 32)");
  readonly #setStale = this.query(
    "UPDATE search_state SET stale = ? WHERE one = 1 AND stale <> ?1",
  );
  readonly #selectStale = this.query<[number]>("SELECT stale FROM search_state WHERE one = 1");
  readonly #merge = this.query("INSERT INTO search (search, rank) VALUES ('merge', ?)");
  readonly #changes = this.query<[number]>("SELECT total_changes()");
  readonly #writer: Writer;
  readonly #sessions: SearchIndexDeps["sessions"];
  readonly #messages: SearchIndexDeps["messages"];

  constructor({ db, writer, sessions, messages }: SearchIndexDeps) {
    super(db);
    this.#writer = writer;
    this.#sessions = sessions;
    this.#messages = messages;
  }

  /** See `Journal.search`. */
  async find(
    { q, limit, before = Number.MAX_SAFE_INTEGER, owner, channel }: SessionSearch,
  ): Promise<FoundSession[]> {
    const query = parseQuery(q);
    while (!await this.#writer.write("normal", () => this.#follow())) await turnOfLoop();
    const whose = owner !== undefined ? `o${owner ?? ""}` : channel && `c${channel}`;
    const match = `text : (${toMatch(query)})` +
      (whose === undefined ? "" : ` AND whose : "${whose}"`);
    const hits = new Map<number, Hit | undefined>();
    for (const [sessionId, id] of this.#select.all(match)) {
      if (!hits.has(sessionId)) {
        const seen = this.#selectSeen.get(
          sessionId,
          before,
          owner === null ? "" : owner ?? null,
          channel ?? null,
        );
        hits.set(sessionId, seen && { key: seen[0], updatedAt: seen[1], count: 0, shown: [] });
      }
      const hit = hits.get(sessionId);
      if (hit === undefined) continue;
      hit.count++;
      if (hit.shown.length < SHOWN_TEXTS) hit.shown.push(id);
    }
    return [...hits.values()].filter((hit) => hit !== undefined)
      .sort((a, b) => b.updatedAt - a.updatedAt).slice(0, limit)
      .map((hit) => this.#toFound(hit, query));
  }

  /** Inside a batch of the writer, of a session that somebody named. */
  retitle(sessionId: number, title: string): void {
    this.#removeTitle.run(sessionId);
    this.#insert.run(sessionId, TITLE, indexedText(title), this.#selectWhose.get(sessionId)![0]);
  }

  /** Removes some rows of a session that is being deleted, inside a batch of the writer; how many. */
  remove(sessionId: number): number {
    const removed = this.#remove.run(sessionId);
    if (removed > 0) this.#setStale.run(1);
    return removed;
  }

  /** Takes the terms of what was removed out of the file: until then it only isn't found. */
  async purge(): Promise<void> {
    if (this.#selectStale.get()![0] === 0) return;
    // Negative: all of the index is to become one segment. https://sqlite.org/fts5.html
    for (let pages = -PAGES_A_WRITE, isDone = false; !isDone; pages = PAGES_A_WRITE) {
      isDone = await this.#writer.write("normal", () => {
        const before = this.#changes.get()![0];
        this.#merge.run(pages);
        if (this.#changes.get()![0] - before >= 2) return false;
        this.#setStale.run(0);
        return true;
      });
      await turnOfLoop();
    }
  }

  /** Indexes some of what is new, inside a batch of the writer; whether that is all. */
  #follow(): boolean {
    for (let cost = 0; cost < COST_A_WRITE;) {
      const next = this.#selectNext.get();
      if (next === undefined) return true;
      const [id, title, whose, updatedAt] = next;
      const last = this.#selectLast.get(id)?.[0];
      const added = this.#messages.history(id, last ?? TITLE, READ_MESSAGES);
      const texts = added.map(({ id, message }): [number, string] => [id, textOf(message)]);
      // One that was made of the first message is found there.
      if (last === undefined && title !== titleMadeOf(added[0])) texts.push([TITLE, title]);
      for (const [number, text] of texts) {
        this.#insert.run(id, number, indexedText(text), whose);
        cost += text.length + TEXT_COST;
      }
      if (added.length === READ_MESSAGES) continue;
      this.#setIndexedTo.run(updatedAt);
      cost += TEXT_COST;
    }
    return false;
  }

  #toFound({ key, count, shown }: Hit, query: TextQuery): FoundSession {
    const session = this.#sessions.find(key)!;
    return {
      session,
      count,
      texts: shown.map((id): FoundText => {
        if (id === TITLE) {
          return { id, turnId: "", role: "title", snippet: snippetOf(session.title, query) };
        }
        const { turnId, message } = this.#messages.history(session.id, id - 1, 1)[0]!;
        const role = message.role === "user" ? "user" : "assistant";
        return { id, turnId, role, snippet: snippetOf(textOf(message), query) };
      }),
    };
  }
}

/** What is found of a message: its words, and names of its documents. */
function textOf(message: Message): string {
  switch (message.role) {
    case "user":
      return message.parts.flatMap((part) => {
        if (part.type === "text") return [part.text];
        return part.type === "document" ? [part.name] : [];
      }).join("\n");
    case "assistant":
      return message.text;
    default:
      return "";
  }
}

function titleMadeOf(first: StoredMessage | undefined): string {
  return first?.message.role === "user" ? titleOf(first.message.parts) : "";
}

function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
