/**
 * Updates of a bot that wait to be fetched, with the rules of `getUpdates`: an offset acknowledges what is
 * below it, and one request at a time waits.
 *
 * @module
 */

/** What a request to `getUpdates` comes to. */
export type Poll =
  | { updates: FakeUpdate[] }
  | { conflict: string };

export type FakeUpdate = { update_id: number } & Record<string, unknown>;

const OTHER_REQUEST = "terminated by other getUpdates request; make sure that only one bot " +
  "instance is running";

interface Waiting {
  update: FakeUpdate;
  /** How often it is still given, acknowledged or not. */
  left: number;
}

export class UpdateQueue {
  /** Each update is given so often, as by a server that has lost what it was told. */
  times = 1;
  /** Numbers of updates that were acknowledged, each once. */
  readonly acknowledged: number[] = [];
  #waiting: Waiting[] = [];
  #lastId = 100;
  #poll: PromiseWithResolvers<Poll> | undefined;
  #changed = Promise.withResolvers<void>();
  /** Requests so far. */
  polls = 0;

  get size(): number {
    return this.#waiting.length;
  }

  push(content: Record<string, unknown>): FakeUpdate {
    const update = { update_id: ++this.#lastId, ...content };
    this.again(update);
    return update;
  }

  /** Gives it, whatever was acknowledged. */
  again(update: FakeUpdate): void {
    this.#waiting.push({ update, left: this.times });
    this.#poll?.resolve({ updates: [] });
    this.wake();
  }

  /** The first that waits, for a webhook; it goes when `take` is called. */
  first(): FakeUpdate | undefined {
    return this.#waiting[0]?.update;
  }

  /** The webhook has answered. */
  take(update: FakeUpdate): void {
    const waiting = this.#waiting.find((one) => one.update === update);
    if (waiting !== undefined) this.#acknowledge(waiting);
  }

  async poll(offset: number, timeoutMs: number, ended: AbortSignal): Promise<Poll> {
    this.polls += 1;
    this.interrupt();
    this.wake();
    for (const one of [...this.#waiting]) {
      if (one.update.update_id < offset && this.#given.has(one)) this.#acknowledge(one);
    }
    if (this.#waiting.length === 0 && timeoutMs > 0) {
      const poll = this.#poll = Promise.withResolvers<Poll>();
      const end = () => poll.resolve({ updates: [] });
      const timer = setTimeout(end, timeoutMs);
      ended.addEventListener("abort", end, { once: true });
      const result = await poll.promise;
      clearTimeout(timer);
      if (this.#poll === poll) this.#poll = undefined;
      if ("conflict" in result) return result;
    }
    const given = this.#waiting.slice(0, 100);
    for (const one of given) this.#given.add(one);
    return { updates: given.map(({ update }) => update) };
  }

  /** Another request has come. */
  interrupt(conflict = OTHER_REQUEST): void {
    this.#poll?.resolve({ conflict });
  }

  /** Ends the request that waits. */
  release(): void {
    this.#poll?.resolve({ updates: [] });
  }

  /** Resolves as soon as something has come or was asked for. */
  changed(): Promise<void> {
    return this.#changed.promise;
  }

  wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  readonly #given = new Set<Waiting>();

  #acknowledge(waiting: Waiting): void {
    const { update_id: id } = waiting.update;
    if (!this.acknowledged.includes(id)) this.acknowledged.push(id);
    this.#given.delete(waiting);
    waiting.left -= 1;
    if (waiting.left <= 0) this.#waiting = this.#waiting.filter((one) => one !== waiting);
    this.wake();
  }
}
