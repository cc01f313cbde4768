import type { DatabaseSync } from "node:sqlite";
import { ChannelTurnRows } from "./channel_turns.ts";
import { type DeltaLimits, DeltaLog } from "./delta_log.ts";
import { cannotOpen, openDatabase } from "./database.ts";
import { createEventLog } from "./events.ts";
import { createEpochs } from "./epochs.ts";
import { createFollowers } from "./follow.ts";
import { createKeyFollowers } from "./follow_key.ts";
import { createJournal, type JournalDependencies } from "./journal.ts";
import { MessageLog } from "./messages.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";
import { createOpenTurns } from "./open_turns.ts";
import { RequestKeys } from "./request_keys.ts";
import { createResponseIndex } from "./responses.ts";
import { createSaidLog } from "./said.ts";
import { SearchIndex } from "./search.ts";
import { SessionFiles } from "./session_files.ts";
import { createSessionRows } from "./sessions.ts";
import { TurnRows } from "./turns.ts";
import { UsageDays } from "./usage.ts";
import type { Journal } from "../contract/journal.ts";
import { Writer } from "./writer.ts";

/** What {@linkcode openJournal} is told. */
export interface OpenJournalOptions {
  /** The SQLite file, made if there is none; `:memory:` for one that vanishes. */
  path: string;
  /**
   * Whether the file is as it was closed. Of one that was replaced meanwhile, from a backup say, numbers
   * of events that were seen before do not count (`Journal.epoch`). Default: true.
   */
  isUntouched?: boolean;
  /** Told of the copy that is kept of a file of an older version, before it is changed. */
  onCopied?: (copy: string, version: number) => void;
  /** Milliseconds since 1970. Default: `Date.now`. */
  now?: () => number;
  /** Calls back when the present turn of the event loop is over. Default: `setImmediate`. */
  schedule?: (flush: () => void) => void;
  /** Bounds of the deltas that are no rows yet; the defaults fit. */
  deltaLimits?: DeltaLimits;
  /**
   * Told of files (SHA-256) that no session refers to any more, after the commit that made it so:
   * while a session is deleted, also in `recover` where that goes on with a deletion. Those of a crash
   * between the two are told to nobody and wait for `MediaStore.sweep`. Must not throw.
   */
  onFilesFree?: (sha256s: string[]) => void;
}

/**
 * Opens the journal in a SQLite file. One process may have a file open at a time; call
 * `recover` before anything is accepted.
 *
 * Throws `database_newer` for a file of a later program, and `database_unusable` with the reason for one that
 * cannot be used, which is then left as it was. Needs read and write permission for the path.
 */
export function openJournal(options: OpenJournalOptions): Journal {
  const { path, onCopied, onFilesFree = () => {} } = options;
  const db = openDatabase(path, MIGRATIONS, onCopied);
  try {
    return createJournal({ db, onFilesFree, ...openParts(db, options) });
  } catch (error) {
    db.close();
    throw cannotOpen(path, error);
  }
}

/** The parts of a journal, and those who are told of its commits. */
function openParts(
  db: DatabaseSync,
  { isUntouched, now = Date.now, schedule, deltaLimits }: OpenJournalOptions,
): Omit<JournalDependencies, "db" | "onFilesFree"> {
  const epochs = createEpochs(db, { isUntouched });
  const writer = new Writer(db, { schedule });
  /** Keys of the sessions that this batch has made. */
  let made: string[] = [];
  const sessions = createSessionRows({
    db,
    now,
    lastSeq: (sessionId) => events.head(sessionId),
    onMade: (key) => void made.push(key),
  });
  const turns = new TurnRows(db);
  const messages = new MessageLog(db);
  const deltas = new DeltaLog(db, deltaLimits);
  // Read now, so that a log that cannot be read is noticed here.
  deltas.tail(0);
  const events = createEventLog({
    db,
    deltas,
    hasReaders: (sessionId) => followers.has(sessionId),
  });
  const followers = createFollowers({
    head: (sessionId) => events.head(sessionId),
    page: (sessionId, afterSeq) => events.page(sessionId, afterSeq),
    exists: (sessionId) => sessions.exists(sessionId),
  });
  const keyFollowers = createKeyFollowers({ followers, find: (key) => sessions.idOf(key) });
  const openTurns = createOpenTurns({ turns, events, messages });
  const responses = createResponseIndex(db);
  writer.participate({
    beforeCommit: () => events.beforeCommit(),
    afterCommit() {
      const keys = made;
      made = [];
      for (const key of keys) keyFollowers.made(key);
      for (const [sessionId, added] of events.afterCommit()) followers.deliver(sessionId, added);
    },
    afterRollback() {
      made = [];
      events.afterRollback();
      openTurns.clear();
      responses.forget();
    },
  });
  let search: SearchIndex | undefined;
  const parts = {
    sessions,
    turns,
    events,
    messages,
    said: createSaidLog({ db, messages, turns }),
    openTurns,
    requestKeys: new RequestKeys(db, now),
    responses,
    files: new SessionFiles(db),
    channelTurns: new ChannelTurnRows(db),
    usage: new UsageDays(db),
    search: () => search ??= new SearchIndex({ db, writer, sessions, messages }),
    now,
  };
  return { writer, parts, followers, keyFollowers, epochs };
}
