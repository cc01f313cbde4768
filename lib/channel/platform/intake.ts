/**
 * Messages of a platform on their way in. They are on the disk before the platform is told that they
 * came, so that an acknowledgement waits for no model, a process that is killed loses none, and a chat
 * that has too much to do holds up no other.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Log, LogFields } from "../../base/log.ts";
import { NotConnectedError, RetryLaterError } from "../delivery_error.ts";
import { editId } from "./edit_id.ts";
import {
  chatOf,
  type IntakeRow,
  IntakeStore,
  isAside,
  type NewRow,
  toName,
} from "./intake_store.ts";

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
  /** Entries that may wait; default 100,000. `add` waits for room then. */
  maxEntries: number;
  /** Characters of one entry's data; default 1,048,576. A longer one is logged and left out. */
  maxEntryChars: number;
  /** Bytes of data that may wait; default 256 MiB. `add` waits for room then. */
  maxBytes: number;
  /** Lanes that are taken from at the same time; default 48. */
  maxTaking: number;
}

/** What an intake works with. */
export interface IntakeDeps<T> {
  /** The channel's folder. */
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

/** One that has something waiting. */
interface Lane {
  name: string;
  failures: number;
  /** Since when its first entry has not been taken, by the clock's elapsed time. */
  failingSinceMs?: number;
  /** Ends its wait for the next try. */
  cancel?: () => void;
}

/** One for a runtime at a time. */
export class Intake<T> {
  readonly #store: IntakeStore;
  readonly #deps: IntakeDeps<T>;
  readonly #limits: IntakeLimits;
  readonly #closing = new AbortController();
  readonly #lanes = new Map<string, Lane>();
  /** Lanes whose turn comes when a place is free. */
  readonly #ready = new Set<Lane>();
  readonly #taking = new Set<Promise<void>>();
  #isStarted = false;
  #room = Promise.withResolvers<void>();

  private constructor(deps: IntakeDeps<T>) {
    this.#store = new IntakeStore(deps.stateDir);
    this.#deps = deps;
    this.#limits = {
      maxEntries: 100_000,
      maxEntryChars: 1024 * 1024,
      maxBytes: 256 * 1024 * 1024,
      maxTaking: 48,
      ...deps.limits,
    };
  }

  /** Opens the one of a channel's folder, with what was left there. Rejects with what is wrong with it. */
  // deno-lint-ignore require-await -- whoever calls it need not know that SQLite does not wait
  static async open<T>(deps: IntakeDeps<T>): Promise<Intake<T>> {
    return new Intake(deps);
  }

  /** Entries that wait. */
  get size(): number {
    return this.#store.size;
  }

