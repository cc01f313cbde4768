import type { StoredEvent } from "../agent/events.ts";
import { checkInteger } from "./checks.ts";
import type { Followers } from "./follow.ts";
import type { FollowOptions, KeyFollow } from "./types.ts";

type KeyFollowOptions = Omit<FollowOptions, "live">;

/** What followers of keys read from. */
export interface KeyFollowSource {
  followers: Pick<Followers, "follow">;
  /** Id of the session of a key, if there is one. */
  find(key: string): number | undefined;
}

/** The readers of sessions that need not be there yet. */
export interface KeyFollowers {
  follow(key: string, options: KeyFollowOptions): KeyFollow;
  /** A session was made, and that is on record. */
  made(key: string): void;
  /** Ends those that wait, for good. */
  endAll(): void;
  /** How many wait for a session. */
  waiting(): number;
}

/**
 * Followers of sessions by their keys. There are thousands of them that wait, one for each idle
 * connection, so each is one object and what all share stands here. One whose session is there is a follower of that session and
 * nothing else; before that it is an entry in a map, which whatever makes the session wakes.
 */
export function createKeyFollowers(source: KeyFollowSource): KeyFollowers {
  const waiting = new Map<string, Set<KeyFollower>>();
  let ended = false;
  const room: WaitingRoom = {
    isEnded: () => ended,
    open(key, options) {
      const id = source.find(key);
      return id === undefined
        ? undefined
        : source.followers.follow(id, options)[Symbol.asyncIterator]();
    },
    enter(key, follower) {
      const others = waiting.get(key);
      if (others) others.add(follower);
      else waiting.set(key, new Set([follower]));
    },
    leave(key, follower) {
      const others = waiting.get(key);
      if (others?.delete(follower) && others.size === 0) waiting.delete(key);
    },
  };

  return {
    follow(key, options) {
      checkInteger("afterSeq", options.afterSeq, 0);
      return new KeyFollower(room, key, options);
    },
    made(key) {
      const woken = waiting.get(key);
      if (woken === undefined) return;
      waiting.delete(key);
      for (const follower of woken) follower.wake();
    },
    endAll() {
      ended = true;
      for (const followers of [...waiting.values()]) {
        for (const follower of [...followers]) follower.return();
      }
    },
    waiting: () => waiting.values().reduce((sum, followers) => sum + followers.size, 0),
  };
}

type Result = IteratorResult<StoredEvent, undefined>;

const DONE: Result = { done: true, value: undefined };

/** Where followers wait for their sessions. */
interface WaitingRoom {
  isEnded(): boolean;
  /** The session's events; undefined while there is none. */
  open(
    key: string,
    options: KeyFollowOptions,
  ): AsyncIterator<StoredEvent, undefined> | undefined;
  enter(key: string, follower: KeyFollower): void;
  leave(key: string, follower: KeyFollower): void;
}

/**
 * One reader of one key, to be gone through once. By hand for the same reason as the follower of a
 * session: `return` ends it at once, also while it waits.
 */
class KeyFollower implements KeyFollow, AsyncIterator<StoredEvent, undefined> {
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
