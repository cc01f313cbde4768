/**
 * What carries frames between two ends: a message port (`port_transport.ts`), or a pair of byte streams,
 * which is a pipe or a socket (`stream_transport.ts`).
 *
 * @module
 */

/** Everything that two ends say. `bytes` travel beside the JSON of a frame, not in it. */
export type Frame =
  | { type: "call"; id: number; method: string; params?: unknown; bytes?: Bytes; trace?: string }
  /** The caller doesn't wait any more. */
  | { type: "cancel"; id: number }
  /** The caller wants it to end, and waits for how it does. */
  | { type: "stop"; id: number }
  | { type: "answer"; id: number; result?: unknown }
  | { type: "error"; id: number; error: unknown }
  | { type: "progress"; id: number; value?: unknown; bytes?: Bytes }
  /** So many values of progress were taken; so many more may come. */
  | { type: "more"; id: number; count: number }
  | { type: "notice"; name: string; data?: unknown };

/** Values of progress that a call may be told before it has taken them. */
export const WINDOW = 256;

/** Bytes that go with a call, or are what it tells. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** One side of it. Frames come in the order in which they were sent. */
export interface Transport {
  /**
   * Begins to read. `closed` is called once, when nothing more comes, with why; not after
   * {@linkcode Transport.close}.
   */
  open(take: (frame: unknown) => void, closed: (reason: string) => void): void;
  /**
   * Throws a RangeError for a frame over the bound, and a TypeError or DataCloneError for what isn't
   * plain data; nothing was sent then.
   */
  send(frame: Frame, transfer?: readonly Transferable[]): void;
  /** While the other end is behind in reading: resolves when it has caught up, or when this is closed. */
  drained?(): Promise<void> | undefined;
  /** Sends and reads nothing more. */
  close(): void;
}
