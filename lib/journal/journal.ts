import type { AgentEvent } from "../contract/events.ts";
import type { Message } from "../contract/messages.ts";
import type { AutomationStore } from "../contract/automation_store.ts";
import type { DeliveryStore } from "../contract/delivery_store.ts";
import { createAcceptance } from "./accept.ts";
import { checkInteger, invalid } from "./checks.ts";
import type { SessionDeletion } from "./delete_session.ts";
import type { Epochs } from "./epochs.ts";
import type { KeyFollowers } from "./follow_key.ts";
import { createSaying } from "./say.ts";
import { createSessionChanges } from "./session_changes.ts";
import type { SessionForks } from "./fork_session.ts";
import { type EncodedEvent, encodeEvent } from "./event_rows.ts";
import type { Followers } from "./follow.ts";
import type { MissedMessages } from "../contract/journal.ts";
import type { OpenTurn } from "./open_turns.ts";
import { mediaHashes } from "./session_files.ts";
import { checkMessage, type Outbox } from "./outbox.ts";
import type { OutboxLanes } from "./outbox_lanes.ts";
import { recover } from "./recover.ts";
import type { JournalParts, TurnWrites } from "./turn_writes.ts";
import type { Durability, Journal } from "../contract/journal.ts";
import { Refused, type Writer } from "./writer.ts";

/** What {@linkcode createJournal} needs. */
export interface JournalDependencies {
  writer: Writer;
  parts: JournalParts;
  writes: TurnWrites;
  followers: Followers;
  keyFollowers: KeyFollowers;
  epochs: Epochs;
  deletion: SessionDeletion;
  forks: SessionForks;
  outbox: Outbox;
  lanes: OutboxLanes;
  deliveries: DeliveryStore;
  missed: MissedMessages;
  automations: AutomationStore;
  /** Writes and takes back; called inside a batch of the writer. */
  probe: () => void;
  /** Closes the file. */
  close: () => void;
}

/** The owner of sessions that are nobody's alone, as the rows have it. */
const NO_OWNER = "";

/** Event types that have a write of their own. */
const RESERVED: ReadonlySet<AgentEvent["type"]> = new Set([
  "turn_end",
  "summary",
  "session_updated",
  "message",
]);

/**
 * The {@linkcode Journal} over its parts. What can be checked or encoded without the database is
 * done before a write enters the batch, so that it fails alone and is not done again.
 */
export function createJournal(
  {
    writer,
    parts,
    writes,
    followers,
    keyFollowers,
    epochs,
    deletion,
    forks,
    outbox,
    lanes,
    deliveries,
    missed,
    automations,
    probe,
    close,
  }: JournalDependencies,
): Journal {
  const { sessions, turns, messages, openTurns, responses, files } = parts;

  function writeTurn<T>(
    turnId: string,
    durability: Durability,
    chars: number,
    run: (open: OpenTurn) => T,
  ): Promise<T> {
    return writer.write(durability, () => {
      const open = openTurns.get(turnId);
      return open instanceof Refused ? open : run(open);
    }, chars);
  }

  return {
    ...createAcceptance({ writer, parts }),
    ...createSessionChanges({ writer, parts }),
    ...createSaying({ writer, parts, outbox }),
    forkSession: (fork) => forks.fork(fork),
    start(turnId) {
      // Attempts of a turn that goes on after a crash are counted on the disk, so that one that takes
      // the machine down with it is given up too. Nothing depends on those of any other.
      const durability = openTurns.peek(turnId)?.durable === false ? "normal" : "full";
      return writeTurn(turnId, durability, 0, (open) => writes.start(open));
    },
    async append(turnId, added, durability = "normal") {
      const encoded = encodeAll(added);
      return await writeTurn(
        turnId,
        durability,
        charsOf(encoded),
        (open) => writes.say(open, encoded),
      );
    },
    async addMessage(turnId, message, options = {}) {
      const encoded = encodeAll(options.events ?? []);
      const body = JSON.stringify(message);
      const durability = options.durability ?? defaultDurability(message);
      await writeTurn(turnId, durability, charsOf(encoded) + body.length, (open) => {
        writes.say(open, encoded);
        writes.tell(open, message, body);
      });
    },
    end(turnId, end) {
      return writeTurn(turnId, "full", 0, (open) => writes.end(open, end));
    },
    requeue: (turnId) =>
      writeTurn(turnId, "full", 0, (open) => turns.requeue(open.turn, { crashed: false })),
    async compact(turnId, summary, keepFrom) {
      checkInteger("keepFrom", keepFrom, 1);
      await writeTurn(
        turnId,
        "normal",
        summary.length,
        (open) => writes.compact(open, summary, keepFrom),
      );
    },

    context: (sessionId) => messages.context(sessionId),
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
    follow: (sessionId, options) => followers.follow(sessionId, options),
    whenMade: (key, call) => keyFollowers.whenMade(key, call),
    followKey: (key, options) => keyFollowers.follow(key, options),
    epoch: (key) => epochs.of(key),

    responses: {
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
    },
    hasFile: (sha256) => files.has(sha256),
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

    deliveries,
    missed,
    automations,

    session: (key) => sessions.find(key),
    turn: (id) => turns.find(id),
    turns(sessionId, afterRowid, limit) {
      checkInteger("afterRowid", afterRowid, 0);
      checkInteger("limit", limit, 1);
      return turns.page(sessionId, afterRowid, limit);
    },
    sessions({ limit, before, owner }) {
      checkInteger("limit", limit, 1);
      if (before !== undefined) checkInteger("before", before, 0);
      return sessions.list(limit, before, owner === null ? NO_OWNER : owner);
    },
    deleteSession: (key) => deletion.delete(key),
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
        close();
      }
      return Promise.resolve();
    },
  };
}

function encodeAll(events: readonly AgentEvent[]): EncodedEvent[] {
  return events.map((event) => {
    if (RESERVED.has(event.type)) {
      throw invalid("events", `Cannot append "${event.type}": it has a write of its own`);
    }
    return encodeEvent(event);
  });
}

function charsOf(events: readonly EncodedEvent[]): number {
  return events.reduce((sum, { body }) => sum + body.length, 0);
}

/** Tool results may not be lost once a model has seen them. */
function defaultDurability({ role }: Message): Durability {
  return role === "tool" ? "full" : "normal";
}
