/**
 * Messages of a platform on their way in. They are on the disk before the platform is told that they
 * came, so that an acknowledgement waits for no model, a process that is killed loses none, and a chat
 * that has too much to do holds up no other.
 *
 * @module
 */

import { abortable } from "../../base/abortable.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log, LogFields } from "../../base/log.ts";
import {
  type IntakeCursors,
  type IntakeRow,
  type IntakeState,
  type IntakeStore,
  MAX_INTAKE_DATA_CHARS,
  MAX_INTAKE_NAME_CHARS,
  type NewIntakeRow,
} from "../../contract/intake_store.ts";
import { pauseOf } from "./failed_call.ts";
import { editId } from "./edit_id.ts";
import { bringFileAlong } from "./intake_file.ts";
import { storeInSteps } from "./store_in_steps.ts";

/** A message that waits. */
export interface IntakeEntry<T> {
  /** Entries of one lane are taken one after the other: the chat. */
  lane: string;
  /** The platform's id; an entry of its lane with the same that still waits makes it a repeat. */
  id: string;
  /** As `PlatformMessage.editedAt`. */
  editedAt?: string | number;
  /** Plain JSON: all that taking it needs. */
  data: T;
}

/** Bounds of an intake. */
export interface IntakeLimits {
  /** Characters of one entry's data; default 1,048,576. A longer one is logged and left out. */
  maxEntryChars: number;
  /** Lanes that are taken from at the same time; default 48. */
  maxTaking: number;
}

/** What an intake works with. */
export interface IntakeDeps<T> {
  /** Where entries wait, and how far was read. */
  store: IntakeStore;
  /** The channel's folder: versions before this one kept them there. */
  stateDir: string;
  /**
   * Hands a message on, and resolves when it is on record there. What rejects is tried again after
   * 1, 2, 4 … 60 s, or when a RetryLaterError says, but for `invalid_request`, which no repeat mends:
   * that is logged and dropped. After a quarter of an hour its lane goes on without it; then it is
   * tried ever more seldom, once an hour at last, and given up after six days.
   */
  take: (data: T, signal: AbortSignal) => Promise<void>;
  /** Is told what somebody should look into, "" when there is nothing any more; as `ChannelHost.setNote`. */
  note?: (text: string) => void;
  clock: Clock;
  log: Pick<Log, "warning">;
  limits?: Partial<IntakeLimits>;
}

const FIRST_AGAIN_MS = 1_000;
const LONGEST_AGAIN_MS = 60_000;
const LONGEST_ASIDE_MS = 60 * 60_000;

/** How long one that cannot be taken holds up its lane. */
const HELD_MS = 15 * 60_000;

/** Shorter than the service knows the ids of what it has taken, so that no late try is a second message. */
const KEPT_MS = 6 * 24 * 60 * 60_000;

/** Tries after which the age of one counts: it is no clock that was set forward. */
const MIN_ASIDE_TRIES = 14;

/** Stands in the name of a lane of one entry, which was set aside from the lane before it. */
const ASIDE = "\u0001";

/** One that has something waiting. */
interface Lane {
  name: string;
  failures: number;
  /** Something came since its next one was asked for. */
  hasMore: boolean;
  /** What was taken and is still there. */
  taken?: number;
  /** Since when its first entry has not been taken, by the clock's elapsed time. */
  failingSinceMs?: number;
  /** Ends its wait for the next try. */
  cancel?: () => void;
}

/** What `add` was given. */
interface Adding {
  rows: NewIntakeRow[];
  cursors: Readonly<Record<string, string>>;
  done: PromiseWithResolvers<void>;
}

/** One for a runtime at a time. */
export class Intake<T> {
  readonly #deps: IntakeDeps<T>;
  readonly #limits: IntakeLimits;
  readonly #closing = new AbortController();
  readonly #cursors: Map<string, string>;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes whose turn comes when a place is free. */
  readonly #ready = new Set<Lane>();
  readonly #taking = new Set<Promise<void>>();
  /** Lanes of what was left by the process before this one. */
  readonly #left: Set<string>;
  #adding: Adding[] = [];
  #isAdding = false;
  #aside: number;
  #isStarted = false;

  private constructor(deps: IntakeDeps<T>, { lanes, cursors }: IntakeState) {
    this.#deps = deps;
    this.#limits = { maxEntryChars: MAX_INTAKE_DATA_CHARS, maxTaking: 48, ...deps.limits };
    this.#cursors = new Map(Object.entries(cursors));
    this.#left = new Set(lanes);
    this.#aside = lanes.filter(isAside).length;
  }

  /** Opens it with what was left. Rejects with what is wrong. */
  static async open<T>(deps: IntakeDeps<T>): Promise<Intake<T>> {
    await bringFileAlong(deps.stateDir, deps.store);
    return new Intake(deps, await deps.store.state());
  }

