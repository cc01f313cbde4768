import type { DatabaseSync } from "node:sqlite";
import { createAcceptance } from "./accept.ts";
import { SqliteAutomationStore } from "./automations.ts";
import { checkInteger } from "./checks.ts";
import { createSessionDeletion } from "./delete_session.ts";
import { createDeliveryStore } from "./deliveries.ts";
import type { Epochs } from "./epochs.ts";
import type { Followers } from "./follow.ts";
import type { KeyFollowers } from "./follow_key.ts";
import { IntakeRows, JournalIntake } from "./intake.ts";
import { SessionForks } from "./fork_session.ts";
import { MissedMessageRows } from "./missed_messages.ts";
import { checkMessage, Outbox } from "./outbox.ts";
import { OutboxLanes } from "./outbox_lanes.ts";
import { createProbe } from "./probe.ts";
import { recover } from "./recover.ts";
import { RemovableSessions } from "./removable_sessions.ts";
import type { ResponseIndex } from "./responses.ts";
import { createSaying } from "./say.ts";
import { createSessionChanges } from "./session_changes.ts";
import { mediaHashes } from "./session_files.ts";
import { createTurnSteps } from "./turn_steps.ts";
import { createTurnWrites, type JournalParts } from "./turn_writes.ts";
import type { Journal } from "../contract/journal.ts";
import type { Writer } from "./writer.ts";

/** What {@linkcode createJournal} needs. */
export interface JournalDependencies {
  db: DatabaseSync;
  writer: Writer;
  parts: JournalParts;
  followers: Followers;
  keyFollowers: KeyFollowers;
  epochs: Epochs;
  /** Told of the files that nobody refers to any more. */
  onFilesFree: (sha256s: string[]) => void;
}

/** The owner of sessions that are nobody's alone, as the rows have it. */
const NO_OWNER = "";

/** The {@linkcode Journal} over its parts. */
export function createJournal(
  { db, writer, parts, followers, keyFollowers, epochs, onFilesFree }: JournalDependencies,
): Journal {
  const { sessions, openTurns, channelTurns, now } = parts;
  const writes = createTurnWrites(parts);
  const outbox = new Outbox(db, now);
  const lanes = new OutboxLanes(db, now);
  const intakeRows = new IntakeRows(db, now);
  const intakes = new Map<string, JournalIntake>();
  const missed = new MissedMessageRows(db, writer, outbox, now);
  const forks = new SessionForks(db, writer, sessions);
  const endFollowers = (sessionId: number) => followers.end(sessionId);
  const hasReaders = (sessionId: number) => followers.has(sessionId);
  const removable = new RemovableSessions({ db, now, hasReaders });
  const deletion = createSessionDeletion({
    db,
    writer,
    parts,
    epochs,
    removable,
    endFollowers,
    onFilesFree,
  });
  const probe = createProbe(db);

  return {
    ...createAcceptance({ writer, parts, writes }),
    ...createTurnSteps({ writer, parts, writes }),
    ...createSessionChanges({ writer, parts }),
    ...createSaying({ writer, parts, outbox }),
    ...createReading(parts),
    ...createQueue(writer, outbox, parts),
    forkSession: (fork) => forks.fork(fork),
    deleteSession: (key) => deletion.delete(key),
    retention: {
      usedBytes: () => Promise.resolve(removable.usedBytes()),
      page: (after) => removable.page(after),
      remove: (sessions) => deletion.deleteUnneeded(sessions),
    },
    needsFile: (sha256) => removable.needsFile(sha256),
    follow: (sessionId, options) => followers.follow(sessionId, options),
    isFollowed: (sessionId) => followers.isFollowed(sessionId),
    whenMade: (key, call) => keyFollowers.whenMade(key, call),
    followKey: (key, options) => keyFollowers.follow(key, options),
    epoch: (key) => epochs.of(key),
    responses: createResponses(writer, parts.responses),
    deliveries: createDeliveryStore({ writer, outbox, lanes, channelTurns, missed }),
    intake: (channel) =>
      intakes.getOrInsertComputed(channel, () => new JournalIntake(intakeRows, writer, channel)),
    missed,
    automations: new SqliteAutomationStore(db, writer),
    async recover() {
      await deletion.finish();
      await writer.write("full", () => lanes.recover());
      return await recover({ writer, parts, writes });
    },
    probe: () => writer.write("full", probe),
    counts: () => ({
      pendingWrites: writer.pending(),
      waitingFollowers: followers.waiting() + keyFollowers.waiting(),
      openTurns: openTurns.size(),
      outbox: outbox.waiting(),
    }),
    close() {
      writer.close();
      keyFollowers.endAll();
      followers.endAll();
      try {
        epochs.close();
      } finally {
        db.close();
      }
      return Promise.resolve();
    },
  };
}

