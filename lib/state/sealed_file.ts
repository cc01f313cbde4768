/**
 * A small file of state that the authority trusts only as far as it can check it: sealed with a key
 * from another folder, counted up with every change, and missed when it is gone.
 *
 * Reading takes a stat, and the file only when it has changed: another process may change it at any
 * time. Changes are made one at a time over all processes. What is to be told to the audit of a change
 * is in the same write as the change, and stays there until the audit has it.
 *
 * @module
 */

import { writeFileAtomic } from "../base/atomic_write.ts";
import { ServiceError } from "../base/errors.ts";
import { anchorCounter, readAnchor, writeAnchor } from "./anchor.ts";
import type { Change, ChangeRecord, WaitingRecord } from "./change.ts";
import { type Damaged, damagedError, isDamaged } from "./damaged.ts";
import { makePrivate, removeTemporaries, setAside } from "./leftovers.ts";
import type { OperatorAudit } from "./operator_record.ts";
import { openText, sealText } from "./sealed_text.ts";
import { fingerprint, modifiedTime, readBounded } from "./state_disk.ts";
import { makeStateKey, readStateKey, type Seal, STATE_KEY_FILE } from "./state_key.ts";
import type { StateLock } from "./state_lock.ts";

/** How a file is kept. */
export interface SealedFileOptions<T> {
  /** Small letters; the file is `<name>.json`. */
  name: string;
  /** Folders that exist. */
  dir: string;
  keysDir: string;
  lock: StateLock;
  /** The value of a file that was never written. */
  empty: T;
  /** The value, checked; throws for another shape. */
  parse: (value: unknown) => T;
  maxBytes: number;
  /** What an operator types to set a damaged file aside. */
  repair: string;
  now: () => number;
  /** Called when records wait for the audit; does not reject. */
  onRecords?: () => Promise<void>;
  /** Instead of the disk's; for tests. */
  write?: typeof writeFileAtomic;
}

interface State<T> {
  counter: number;
  value: T;
  records: readonly WaitingRecord[];
}

/** Records that wait for the audit; a change that would leave more is refused. */
const MAX_RECORDS = 1_000;

/** For how long a file that was found damaged is not read again unless it changes. */
const DAMAGE_HOLDS_MS = 1_000;

/** One file of state. */
export class SealedFile<T> {
  readonly #options: SealedFileOptions<T>;
  readonly #path: string;
  /** Says what the file's counter was at least, in the key's folder: an older file, or none, is damage. */
  readonly #anchor: string;
  #known: { fingerprint: string; state: State<T> | Damaged; readAt: number } | undefined;
  /** Highest counter that this process has seen. */
  #seen = 0;

  constructor(options: SealedFileOptions<T>) {
    this.#options = options;
    this.#path = `${options.dir}/${options.name}.json`;
    this.#anchor = `${options.keysDir}/operator-${options.name}.json`;
  }

  /** The value, or why there is none. Never throws. */
  read(): { value: T } | Damaged {
    return this.#read();
  }

  /** Whether records of changes wait for the audit, also those of other processes. */
  hasRecords(): boolean {
    const state = this.#read();
    return !isDamaged(state) && state.records.length > 0;
  }