  /** As the last `add` that had it said; undefined before. */
  cursor(name: string): string | undefined {
    return this.#store.cursor(name);
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
    while (rows.length > 0 && this.#isFull()) {
      this.#closing.signal.throwIfAborted();
      await this.#room.promise;
    }
    this.#closing.signal.throwIfAborted();
    this.#store.add(rows, cursors, Math.floor(this.#deps.clock.now()));
    if (!this.#isStarted) return;
    for (const { lane } of rows) this.#wake(lane);
  }

  /** Begins to take, with what was left first. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const lane of this.#store.lanes()) this.#wake(lane);
    this.#tell();
  }

  /** Ends what is being taken; what was not taken stays. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new DOMException("The channel is stopping", "AbortError"));
    for (const { cancel } of this.#lanes.values()) cancel?.();
    this.#lanes.clear();
    this.#ready.clear();
    this.#room.resolve();
    await Promise.all(this.#taking);
    this.#store.close();
  }

  #toRow({ lane, id, editedAt, data }: IntakeEntry<T>): NewRow | undefined {
    const text = JSON.stringify(data);
    const { maxEntryChars } = this.#limits;
    if (text.length > maxEntryChars) {
      this.#deps.log.warning("A message is too long to be taken, and is left out", {
        chat: lane,
        message: id,
        characters: text.length,
        most: maxEntryChars,
      });
      return undefined;
    }
    return { lane: toName(lane), id: toName(editId(id, editedAt)), data: text };
  }

  #isFull(): boolean {
    const store = this.#store;
    const { maxEntries, maxBytes } = this.#limits;
    const seemsFull = () => store.size >= maxEntries || store.bytes >= maxBytes;
    if (!seemsFull()) return false;
    store.count();
    return seemsFull();
  }

  #tell(): void {
    const { aside } = this.#store;
    const messages = aside === 1 ? "1 message" : `${aside} messages`;
    this.#deps.note?.(aside === 0 ? "" : `${messages} could not be taken so far, the log says why`);
  }

  #wake(name: string): void {
    if (this.#lanes.has(name)) return;
    const lane: Lane = { name, failures: 0 };
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
      row = this.#store.next(lane.name);
      if (row === undefined) return void this.#lanes.delete(lane.name);
      await this.#hand(row, lane, signal);
      // Taken: if the process ends right before, it is taken once more, and known there by its id.
      this.#drop(row, lane);
    } catch (error) {
      if (!signal.aborted) this.#failed(lane, row, error);
    }
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

  /** Of what no process takes any more. Throws what SQLite says. */
  #drop(row: IntakeRow, lane: Lane): void {
    this.#store.remove(row, lane.name);
    this.#room.resolve();
    this.#room = Promise.withResolvers();
    if (isAside(lane.name)) this.#tell();
    this.#goOn(lane);
  }

  #goOn(lane: Lane): void {
    lane.failures = 0;
    lane.failingSinceMs = undefined;
    if (!this.#closing.signal.aborted) this.#ready.add(lane);
  }

  /** A lane that waits holds no place. */
  #failed(lane: Lane, row: IntakeRow | undefined, error: unknown): void {
    const { clock, log } = this.#deps;
    lane.failingSinceMs ??= clock.elapsed();
    const longestMs = isAside(lane.name) ? LONGEST_ASIDE_MS : LONGEST_AGAIN_MS;
    const isPause = error instanceof RetryLaterError && !(error instanceof NotConnectedError);
    const saidMs = isPause ? Math.min(error.retryAfterMs, longestMs) : 0;
    const againMs = Math.min(FIRST_AGAIN_MS * 2 ** Math.min(lane.failures++, 30), longestMs);
    const waitMs = Math.max(againMs, saidMs);
    const details = { ...aboutOf(lane, row?.id), reason: wordsOf(error) };
    try {
      if (row !== undefined && isAside(lane.name)) {
        if (lane.failures >= MIN_ASIDE_TRIES && clock.now() - row.added_at > KEPT_MS) {
          log.warning("A message could not be taken for six days, and is dropped", details);
          return this.#drop(row, lane);
        }
      } else if (row !== undefined && clock.elapsed() - lane.failingSinceMs >= HELD_MS) {
        return this.#setAside(lane, row, details);
      }
    } catch (fault) {
      // The disk is full, say: the next try comes to it again.
      details.reason = wordsOf(fault);
    }
    log.warning("A message could not be taken, and is tried again", { ...details, waitMs });
    lane.cancel = clock.after(waitMs, () => this.#queue(lane));
  }

  /** From now on it has a lane of its own, and holds up its chat no longer. */
  #setAside(lane: Lane, row: IntakeRow, details: LogFields): void {
    const name = this.#store.setAside(row, lane.name);
    const { clock, log } = this.#deps;
    log.warning(
      "A message cannot be taken: its chat goes on without it, and it is tried now and then",
      details,
    );
    this.#tell();
    this.#goOn(lane);
    const aside: Lane = { name, failures: 0 };
    this.#lanes.set(name, aside);
    aside.cancel = clock.after(LONGEST_AGAIN_MS, () => this.#queue(aside));
  }
}

const aboutOf = ({ name }: Lane, id: string | undefined) => ({ chat: chatOf(name), message: id });

const wordsOf = (error: unknown) => error instanceof Error ? error.message : String(error);
