/**
 * Where the messages of a channel wait until they are taken. The service's journal holds them, and how far
 * the channel has read, so that both are on the disk together.
 *
 * @module
 */

/** A message that comes. */
export interface NewIntakeRow {
  /** Rows of one lane are taken one after the other: the chat. */
  lane: string;
  /** One of a lane that still waits under it makes it a repeat. */
  id: string;
  /** JSON. */
  data: string;
}

/** A message that waits. */
export interface IntakeRow extends NewIntakeRow {
  seq: number;
  /** Milliseconds since 1970. */
  addedAt: number;
}

/** Names of places in what a channel reads, and the places. */
export type IntakeCursors = Readonly<Record<string, string>>;

/** What a channel finds when it starts. */
export interface IntakeState {
  /** In which something waits, the longest wait first. */
  lanes: string[];
  cursors: IntakeCursors;
}

/** Of one channel. A failed call has changed nothing. */
export interface IntakeStore {
  state(): Promise<IntakeState>;
  /** Resolves when rows and cursors are on the disk, all or none. Waits while there is no room. */
  add(rows: readonly NewIntakeRow[], cursors: IntakeCursors): Promise<void>;
  /**
   * The next of a lane; `taken` is done and removed before. If the process ends right after, it may be there
   * once more.
   */
  next(lane: string, taken?: number): Promise<IntakeRow | undefined>;
  /** Puts one of a lane into another. */
  move(lane: string, seq: number, to: string): Promise<void>;
}

/** Characters of a lane, an id, and the name of a cursor. */
export const MAX_INTAKE_NAME_CHARS = 16_384;

/** Characters of a cursor's place. */
export const MAX_INTAKE_PLACE_CHARS = 65_536;

/** Characters of one row's data. */
export const MAX_INTAKE_DATA_CHARS = 1024 * 1024;