/** What is read of sessions, their messages and turns. */
function createReading({ sessions, turns, messages, files, search, usage }: JournalParts) {
  return {
    context: (sessionId) => messages.context(sessionId),
    contextBefore({ id, sessionId }) {
      const first = turns.firstMessage(id);
      return first === undefined ? [] : messages.contextAt(sessionId, first);
    },
    history(sessionId, afterId, limit) {
      checkInteger("afterId", afterId, 0);
      checkInteger("limit", limit, 1);
      return messages.history(sessionId, afterId, limit);
    },
    historyPage(sessionId, { limit, before = Number.MAX_SAFE_INTEGER }) {
      checkInteger("limit", limit, 1);
      checkInteger("before", before, 0);
      return messages.page(sessionId, before, limit);
    },
    contextTokens: (sessionId) => messages.contextTokens(sessionId),
    hasFile: (sha256) => files.has(sha256),
    session: (key) => sessions.find(key),
    sessions({ limit, before, owner, channel }) {
      checkInteger("limit", limit, 1);
      if (before !== undefined) checkInteger("before", before, 0);
      return sessions.list(limit, before, owner === null ? NO_OWNER : owner, channel);
    },
    async search(wanted) {
      checkInteger("limit", wanted.limit, 1);
      return await search().find(wanted);
    },
    usage: (from, to) => usage.between(from, to),
    usageOf: (sessionId) => turns.usageOf(sessionId),
    turn: (id) => turns.find(id),
    nthTurn(sessionId, number) {
      checkInteger("number", number, 1);
      return turns.nth(sessionId, number);
    },
    turns(sessionId, afterRowid, limit) {
      checkInteger("afterRowid", afterRowid, 0);
      checkInteger("limit", limit, 1);
      return turns.page(sessionId, afterRowid, limit);
    },
  } satisfies Partial<Journal>;
}

/** Messages that wait to be delivered. */
function createQueue(writer: Writer, outbox: Outbox, { turns, files }: JournalParts) {
  return {
    async enqueue(message) {
      checkMessage(message);
      const { turnId, media = [], content } = message;
      return await writer.write("full", () => {
        const isNew = outbox.enqueue(message);
        const sender = turnId === undefined ? undefined : turns.find(turnId);
        if (isNew !== true || sender === undefined) return isNew;
        for (const sha256 of mediaHashes(media)) files.add(sender.sessionId, sha256);
        return isNew;
      }, content.length);
    },
    hasMessage: (id) => outbox.has(id),
    outbox(afterRowid, limit) {
      checkInteger("afterRowid", afterRowid, 0);
      checkInteger("limit", limit, 1);
      return outbox.list(afterRowid, limit);
    },
    outboxMessage: (id) => outbox.find(id),
  } satisfies Partial<Journal>;
}

function createResponses(writer: Writer, responses: ResponseIndex): Journal["responses"] {
  return {
    find(turnId, credential) {
      const found = responses.find(turnId, credential);
      if (found === undefined) return undefined;
      if (!found.newest) {
        // A use that is not on record costs the entry its place in the order and nobody anything.
        writer.write("normal", () => responses.touch(found.turn)).catch(() => {});
      }
      return found.entry;
    },
    remove: (turnId, credential) =>
      writer.write("full", () => responses.remove(turnId, credential)),
  };
}
