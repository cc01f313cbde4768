/**
 * Frames on a child's side: over standard input and output. A write waits while the pipe is full, which
 * is the child's back-pressure. When standard input ends, the authority is gone and the process exits.
 *
 * In the compiled binary the child runs in a Worker, and the thread that owns the process
 * (`lib/executor/child.ts`) passes the bytes on.
 *
 * @module
 */

import { encodeFrame, FrameReader } from "./frames.ts";
import type { Transport } from "./transport.ts";

/** First message of a Worker: its modules are loaded. */
export const READY = "ready";

/** Last message of a Worker: its process is to end. */
export const ENDED = "ended";

/** Name of a Worker that its process has for itself, streams included. */
export const OWN_PROCESS = "own process";

/** Exit code when the authority's end of the pipe is gone. */
const EXIT_ORPHAN = 3;
/** Exit code when the authority said what it never may. */
const EXIT_PROTOCOL = 4;

type Bytes = Uint8Array<ArrayBuffer>;

interface WorkerScope {
  postMessage?: (message: Bytes | typeof READY | typeof ENDED) => void;
  onmessage: ((event: { data: Bytes }) => void) | null;
}

/**
 * Resolves when this process has the permissions that it is to have: at once where flags have given them,
 * else when the thread that started this Worker has given up its own.
 */
export function whenNarrowed(): Promise<void> {
  const scope = globalThis as unknown as WorkerScope;
  if (typeof scope.postMessage !== "function") return Promise.resolve();
  return new Promise((resolve) => {
    scope.onmessage = () => {
      scope.onmessage = null;
      resolve();
    };
    scope.postMessage!(READY);
  });
}

/** What carries frames between this child and the authority. */
export function childTransport(): Transport {
  const scope = globalThis as unknown as WorkerScope;
  const isWorker = typeof scope.postMessage === "function";
  const frames = new FrameReader();
  return {
    open(take) {
      const push = (chunk: Bytes) => {
        for (const frame of frames.push(chunk)) take(frame);
      };
      if (!isWorker) return readInput(push);
      scope.onmessage = ({ data }) => push(data);
      scope.postMessage!(READY);
    },
    send(frame) {
      for (const bytes of encodeFrame(frame)) {
        if (isWorker) scope.postMessage!(bytes);
        else writeOutput(bytes);
      }
    },
    close() {
      // The thread that owns the process hears of the error, and exits.
      if (isWorker) throw new Error("what the authority said makes no sense");
      Deno.exit(EXIT_PROTOCOL);
    },
  };
}

/** Reads standard input; ends the process when that ends or breaks. */
export function readInput(take: (chunk: Bytes) => void): void {
  const buffer = new Uint8Array(64 * 1024);
  void (async () => {
    for (;;) {
      const count = await Deno.stdin.read(buffer);
      if (count === null) Deno.exit(EXIT_ORPHAN);
      take(buffer.slice(0, count));
    }
  })().catch(() => Deno.exit(EXIT_PROTOCOL));
}

/** Writes to standard output, all of it. */
export function writeOutput(bytes: Bytes): void {
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}