  /** As the last `add` that had it said; undefined before. */
  cursor(name: string): string | undefined {
    return this.#cursors.get(name);
  }

  /**
   * Resolves when the entries and cursors are on the disk, all or none: the platform may be told so then.
   * Waits while there is no room. What is too long is logged and left out, as it would come again and
   * again with all that stands beside it. Rejects when it is closed.
   */
  async add(
    entries: readonly IntakeEntry<T>[],
    cursors: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const rows = entries.flatMap((entry) => this.#toRow(entry) ?? []);
    this.#closing.signal.throwIfAborted();
    const done = Promise.withResolvers<void>();
    this.#adding.push({ rows, cursors, done });
    void this.#addAll();
    await done.promise;
  }

  /** Begins to take, with what was left first. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const lane of this.#left) this.#wake(lane);
    this.#left.clear();
    this.#tell();
  }

  /** Ends what is being taken; what was not taken stays. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new DOMException("The channel is stopping", "AbortError"));
    for (const { cancel } of this.#lanes.values()) cancel?.();
    this.#ready.clear();
    await Promise.all(this.#taking);
    const done = [...this.#lanes.values()].filter(({ taken }) => taken !== undefined);
    this.#lanes.clear();
    while (done.length > 0) {
      const some = done.splice(0, this.#limits.maxTaking);
      // What stays in spite of that is known by its id.
      await Promise.allSettled(some.map(({ name, taken }) => this.#deps.store.next(name, taken)));
    }
  }

  /** Stores what is to be added; what comes meanwhile goes together, so that a flood costs few commits. */
  async #addAll(): Promise<void> {
    if (this.#isAdding) return;
    this.#isAdding = true;
    while (this.#adding.length > 0) {
      const together = this.#adding.splice(0);
      try {
        // What was under way when it was closed may still be: nothing is stored beside it.
        this.#closing.signal.throwIfAborted();
        await abortable(this.#store(together), this.#closing.signal);
        for (const { done } of together) done.resolve();
      } catch (error) {
        for (const { done } of together) done.reject(error);
      }
    }
    this.#isAdding = false;
  }

  async #store(adding: readonly Adding[]): Promise<void> {
    const rows = adding.flatMap((each) => each.rows);
    const cursors: IntakeCursors = Object.assign({}, ...adding.map((each) => each.cursors));
    await storeInSteps(this.#deps.store, rows, cursors);
    for (const [name, place] of Object.entries(cursors)) this.#cursors.set(name, place);
    for (const { lane } of rows) {
      if (this.#isStarted) this.#wake(lane);
      else this.#left.add(lane);
    }
  }

  #toRow({ lane, id, editedAt, data }: IntakeEntry<T>): NewIntakeRow | undefined {
    const row = {
      lane: toName(lane),
      id: toName(editId(id, editedAt)),
      data: JSON.stringify(data),
    };
    const { maxEntryChars } = this.#limits;
    if (
      row.data.length <= maxEntryChars && row.lane.length + row.id.length <= MAX_INTAKE_NAME_CHARS
    ) {
      return row;
    }
    this.#deps.log.warning("A message is too long to be taken, and is left out", {
      chat: lane,
      message: id,
      characters: row.data.length,
      most: maxEntryChars,
    });
    return undefined;
  }

