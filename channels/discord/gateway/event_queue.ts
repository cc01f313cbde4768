/**
 * Deals with the events of the gateway one after the other, and says when there are too many.
 *
 * @module
 */

/** Events that may wait. */
const MAX_EVENTS = 2_000;

/** What a queue works with. */
export interface EventQueueDeps<E> {
  /** What rejects is logged by whoever gave it, and never ends the queue. */
  handle: (event: E) => Promise<void>;
  /** More wait than there is room for: no more may come until `room` resolves. */
  onFull: () => void;
  /** Whether an event says all that the one right before it does; that one is left out then. */
  replaces?: (event: E, last: E) => boolean;
  maxEvents?: number;
}

export class EventQueue<E> {
  readonly #deps: EventQueueDeps<E>;
  readonly #events: E[] = [];
  #working: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: EventQueueDeps<E>) {
    this.#deps = deps;
  }

  /** Takes one; left out when there is no room, as they are given again to whoever resumes. */
  push(event: E): void {
    if (this.#isClosed) return;
    const { maxEvents = MAX_EVENTS, onFull, replaces } = this.#deps;
    const last = this.#events.at(-1);
    if (last !== undefined && replaces?.(event, last) === true) this.#events.pop();
    if (this.#events.length >= maxEvents) return onFull();
    this.#events.push(event);
    this.#working ??= this.#work();
  }

  /** Resolves when nothing waits. */
  async room(): Promise<void> {
    while (this.#working !== undefined) await this.#working;
  }

  /** Drops what waits, and resolves when what is under way is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#events.length = 0;
    await this.room();
  }

  async #work(): Promise<void> {
    // Not within push, whose caller may have more to say of the same event.
    await Promise.resolve();
    for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) {
      await this.#deps.handle(event);
    }
    this.#working = undefined;
  }
}
