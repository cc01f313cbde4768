/**
 * An intake's store in memory, which outlives the channel as the service's journal does.
 *
 * @module
 */

import type {
  IntakeCursors,
  IntakeRow,
  IntakeState,
  IntakeStore,
  NewIntakeRow,
} from "../../contract/intake_store.ts";

export class MemoryIntake implements IntakeStore {
  cursors: Record<string, string> = {};
  /** Everything that was ever added. */
  readonly heard: NewIntakeRow[] = [];
  /** While it is set, nothing is changed, and each call says so. */
  fault: Error | undefined;
  readonly #now: () => number;
  /** By lane; those of each in the order in which they came. */
  #rows = new Map<string, IntakeRow[]>();
  #lastSeq = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** What waits, in the order in which it came. */
  get rows(): IntakeRow[] {
    return [...this.#rows.values()].flat().sort((a, b) => a.seq - b.seq);
  }

  /** One with the same in it. */
  copy(): MemoryIntake {
    const copy = new MemoryIntake(this.#now);
    copy.cursors = { ...this.cursors };
    for (const [lane, rows] of this.#rows) copy.#rows.set(lane, rows.map((row) => ({ ...row })));
    copy.#lastSeq = this.#lastSeq;
    return copy;
  }

  state(): Promise<IntakeState> {
    const lanes = [...new Set(this.rows.map(({ lane }) => lane))];
    return Promise.resolve({ lanes, cursors: { ...this.cursors } });
  }

  async add(rows: readonly NewIntakeRow[], cursors: IntakeCursors): Promise<void> {
    await this.#commit();
    this.heard.push(...rows);
    for (const row of rows) {
      const lane = this.#rows.getOrInsert(row.lane, []);
      if (lane.some(({ id }) => id === row.id)) continue;
      lane.push({ ...row, seq: ++this.#lastSeq, addedAt: this.#now() });
    }
    Object.assign(this.cursors, cursors);
  }

  async next(lane: string, taken?: number): Promise<IntakeRow | undefined> {
    if (taken !== undefined) {
      await this.#commit();
      this.#remove(lane, taken);
    }
    return this.#rows.get(lane)?.[0];
  }

  async move(lane: string, seq: number, to: string): Promise<void> {
    await this.#commit();
    const row = this.#remove(lane, seq);
    if (row !== undefined) this.#rows.getOrInsert(to, []).push({ ...row, lane: to });
  }

  #remove(lane: string, seq: number): IntakeRow | undefined {
    const rows = this.#rows.get(lane) ?? [];
    const at = rows.findIndex((row) => row.seq === seq);
    const [row] = at === -1 ? [] : rows.splice(at, 1);
    if (rows.length === 0) this.#rows.delete(lane);
    return row;
  }

  /** Without a timer: a channel that is closed meanwhile leaves nothing behind. */
  async #commit(): Promise<void> {
    await Promise.resolve();
    if (this.fault !== undefined) throw this.fault;
  }
}
