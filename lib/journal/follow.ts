import type { StoredEvent } from "../contract/events.ts";
import { checkInteger } from "./checks.ts";
import { decodeRow, type EventRow } from "./event_rows.ts";
import type { FollowOptions } from "../contract/journal.ts";

/** What followers read from. */
export interface FollowSource {
  /** The session's last committed seq. */
  head(sessionId: number): number;
  page(sessionId: number, afterSeq: number): EventRow[];
  exists(sessionId: number): boolean;
}

/** The readers of a journal. */
export interface Followers {
  follow(sessionId: number, options: FollowOptions): AsyncIterable<StoredEvent>;
  /** Whether someone who is not patient follows the session, waiting or not. */
  isFollowed(sessionId: number): boolean;
  /** Whether someone waits for news of the session. */
  has(sessionId: number): boolean;
  /** Hands what was just committed to those that wait for it. */
  deliver(sessionId: number, events: readonly StoredEvent[]): void;
  /** Ends those that wait for a session, or all of them for good. */
  end(sessionId: number): void;
  endAll(): void;
  /** How many wait. */
  waiting(): number;
}

/**
 * The followers of a journal's events.
 *
 * A follower is known here only while it waits for news; otherwise it is nothing but its own place, and
 * counted, so one that is slow, or was dropped without a word, holds nothing up.
 * One that has seen everything is handed the events of a commit as they are; any other reads pages.
 */
export function createFollowers(source: FollowSource): Followers {
  const waiting = new Map<number, Set<Follower>>();
  /** Followers that have not ended and are not patient, by session. */
  const open = new Map<number, number>();
  let ended = false;

  function count(sessionId: number, more: number): void {
    const followers = (open.get(sessionId) ?? 0) + more;
    if (followers === 0) open.delete(sessionId);
    else open.set(sessionId, followers);
  }

  function take(sessionId: number): Iterable<Follower> {
    const found = waiting.get(sessionId) ?? [];
    waiting.delete(sessionId);
    return found;
  }

  function end(sessionId: number): void {
    for (const follower of take(sessionId)) follower.return();
  }

  return {
    follow(sessionId, options) {
      checkInteger("afterSeq", options.afterSeq, 0);
      return {
        [Symbol.asyncIterator]() {
          const weight = options.patient ? 0 : 1;
          count(sessionId, weight);
          return new Follower(source, sessionId, options, {
            isEnded: () => ended,
            close: () => count(sessionId, -weight),
            enter(follower) {
              const others = waiting.get(sessionId);
              if (others) others.add(follower);
              else waiting.set(sessionId, new Set([follower]));
            },
            leave(follower) {
              const others = waiting.get(sessionId);
              if (others?.delete(follower) && others.size === 0) waiting.delete(sessionId);
            },
          });
        },
      };
    },
    isFollowed: (sessionId) => open.has(sessionId),
    has: (sessionId) => waiting.has(sessionId),
    deliver(sessionId, events) {
      for (const follower of take(sessionId)) follower.wake(events);
    },
    end,
    endAll() {
      ended = true;
      for (const sessionId of [...waiting.keys()]) end(sessionId);
    },
    waiting: () => waiting.values().reduce((sum, followers) => sum + followers.size, 0),
  };
}

/** Where a follower waits. */
interface WaitingRoom {
  isEnded(): boolean;
  /** Called once, when it has come to its end. */
  close(): void;
  enter(follower: Follower): void;
  leave(follower: Follower): void;
}

type Result = IteratorResult<StoredEvent, undefined>;

const DONE: Result = { done: true, value: undefined };

/**
 * One reader of one session. Written by hand and not as a generator, whose `return` would wait for a
 * pending `next` and so could never end a follower that waits.
 */
class Follower implements AsyncIterator<StoredEvent, undefined> {
  readonly #source: FollowSource;
  readonly #sessionId: number;
  readonly #signal: AbortSignal | undefined;
  readonly #live: boolean;
  readonly #room: WaitingRoom;
  #seq: number;
  #events: readonly StoredEvent[] = [];
  #nextEvent = 0;
  #rows: readonly EventRow[] = [];
  #nextRow = 0;
  #ended = false;
  #wait: PromiseWithResolvers<Result> | undefined;
  readonly #onAbort = () => void this.return();

  constructor(
    source: FollowSource,
    sessionId: number,
    { afterSeq, signal, live = true }: FollowOptions,
    room: WaitingRoom,
  ) {
    this.#source = source;
    this.#sessionId = sessionId;
    this.#signal = signal;
    this.#live = live;
    this.#room = room;
    this.#seq = afterSeq;
  }

  next(): Promise<Result> {
    if (this.#wait) return this.#wait.promise.then(() => this.next());
    try {
      const result = this.#advance();
      return result ? Promise.resolve(result) : this.#waitForNews();
    } catch (error) {
      this.#end();
      return Promise.reject(error);
    }
  }

  return(): Promise<Result> {
    this.#end();
    this.#events = this.#rows = [];
    this.#stopWaiting()?.resolve(DONE);
    return Promise.resolve(DONE);
  }

  /** News of its session; they are its next ones if it has seen all before them. */
  wake(events: readonly StoredEvent[]): void {
    const wait = this.#stopWaiting();
    if (wait === undefined) return;
    if (events[0]?.seq === this.#seq + 1) {
      this.#events = events;
      this.#nextEvent = 0;
    }
    wait.resolve(this.next());
  }

  /** The next event, or the end, or undefined when it has to wait. */
  #advance(): Result | undefined {
    if (this.#ended || this.#signal?.aborted || this.#room.isEnded()) {
      this.return();
      return DONE;
    }
    for (;;) {
      const event = this.#events[this.#nextEvent++];
      if (event !== undefined) {
        this.#seq = event.seq;
        return { done: false, value: event };
      }
      const row = this.#rows[this.#nextRow++];
      if (row !== undefined) {
        this.#events = decodeRow(row, this.#seq);
        this.#nextEvent = 0;
        continue;
      }
      // What was read is let go before a wait of unknown length.
      this.#events = this.#rows = [];
      const head = this.#source.head(this.#sessionId);
      // A session without events may be one that was deleted; one that is being deleted has gaps.
      if ((head > this.#seq || head === 0) && !this.#source.exists(this.#sessionId)) break;
      if (head > this.#seq) {
        this.#rows = this.#source.page(this.#sessionId, this.#seq);
        this.#nextRow = 0;
      } else if (this.#live) {
        return undefined;
      } else {
        break;
      }
    }
    this.#end();
    return DONE;
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#room.close();
  }

  #waitForNews(): Promise<Result> {
    this.#wait = Promise.withResolvers<Result>();
    this.#room.enter(this);
    this.#signal?.addEventListener("abort", this.#onAbort);
    return this.#wait.promise;
  }

  #stopWaiting(): PromiseWithResolvers<Result> | undefined {
    const wait = this.#wait;
    if (wait === undefined) return undefined;
    this.#wait = undefined;
    this.#room.leave(this);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    return wait;
  }
}
