/**
 * Follows what happens on the homeserver. The place that it has read up to is stored with the messages
 * that came up to there, in one step, and the server is asked to go on after that: a process that is
 * killed loses nothing, and nothing is read that is older than the first start.
 *
 * @module
 */

import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import {
  failedCall,
  type IntakeEntry,
  type PlatformSession,
  reasonOf,
  Tries,
} from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import { isPassing, matrixFault } from "../api/matrix_faults.ts";
import type { MatrixApi } from "../api/matrix_api.ts";
import type { RoomEncryption } from "../crypto/room_encryption.ts";
import type { EventReader } from "../inbound/event_reader.ts";
import type { MatrixItem } from "../inbound/heard.ts";
import { fillGap } from "./fill_gap.ts";
import { LIVE_FILTER, SNAPSHOT_FILTER } from "./filters.ts";
import type { Rooms } from "./rooms.ts";
import {
  type InvitedRoom,
  type JoinedRoom,
  type MatrixEvent,
  readSyncAnswer,
  record,
  type SyncAnswer,
} from "./sync_answer.ts";

/** What the loop works with. */
export interface SyncLoopDeps {
  api: Pick<MatrixApi, "sync" | "messages">;
  me: string;
  rooms: Rooms;
  encryption: Pick<RoomEncryption, "open" | "takeSync" | "restarted" | "read" | "late" | "taken">;
  reader: Pick<EventReader, "beginRound" | "read">;
  session: Pick<PlatformSession<MatrixItem>, "receive" | "cursor">;
  log: Pick<Log, "warning">;
  now: () => number;
}

/** How long the server waits for something to happen, milliseconds. */
const POLL_MS = 30_000;

/** Cursors in the intake: the place that was read up to, and when the first start was. */
const CURSOR = "sync";
const BEGUN = "begun";

/** How far the clocks of two servers may be apart, milliseconds. */
const SKEW_MS = 60 * 60_000;

/** Failures of one room's gap, some minutes of them, before the other rooms wait for it no more. */
const GAP_TRIES = 10;

/** Everything rejects as the SDK does, and may be called again then. */
export class SyncLoop {
  readonly #deps: SyncLoopDeps;
  #since: string | undefined;
  /** Whether the last answer is behind what had happened before the start. */
  #isLive = false;
  /** Behind a failure it is not waited for something to happen, so that people see that it is over. */
  #hasFailed = false;
  /** Behind a long absence from many rooms: most of it is fetched room by room then. */
  #isTooLarge = false;
  /** A server that does not know its own place would send the loop round and round. */
  #hasRestarted = false;
  /**
   * Up to where gaps of rooms are on the disk behind the place that was read up to: a round that fails
   * fetches them from there the next time, and not for ever from their beginning.
   */
  readonly #filled = new Map<string, string>();
  /** Rooms that are new behind that place, also to a round that is made again. */
  readonly #entered = new Set<string>();
  readonly #gapTries = new Tries(GAP_TRIES);

  constructor(deps: SyncLoopDeps) {
    this.#deps = deps;
  }

  /** Learns how the rooms are. Where nothing was read before, it begins now. */
  async begin(): Promise<void> {
    const { session, now } = this.#deps;
    const since = session.cursor(CURSOR);
    await this.#takeSnapshot(since, since === undefined ? { [BEGUN]: String(now()) } : {});
  }

