/**
 * Chunks of a fast body, several at a time.
 *
 * A model server sends every token by itself, and each chunk passes a handful of streams in the
 * provider's package, a commit, and a write to whoever reads the answer. When tokens come faster than
 * that, what has come meanwhile is handed on together, so that the work is done once for all of it.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import type { BodyReader } from "./body_reader.ts";

/** Longest time that bytes are kept back, milliseconds: half of what a screen shows a picture for. */
const MAX_GATHER_MS = 8;
/** The same as a part of the time since the first of them, so that the first tokens pass at once. */
const MAX_GATHER_SHARE = 0.25;
/** Bytes after which no more are gathered. */
const MAX_GATHER_BYTES = 64 * 1024;

/** Bytes that there is room for at first: some twenty tokens. */
const FIRST_BYTES = 4 * 1024;

/** What {@linkcode gathered} takes; the defaults are for the program. */
export interface GatherDeps {
  /** Milliseconds since some moment. */
  now?: () => number;
  /** Calls back once everything that is at hand by now has been handled. */
  soon?: (run: () => void) => void;
}

/**
 * The same bytes in fewer chunks: each is followed by what is at hand already, for a few milliseconds
 * at most. A chunk that nothing follows at once, as is usual, passes at once. An error or the end
 * comes after what was gathered before it. At most one chunk is read ahead of whoever reads. The bytes of
 * the reader itself need be good only until its next read.
 */
export function gathered(
  reader: BodyReader,
  { now = () => performance.now(), soon = afterTwoTurns }: GatherDeps = {},
): BodyReader {
  let firstMs: number | undefined;
  const turn = () => new Promise<void>(soon);
  let held = new Uint8Array(FIRST_BYTES);
  let bytes = 0;
  let ended: { error?: unknown } | undefined;
  let pulling: Promise<void> | undefined;
  let gathers = false;

  function hold(chunk: Uint8Array): void {
    if (bytes + chunk.length > held.length) {
      const larger = new Uint8Array(2 * (bytes + chunk.length));
      larger.set(held.subarray(0, bytes));
      held = larger;
    }
    held.set(chunk, bytes);
    bytes += chunk.length;
  }

  /** Reads one chunk, and those behind it while they are gathered. */
  async function pull(): Promise<void> {
    try {
      do {
        const { done, value } = await reader.read();
        if (done) ended = {};
        else hold(value);
      } while (gathers && ended === undefined && bytes < MAX_GATHER_BYTES);
    } catch (error) {
      ended = { error };
    }
    pulling = undefined;
  }

  return {
    async read() {
      while (bytes === 0 && ended === undefined) await (pulling ??= pull());
      if (bytes === 0) {
        if (!("error" in ended!)) return { done: true, value: undefined };
        // Streams drop what is still on its way when an error comes, and that was said.
        await turn();
        throw ended.error;
      }
      const nowMs = now();
      const ageMs = nowMs - (firstMs ??= nowMs);
      const untilMs = nowMs + Math.min(MAX_GATHER_MS, ageMs * MAX_GATHER_SHARE);
      gathers = nowMs < untilMs;
      for (let seen = 0; seen < bytes && bytes < MAX_GATHER_BYTES && now() < untilMs;) {
        if (ended !== undefined) break;
        pulling ??= pull();
        seen = bytes;
        await turn();
      }
      gathers = false;
      const value = held.slice(0, bytes);
      bytes = 0;
      return { done: false, value };
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

/** What has arrived is handled in the present turn of the event loop or in the next one. */
function afterTwoTurns(run: () => void): void {
  setImmediate(() => setImmediate(run));
}
