/**
 * Lanes: jobs of one key run one at a time, in the order in which they entered; jobs of different
 * keys run beside each other.
 *
 * A place is taken before the job is ready (a turn's row is being written meanwhile), so that the
 * order and the bound hold from the first moment. A lane exists only while somebody is in it.
 *
 * @module
 */

import type { Room } from "./room.ts";

/** How many may wait, and who runs a job. */
export interface LanesOptions<Job> {
  /** Places behind the first one of a lane. */
  maxWaiting: number;
  /** Lanes at the same time. */
  maxLanes: number;
  /** What all places take their shares from. */
  room: Room;
  /** Runs a job; the lane goes on when it settles, however it does. */
  run: (job: Job) => Promise<void>;
}

/** A place in a lane. */
export interface Place<Job> {
  /** Nobody is before it. */
  readonly isFirst: boolean;
  /** Hands in the job; it runs when every place before it is gone. */
  fill(job: Job): void;
  /** Gives the place up. False when its job runs or has run: then nothing changes. */
  leave(): boolean;
}

interface Seat<Job> {
  state: "reserved" | "ready" | "running" | "gone";
  job?: Job;
  leaveRoom: () => void;
}

/** All lanes. */
export class Lanes<Job> {
  readonly #options: LanesOptions<Job>;
  readonly #lanes = new Map<string, Seat<Job>[]>();
  readonly #running = new Set<Job>();
  #seats = 0;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(options: LanesOptions<Job>) {
    this.#options = options;
  }

  /** Lanes that somebody is in. */
  get size(): number {
    return this.#lanes.size;
  }

  /** Jobs that run, in the order of their starts. */
  get running(): ReadonlySet<Job> {
    return this.#running;
  }

  /** Places that are taken and whose job does not run. */
  get waiting(): number {
    return this.#seats - this.#running.size;
  }

  /** What is in one lane: the job that runs, and how many places behind it. */
  of(key: string): { running?: Job; waiting: number } {
    const lane = this.#lanes.get(key) ?? [];
    const first = lane[0];
    if (first?.state !== "running") return { waiting: lane.length };
    return { running: first.job!, waiting: lane.length - 1 };
  }

  /** Jobs in one lane, the one that runs first. */
  jobs(key: string): Job[] {
    return (this.#lanes.get(key) ?? []).flatMap(({ job }) => job ?? []);
  }

  /** Jobs that are ready and wait. */
  *ready(): Iterable<Job> {
    for (const lane of this.#lanes.values()) {
      for (const seat of lane) if (seat.state === "ready") yield seat.job!;
    }
  }

  /**
   * Takes the last place of a lane, and `chars` of the room until it is given up or its job has run;
   * undefined when lane or room is full. `always`: beyond the bounds too.
   */
  enter(key: string, { chars = 0, always = false } = {}): Place<Job> | undefined {
    if (!always && !this.#hasPlace(key)) return undefined;
    let lane = this.#lanes.get(key);
    const leaveRoom = this.#options.room.take(chars, { always });
    if (leaveRoom === undefined) return undefined;
    if (lane === undefined) this.#lanes.set(key, lane = []);
    const seat: Seat<Job> = { state: "reserved", leaveRoom };
    lane.push(seat);
    this.#seats += 1;
    return {
      get isFirst() {
        return lane[0] === seat;
      },
      fill: (job) => {
        if (seat.state !== "reserved") return;
        seat.job = job;
        seat.state = "ready";
        this.#advance(key);
      },
      leave: () => {
        if (seat.state === "running" || seat.state === "gone") return false;
        this.#remove(key, seat);
        return true;
      },
    };
  }

  /**
   * Resolves when {@linkcode Lanes.enter} would give a place: at once, or when somebody has left.
   * Whoever asks next may take it. Rejects with the signal's reason.
   */
  async free(key: string, chars: number, signal: AbortSignal): Promise<void> {
    const { room } = this.#options;
    // A place that is given up gives its share of the room back, whatever was too little of.
    while (!this.#hasPlace(key) || !room.fits(chars)) await room.freed(signal);
  }

  #hasPlace(key: string): boolean {
    const lane = this.#lanes.get(key);
    const { maxWaiting, maxLanes } = this.#options;
    return lane === undefined ? this.#lanes.size < maxLanes : lane.length <= maxWaiting;
  }

  /** Resolves when nobody is in any lane. */
  idle(): Promise<void> {
    if (this.#lanes.size === 0) return Promise.resolve();
    this.#idle ??= Promise.withResolvers<void>();
    return this.#idle.promise;
  }

  #advance(key: string): void {
    const seat = this.#lanes.get(key)?.[0];
    if (seat?.state !== "ready") return;
    const job = seat.job!;
    seat.state = "running";
    this.#running.add(job);
    const done = () => {
      this.#running.delete(job);
      this.#remove(key, seat);
    };
    this.#options.run(job).then(done, done);
  }

  #remove(key: string, seat: Seat<Job>): void {
    seat.state = "gone";
    seat.leaveRoom();
    this.#seats -= 1;
    const lane = this.#lanes.get(key)!;
    lane.splice(lane.indexOf(seat), 1);
    if (lane.length > 0) {
      this.#advance(key);
      return;
    }
    this.#lanes.delete(key);
    if (this.#lanes.size === 0) {
      this.#idle?.resolve();
      this.#idle = undefined;
    }
  }
}