  #tell(): void {
    const aside = this.#aside;
    const messages = aside === 1 ? "1 message" : `${aside} messages`;
    this.#deps.note?.(aside === 0 ? "" : `${messages} could not be taken so far, the log says why`);
  }

  #wake(name: string): void {
    const known = this.#lanes.get(name);
    if (known !== undefined) {
      known.hasMore = true;
      return;
    }
    const lane: Lane = { name, failures: 0, hasMore: true };
    this.#lanes.set(name, lane);
    this.#queue(lane);
  }

  #queue(lane: Lane): void {
    this.#ready.add(lane);
    this.#fill();
  }

  /** Gives free places to lanes, who waits longest first. */
  #fill(): void {
    for (const lane of this.#ready) {
      if (this.#taking.size >= this.#limits.maxTaking) return;
      this.#ready.delete(lane);
      const taking = this.#take(lane).finally(() => {
        this.#taking.delete(taking);
        if (!this.#closing.signal.aborted) this.#fill();
      });
      this.#taking.add(taking);
    }
  }

  /** Takes the next of a lane, and puts the lane behind the others. Never rejects. */
  async #take(lane: Lane): Promise<void> {
    const { signal } = this.#closing;
    let row: IntakeRow | undefined;
    try {
      row = await this.#next(lane);
      if (row === undefined || signal.aborted) return;
      await this.#hand(row, lane, signal);
      // Taken: if the process ends before it is removed, it is taken once more, and known there by its id.
      this.#done(row, lane);
    } catch (error) {
      if (!signal.aborted) await this.#failed(lane, row, error);
    }
  }

  /** Removes what was taken of a lane; gives what is next, and forgets the lane where nothing is. */
  async #next(lane: Lane): Promise<IntakeRow | undefined> {
    const { taken } = lane;
    lane.hasMore = false;
    const row = await this.#deps.store.next(lane.name, taken);
    lane.taken = undefined;
    if (taken !== undefined && isAside(lane.name)) {
      this.#aside -= 1;
      this.#tell();
    }
    if (row !== undefined || this.#closing.signal.aborted) return row;
    if (lane.hasMore) this.#ready.add(lane);
    else this.#lanes.delete(lane.name);
    return undefined;
  }

  /** Rejects for what another try may mend. */
  async #hand({ id, data }: IntakeRow, lane: Lane, signal: AbortSignal): Promise<void> {
    let entry: T;
    try {
      entry = JSON.parse(data);
    } catch (error) {
      return this.#deps.log.warning("A message on the disk is damaged, and is dropped", {
        ...aboutOf(lane, id),
        reason: wordsOf(error),
      });
    }
    try {
      await this.#deps.take(entry, signal);
    } catch (error) {
      if (signal.aborted || (error as { code?: unknown } | null)?.code !== "invalid_request") {
        throw error;
      }
      this.#deps.log.warning("A message cannot be taken, and is dropped", {
        ...aboutOf(lane, id),
        reason: wordsOf(error),
      });
    }
  }

  /** Nobody takes it any more; it is removed when the lane's next one is asked for. */
  #done({ seq }: IntakeRow, lane: Lane): void {
    lane.taken = seq;
    this.#goOn(lane);
  }

  #goOn(lane: Lane): void {
    lane.failures = 0;
    lane.failingSinceMs = undefined;
    if (!this.#closing.signal.aborted) this.#ready.add(lane);
  }

  /** A lane that waits holds no place. */
  async #failed(lane: Lane, row: IntakeRow | undefined, error: unknown): Promise<void> {
    const { clock, log } = this.#deps;
    lane.failingSinceMs ??= clock.elapsed();
    const longestMs = isAside(lane.name) ? LONGEST_ASIDE_MS : LONGEST_AGAIN_MS;
    const againMs = Math.min(FIRST_AGAIN_MS * 2 ** Math.min(lane.failures++, 30), longestMs);
    const waitMs = Math.max(againMs, Math.min(pauseOf(error), longestMs));
    const details = { ...aboutOf(lane, row?.id), reason: wordsOf(error) };
    if (row !== undefined && isAside(lane.name)) {
      if (lane.failures >= MIN_ASIDE_TRIES && clock.now() - row.addedAt > KEPT_MS) {
        log.warning("A message could not be taken for six days, and is dropped", details);
        return this.#done(row, lane);
      }
    } else if (row !== undefined && clock.elapsed() - lane.failingSinceMs >= HELD_MS) {
      try {
        return await this.#setAside(lane, row, details);
      } catch (fault) {
        // The disk is full, say: the next try comes to it again.
        details.reason = wordsOf(fault);
      }
    }
    if (this.#closing.signal.aborted) return;
    log.warning("A message could not be taken, and is tried again", { ...details, waitMs });
    lane.cancel = clock.after(waitMs, () => this.#queue(lane));
  }

  /** From now on it has a lane of its own, and holds up its chat no longer. */
  async #setAside(lane: Lane, row: IntakeRow, details: LogFields): Promise<void> {
    const { store, clock, log } = this.#deps;
    const name = `${lane.name}${ASIDE}${row.seq}`;
    await store.move(lane.name, row.seq, name);
    log.warning(
      "A message cannot be taken: its chat goes on without it, and it is tried now and then",
      details,
    );
    this.#aside += 1;
    this.#tell();
    this.#goOn(lane);
    const aside: Lane = { name, failures: 0, hasMore: true };
    this.#lanes.set(name, aside);
    if (this.#closing.signal.aborted) return;
    aside.cancel = clock.after(LONGEST_AGAIN_MS, () => this.#queue(aside));
  }
}

/** Whether a lane is that of one entry, which was set aside. */
const isAside = (lane: string) => lane.includes(ASIDE);

/** As SQLite gives it back: what it would cut or replace would never be found again. */
function toName(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.toWellFormed().replace(/[\u0000\u0001]/g, "\ufffd");
}

const aboutOf = ({ name }: Lane, id: string | undefined) => ({
  chat: name.split(ASIDE)[0],
  message: id,
});

const wordsOf = (error: unknown) => error instanceof Error ? error.message : String(error);