  /**
   * Changes the value as `change` says, which is given the newest one and must not alter it. Resolves
   * when the new value is on the disk. Rejects with `refused` when the file is damaged, and when it
   * cannot be written; the old value then stays.
   */
  async update<R>(change: (value: T) => Change<T, R>): Promise<R> {
    const result = await this.#options.lock.run(async () => {
      const state = this.#readAnew();
      if (isDamaged(state)) throw damagedError(state, this.#options.repair);
      const { value, records = [], result } = change(state.value);
      if (value === undefined) return result;
      if (state.records.length + records.length > MAX_RECORDS) {
        throw new ServiceError(
          "overloaded",
          `${state.records.length} changes of "${this.#path}" wait for the audit; start the ` +
            "service once, so that they are recorded",
        );
      }
      await this.#write(state.counter + 1, value, state.records, records);
      return result;
    });
    if (this.hasRecords()) await this.#options.onRecords?.();
    return result;
  }

  /** Gives the audit what waits for it. What it did not take waits on. */
  async record(audit: OperatorAudit): Promise<void> {
    if (!this.hasRecords()) return;
    await this.#options.lock.run(async () => {
      const state = this.#readAnew();
      if (isDamaged(state)) return;
      let taken = 0;
      try {
        for (const { kind, data, change, at } of state.records) {
          await audit.append(kind, { ...data, change, at });
          taken++;
        }
      } finally {
        if (taken > 0) {
          await this.#write(state.counter + 1, state.value, state.records.slice(taken), []);
        }
      }
    });
  }

  /** Puts in order what a crash left of files of the same folders; once, before their first use. */
  static async open(
    files: readonly SealedFile<unknown>[],
    { dir, keysDir, lock }: Pick<SealedFileOptions<unknown>, "dir" | "keysDir" | "lock">,
  ): Promise<void> {
    await lock.run(async () => {
      const names = [STATE_KEY_FILE];
      for (const { name } of files.map((file) => file.#options)) {
        names.push(`${name}.json`, `operator-${name}.json`);
      }
      await removeTemporaries(dir, names);
      await removeTemporaries(keysDir, names);
      for (const file of files) await file.#settle();
    });
  }

  async #settle(): Promise<void> {
    const state = this.#readAnew();
    if (isDamaged(state) || state.counter === 0) return;
    await makePrivate(this.#path);
    await this.#raiseAnchor(state.counter, await this.#seal());
  }

  /**
   * Sets a damaged file aside and begins with an empty one; false when it is not damaged. With
   * `unusable` also one that is whole: why what it holds is of no use. A damaged key is set aside too;
   * with `keepKey` it stays, and the answer is false.
   */
  async reset(unusable?: string, { keepKey = false } = {}): Promise<boolean> {
    const { name, now, keysDir, empty } = this.#options;
    const wasReset = await this.#options.lock.run(async () => {
      const state = this.#readAnew();
      const reason = isDamaged(state) ? state.damaged : unusable;
      if (reason === undefined) return false;
      const waiting = isDamaged(state) ? [] : state.records;
      const key = readStateKey(keysDir);
      if (key !== undefined && isDamaged(key)) {
        // Without it no other file can be trusted any more; that is for an operator to decide.
        if (keepKey) return false;
        await setAside(`${keysDir}/${STATE_KEY_FILE}`, now());
      }
      const anchored = anchorCounter(readAnchor(this.#anchor), name, await this.#seal());
      // Above every count before, also one that other processes have seen and this one has not.
      const counter = Math.max(anchored ?? 0, this.#seen, now()) + 1;
      if (anchored === undefined) await setAside(this.#anchor, now());
      // With an anchor and no file it counts as damaged, should this end halfway.
      await this.#raiseAnchor(counter - 1, await this.#seal());
      const aside = await setAside(this.#path, now());
      await this.#write(counter, empty, waiting, [
        { kind: "state.reset", data: { file: name, reason, aside } },
      ]);
      return true;
    });
    if (wasReset) await this.#options.onRecords?.();
    return wasReset;
  }

  #readAnew(): State<T> | Damaged {
    if (this.#known !== undefined && isDamaged(this.#known.state)) this.#known = undefined;
    return this.#read();
  }

  #read(): State<T> | Damaged {
    const current = fingerprint(this.#path);
    const known = this.#known;
    if (known !== undefined && known.fingerprint === current) {
      const isFresh = performance.now() - known.readAt < DAMAGE_HOLDS_MS;
      if (isFresh || !isDamaged(known.state)) return known.state;
    }
    const state = this.#load();
    this.#known = { fingerprint: current, state, readAt: performance.now() };
    if (!isDamaged(state)) {
      this.#seen = Math.max(this.#seen, state.counter);
      if (state.records.length > 0) void this.#options.onRecords?.();
    }
    return state;
  }

  /**
   * In this order: a file is written before its anchor and after its key, so none of them is found
   * behind what another process is writing just now.
   */
  #load(): State<T> | Damaged {
    const damaged = (reason: string) => ({ damaged: `"${this.#path}" is damaged: ${reason}` });
    const newer = (reason: string): Damaged => ({
      damaged:
        `"${this.#path}" can't be read: ${reason}. Use the version of this program that wrote ` +
        "it, or a newer one",
      isNewer: true,
    });
    const { keysDir, name, empty, parse } = this.#options;
    const anchor = readAnchor(this.#anchor);
    const text = readBounded(this.#path, this.#options.maxBytes);
    const seal = readStateKey(keysDir);
    if (seal !== undefined && isDamaged(seal)) return seal;
    if (text === undefined) {
      const isNew = anchor === undefined && this.#seen === 0;
      return isNew ? { counter: 0, value: empty, records: [] } : damaged("it is gone");
    }
    if (isDamaged(text)) return damaged(text.damaged);
    if (seal === undefined) return damaged(`its key in "${keysDir}" is gone`);
    const opened = openText(text.text, name, seal);
    if (isDamaged(opened)) return opened.isNewer ? newer(opened.damaged) : damaged(opened.damaged);

    const { counter } = opened;
    const anchored = anchorCounter(anchor, name, seal);
    if (anchored === undefined) {
      return damaged(`what is known of it in "${this.#anchor}" is damaged`);
    }
    const least = Math.max(this.#seen, anchored);
    if (counter < least) return damaged(`it is version ${counter}, and there was version ${least}`);
    // The anchor is never more than one behind, see #write; while this one was read, it may have
    // fallen behind further.
    if (anchored < counter - 1 && this.#anchorIsBehind(counter, seal)) {
      return damaged(`what is known of it in "${this.#anchor}" is older, or gone`);
    }
    try {
      const { value, records } = opened.body as { value: unknown; records: WaitingRecord[] };
      if (!Array.isArray(records)) throw new TypeError("expected a list of records");
      return { counter, value: parse(value), records };
    } catch (error) {
      // It is as it was sealed, so it was not damaged since.
      return newer(`what it holds has not the right shape: ${(error as Error).message}`);
    }
  }

  #anchorIsBehind(counter: number, seal: Seal): boolean {
    const anchored = anchorCounter(readAnchor(this.#anchor), this.#options.name, seal);
    return anchored === undefined || anchored < counter - 1;
  }

  async #write(
    counter: number,
    value: T,
    waiting: readonly WaitingRecord[],
    added: readonly ChangeRecord[],
  ): Promise<void> {
    const { name, maxBytes, now, write = writeFileAtomic } = this.#options;
    const seal = await this.#seal();
    const records = [
      ...waiting,
      ...added.map((each, index) => ({
        ...each,
        change: `${name}:${counter}:${index}`,
        at: now(),
      })),
    ];
    const text = sealText({ name, counter, body: { value, records } }, seal);
    if (new TextEncoder().encode(text).length > maxBytes) {
      throw new ServiceError(
        "too_large",
        `"${this.#path}" would have more than ${maxBytes} bytes; remove some of what it holds`,
      );
    }
    // Versions are told apart by this time, so it rises with each, whatever the clock does.
    const modifiedAt = Math.max(now(), (modifiedTime(this.#path) ?? 0) + 1);
    const replace = () => write(this.#path, text, { mode: 0o600, modifiedAt });
    try {
      await this.#raiseAnchor(counter - 1, seal);
      // Its text is on the disk before the file is replaced, so that a full disk changes neither.
      await writeAnchor({ path: this.#anchor, name, counter, seal, beforeReplace: replace, write });
    } catch (cause) {
      this.#known = undefined;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new ServiceError("internal", `Cannot write "${this.#path}": ${reason}`, {}, { cause });
    }
    this.#seen = Math.max(this.#seen, counter);
    this.#known = {
      fingerprint: fingerprint(this.#path),
      state: { counter, value, records },
      readAt: performance.now(),
    };
  }

  /** A crash between the two writes left the anchor behind. */
  async #raiseAnchor(counter: number, seal: Seal): Promise<void> {
    const { name, write = writeFileAtomic } = this.#options;
    const anchored = anchorCounter(readAnchor(this.#anchor), name, seal) ?? 0;
    if (anchored < counter) await writeAnchor({ path: this.#anchor, name, counter, seal, write });
  }

  async #seal(): Promise<Seal> {
    const { keysDir } = this.#options;
    if (readStateKey(keysDir) === undefined) await makeStateKey(keysDir);
    const seal = readStateKey(keysDir);
    if (seal === undefined) throw new ServiceError("internal", `The key in "${keysDir}" is gone`);
    if (isDamaged(seal)) throw damagedError(seal, this.#options.repair);
    return seal;
  }
}
