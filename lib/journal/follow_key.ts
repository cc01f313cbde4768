import type { StoredEvent } from "../agent/events.ts";
import { checkInteger } from "./checks.ts";
import type { Followers } from "./follow.ts";
import type { FollowOptions } from "./types.ts";

/** What followers of keys read from. */
export interface KeyFollowSource {
  followers: Pick<Followers, "follow">;
  /** Id of the session of a key, if there is one. */
  find(key: string): number | undefined;
}

/** The readers of sessions that need not be there yet. */
export interface KeyFollowers {
  follow(key: string, options: Omit<FollowOptions, "live">): AsyncIterable<StoredEvent>;
  /** A session was made, and that is on record. */
  made(key: string): void;
  /** Ends those that wait, for good. */
  endAll(): void;
  /** How many wait for a session. */
  waiting(): number;
}

/**
 * Followers of sessions by their keys. One whose session is there is a follower of that session and
 * nothing else; before that it is an entry in a map, which whatever makes the session wakes.
 */
export function createKeyFollowers(source: KeyFollowSource): KeyFollowers {
  const waiting = new Map<string, Set<KeyFollower>>();
  let ended = false;

  return {
    follow(key, options) {
      checkInteger("afterSeq", options.afterSeq, 0);
      return {
        [Symbol.asyncIterator]: () =>
          new KeyFollower(options, {
            isEnded: () => ended,
            open() {
              const id = source.find(key);
              return id === undefined
                ? undefined
                : source.followers.follow(id, options)[Symbol.asyncIterator]();
            },
            enter(follower) {
              const others = waiting.get(key);
              if (others) others.add(follower);
              else waiting.set(key, new Set([follower]));
            },
            leave(follower) {
              const others = waiting.get(key);
              if (others?.delete(follower) && others.size === 0) waiting.delete(key);
            },
          }),
      };
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

/** Where a follower waits for its session. */
interface WaitingRoom {
  isEnded(): boolean;
  /** The session's events; undefined while there is none. */
  open(): AsyncIterator<StoredEvent, undefined> | undefined;
  enter(follower: KeyFollower): void;
  leave(follower: KeyFollower): void;
}

/** One reader of one key. By hand for the same reason as the follower of a session. */
class KeyFollower implements AsyncIterator<StoredEvent, undefined> {
  readonly #signal: AbortSignal | undefined;
  readonly #room: WaitingRoom;
  #events: AsyncIterator<StoredEvent, undefined> | undefined;
  #wait: PromiseWithResolvers<Result> | undefined;
  #ended = false;
  readonly #onAbort = () => void this.return();

  constructor({ signal }: Pick<FollowOptions, "signal">, room: WaitingRoom) {
    this.#signal = signal;
    this.#room = room;
  }

  next(): Promise<Result> {
    if (this.#events !== undefined) return this.#events.next();
    if (this.#wait !== undefined) return this.#wait.promise.then(() => this.next());
    if (this.#ended || this.#signal?.aborted || this.#room.isEnded()) {
      this.#ended = true;
      return Promise.resolve(DONE);
    }
    try {
      this.#events = this.#room.open();
    } catch (error) {
      this.#ended = true;
      return Promise.reject(error);
    }
    if (this.#events !== undefined) return this.#events.next();
    this.#wait = Promise.withResolvers<Result>();
    this.#room.enter(this);
    this.#signal?.addEventListener("abort", this.#onAbort);
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
    this.#room.leave(this);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    return wait;
  }
}
