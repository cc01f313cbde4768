import type { StoredEvent } from "../contract/events.ts";
import { checkInteger } from "./checks.ts";
import type { Followers } from "./follow.ts";
import type { FollowOptions, KeyFollow, Waiting } from "../contract/journal.ts";

type KeyFollowOptions = Omit<FollowOptions, "live">;

/** What followers of keys read from. */
export interface KeyFollowSource {
  followers: Pick<Followers, "follow">;
  /** Id of the session of a key, if there is one. */
  find(key: string): number | undefined;
}

/** The readers of sessions that need not be there yet. */
export interface KeyFollowers {
  whenMade(key: string, call: () => void): Waiting | undefined;
  follow(key: string, options: KeyFollowOptions): KeyFollow;
  /** A session was made, and that is on record. */
  made(key: string): void;
  /** Ends those that wait, for good. */
  endAll(): void;
  /** How many wait for a session. */
  waiting(): number;
}

/**
 * Followers of sessions by their keys. One whose session is there is a follower of that session and
 * nothing else; before that it is an entry in a map, which whatever makes the session wakes. Thousands
 * may wait, one for each idle connection, so what all share stands here.
 */
export function createKeyFollowers(source: KeyFollowSource): KeyFollowers {
  const waiting = new Map<string, Set<Waiter>>();
  let ended = false;
  const room: WaitingRoom = {
    isEnded: () => ended,
    open(key, options) {
      const id = source.find(key);
      return id === undefined
        ? undefined
        : source.followers.follow(id, options)[Symbol.asyncIterator]();
    },
    enter(key, waiter) {
      const others = waiting.get(key);
      if (others) others.add(waiter);
      else waiting.set(key, new Set([waiter]));
    },
    leave(key, waiter) {
      const others = waiting.get(key);
      if (others?.delete(waiter) && others.size === 0) waiting.delete(key);
    },
  };

  return {
    whenMade(key, call) {
      if (source.find(key) !== undefined) return undefined;
      const caller = new Caller(room, key, call);
      if (!ended) room.enter(key, caller);
      return caller;
    },
    follow(key, options) {
      checkInteger("afterSeq", options.afterSeq, 0);
      return new KeyFollower(room, key, options);
    },
    made(key) {
      const woken = waiting.get(key);
      if (woken === undefined) return;
      waiting.delete(key);
      for (const waiter of woken) waiter.wake();
    },
    endAll() {
      ended = true;
      for (const waiters of [...waiting.values()]) {
        for (const waiter of [...waiters]) waiter.return();
      }
    },
    waiting: () => waiting.values().reduce((sum, waiters) => sum + waiters.size, 0),
  };
}

type Result = IteratorResult<StoredEvent, undefined>;

const DONE: Result = { done: true, value: undefined };

/** Who waits for a session. */
interface Waiter {
  /** It is there. */
  wake(): void;
  return(): unknown;
}

/** Where they wait. */
interface WaitingRoom {
  isEnded(): boolean;
  /** The session's events; undefined while there is none. */
  open(
    key: string,
    options: KeyFollowOptions,
  ): AsyncIterator<StoredEvent, undefined> | undefined;
  enter(key: string, waiter: Waiter): void;
  leave(key: string, waiter: Waiter): void;
}

/** Who wants to be called once. */
class Caller implements Waiter, Waiting {
  readonly #room: WaitingRoom;
  readonly #key: string;
  readonly #call: () => void;

  constructor(room: WaitingRoom, key: string, call: () => void) {
    this.#room = room;
    this.#key = key;
    this.#call = call;
  }

  wake(): void {
    this.#call();
  }

  return(): void {
    this.#room.leave(this.#key, this);
  }
}

/**
 * One reader of one key, to be gone through once. By hand for the same reason as the follower of a
 * session: `return` ends it at once, also while it waits.
 */
class KeyFollower implements Waiter, KeyFollow, AsyncIterator<StoredEvent, undefined> {
  readonly #room: WaitingRoom;
  readonly #key: string;
  readonly #options: KeyFollowOptions;
  #events: AsyncIterator<StoredEvent, undefined> | undefined;
  #wait: PromiseWithResolvers<Result> | undefined;
  #ended = false;
  /** Made when there is a signal to listen to. */
  #onAbort: (() => void) | undefined;

  constructor(room: WaitingRoom, key: string, options: KeyFollowOptions) {
    this.#room = room;
    this.#key = key;
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Result> {
    if (this.#events !== undefined) return this.#events.next();
    if (this.#wait !== undefined) return this.#wait.promise.then(() => this.next());
    const { signal } = this.#options;
    if (this.#ended || signal?.aborted || this.#room.isEnded()) {
      this.#ended = true;
      return Promise.resolve(DONE);
    }
    try {
      this.#events = this.#room.open(this.#key, this.#options);
    } catch (error) {
      this.#ended = true;
      return Promise.reject(error);
    }
    if (this.#events !== undefined) return this.#events.next();
    this.#wait = Promise.withResolvers<Result>();
    this.#room.enter(this.#key, this);
    if (signal !== undefined) {
      this.#onAbort ??= () => void this.return();
      signal.addEventListener("abort", this.#onAbort);
    }
    return this.#wait.promise;
  }

  async return(): Promise<Result> {
    this.#ended = true;
    this.#stopWaiting()?.resolve(DONE);
    await this.#events?.return?.();
    return DONE;
  }

  /** Its session is there. */
  wake(): void {
    this.#stopWaiting()?.resolve(this.next());
  }

  #stopWaiting(): PromiseWithResolvers<Result> | undefined {
    const wait = this.#wait;
    if (wait === undefined) return undefined;
    this.#wait = undefined;
    this.#room.leave(this.#key, this);
    if (this.#onAbort !== undefined) {
      this.#options.signal!.removeEventListener("abort", this.#onAbort);
    }
    return wait;
  }
}