  /** How the rooms are now. `since`: the place to go on from; absent: from now. */
  async #takeSnapshot(since?: string, cursors: Record<string, string> = {}): Promise<void> {
    const { api, session, encryption } = this.#deps;
    const answer = readSyncAnswer(
      await api.sync({ since: undefined, filter: SNAPSHOT_FILTER, timeoutMs: 0 }),
    );
    const place = since ?? answer.nextBatch;
    const entries = this.#takeRooms(answer);
    // From an earlier place the same keys come once more.
    if (since === undefined) await encryption.takeSync(answer);
    else await encryption.open();
    await session.receive(entries, { [CURSOR]: place, ...cursors });
    this.#since = place;
  }

  /** Waits for one answer, and resolves when it is on the disk. */
  async round(): Promise<void> {
    const { api, session, encryption } = this.#deps;
    const since = this.#since!;
    let json;
    try {
      const timeoutMs = this.#isLive && !this.#hasFailed ? POLL_MS : 0;
      const filter = this.#isTooLarge ? SNAPSHOT_FILTER : LIVE_FILTER;
      json = await api.sync({ since, filter, timeoutMs });
      this.#hasFailed = this.#isTooLarge = false;
    } catch (error) {
      this.#hasFailed = true;
      const fault = matrixFault(error);
      const { code, status } = failedCall(fault) ?? {};
      const isRefused = fault instanceof PermanentDeliveryError;
      this.#isTooLarge ||= isRefused && code === "M_TOO_LARGE";
      if (!isRefused || status !== 400 || this.#hasRestarted) throw error;
      return await this.#restart(fault.message);
    }
    const answer = readSyncAnswer(json);
    for (const { roomId } of answer.joined) {
      if (!this.#deps.rooms.has(roomId)) this.#entered.add(roomId);
    }
    const entries = this.#takeRooms(answer);
    // Before anything is read by them, and before the place moves on.
    await encryption.takeSync(answer);
    this.#deps.reader.beginRound();
    const late = await encryption.late();
    for (const { roomId, event } of late) entries.push(...await this.#item(roomId, event));
    for (const room of answer.joined) {
      // One that was entered while nobody looked is told by its invite.
      if (this.#entered.has(room.roomId) || wasInvited(room.timeline, this.#deps.me)) {
        entries.push(...await this.#read(room.roomId, sinceInvite(room.timeline, this.#deps.me)));
        continue;
      }
      await this.#fill(room, since);
      entries.push(...await this.#read(room.roomId, room.timeline));
    }
    await session.receive(entries, { [CURSOR]: answer.nextBatch });
    for (const { event } of late) encryption.taken(event.eventId);
    this.#since = answer.nextBatch;
    this.#filled.clear();
    this.#entered.clear();
    this.#isLive = true;
    this.#hasRestarted = false;
  }

  /** What is to be done about invites. */
  #takeRooms({ joined, invited, left, direct }: SyncAnswer): IntakeEntry<MatrixItem>[] {
    const { rooms, me } = this.#deps;
    if (direct !== undefined) rooms.takeDirect(direct);
    for (const roomId of left) rooms.leave(roomId);
    for (const room of joined) rooms.take(room);
    return invited.map((room) => inviteOf(room, me));
  }

  async #read(roomId: string, events: readonly MatrixEvent[]): Promise<IntakeEntry<MatrixItem>[]> {
    const entries: IntakeEntry<MatrixItem>[] = [];
    for (const event of events) {
      const plain = await this.#deps.encryption.read(roomId, event);
      if (plain !== undefined) entries.push(...await this.#item(roomId, plain));
    }
    return entries;
  }

  async #item(roomId: string, event: MatrixEvent): Promise<IntakeEntry<MatrixItem>[]> {
    const item = await this.#deps.reader.read(roomId, event, this.#isLive);
    return item === undefined ? [] : [entryOf(item)];
  }

  /** Brings to the disk what was missed in a room: what is known there by its id is no second one. */
  async #fill({ roomId, isLimited, prevBatch }: JoinedRoom, since: string): Promise<void> {
    if (!isLimited || prevBatch === undefined) return;
    const to = this.#filled.get(roomId) ?? since;
    const entries = await this.#read(roomId, await this.#missed(roomId, prevBatch, to));
    await this.#deps.session.receive(entries);
    this.#filled.set(roomId, prevBatch);
  }

  async #missed(roomId: string, from: string, to: string): Promise<MatrixEvent[]> {
    const { api, log, session } = this.#deps;
    let gap;
    try {
      gap = await fillGap(api, { roomId, from, to });
    } catch (error) {
      const fault = matrixFault(error);
      if (!isPassing(fault) || !this.#gapTries.isLast(roomId)) throw error;
      log.warning("What was written in a room meanwhile cannot be fetched, and is left out", {
        room: roomId,
        reason: reasonOf(fault),
      });
      return [];
    }
    this.#gapTries.forget(roomId);
    const { isCut } = gap;
    const events = wasInvited(gap.events, this.#deps.me)
      ? sinceInvite(gap.events, this.#deps.me)
      : gap.events;
    if (isCut) {
      log.warning("More was written in a room than could be fetched; the oldest is left out", {
        room: roomId,
        fetched: gap.events.length,
      });
    }
    // A server that knows no end of a gap gives what is older than the first start, too.
    const begunMs = Number(session.cursor(BEGUN) ?? 0);
    // A clock that was ahead at the first start would take everything for older.
    const leastMs = begunMs > this.#deps.now() ? 0 : begunMs - SKEW_MS;
    return events.filter(({ sentAt = Infinity }) => sentAt >= leastMs);
  }

  /** The server was set up anew, or has thrown its places away. */
  async #restart(reason: string): Promise<void> {
    this.#hasRestarted = true;
    await this.#deps.encryption.restarted();
    await this.#takeSnapshot();
    this.#deps.log.warning("The homeserver does not know how far was read; it goes on from now", {
      reason,
    });
    this.#filled.clear();
    this.#entered.clear();
  }
}

/** Of a room that was just entered: what was said to whoever was invited, and not what stood there before. */
function sinceInvite(timeline: MatrixEvent[], me: string): MatrixEvent[] {
  // In one that it has been in before, all that was said until then is old.
  const left = timeline.findLastIndex((event) => isMember(event, me, "leave", "ban"));
  const since = timeline.slice(left + 1);
  return since.slice(since.findIndex((event) => isMember(event, me, "invite", "join")) + 1);
}

/** Nobody who is in a room is invited to it. */
function wasInvited(timeline: readonly MatrixEvent[], me: string): boolean {
  return timeline.some((event) => isMember(event, me, "invite"));
}

function isMember(
  { type, stateKey, content }: MatrixEvent,
  userId: string,
  ...memberships: readonly string[]
): boolean {
  return type === "m.room.member" && stateKey === userId &&
    memberships.includes(String(content.membership));
}

function inviteOf({ roomId, events }: InvitedRoom, me: string): IntakeEntry<MatrixItem> {
  const inviter = events.findLast(({ type, state_key, content }) =>
    type === "m.room.member" && state_key === me && record(content).membership === "invite"
  )?.sender;
  const isEncrypted = events.some(({ type }) => type === "m.room.encryption");
  return entryOf({ task: "invite", roomId, inviter: String(inviter ?? ""), isEncrypted });
}

function entryOf(item: MatrixItem): IntakeEntry<MatrixItem> {
  // Once: what waits already is no second one.
  if ("task" in item) return { lane: `${item.task} ${item.roomId}`, id: item.task, data: item };
  return { lane: item.chatId, id: item.eventId, data: item };
}
