/**
 * The child's side of the protocol: takes one task, runs it, answers and exits. When standard input
 * ends before, the authority is gone and the child exits too.
 *
 * In the compiled binary the tool runs in a Worker of the child (see `child.ts`), which speaks the
 * same frames as messages.
 *
 * @module
 */

import { cutOutput } from "./cut_output.ts";
import { encodeFrame, FrameReader } from "./frames.ts";
import {
  type ChildFrame,
  type ChildRun,
  type ChildTask,
  MAX_PROGRESS_CHARS,
  PROTOCOL_VERSION,
  type TaskFrame,
} from "./protocol.ts";

/** Serves one task with `run` over standard input and output, or over messages in a Worker. */
export function serveChild(run: ChildRun): void {
  const scope = globalThis as unknown as WorkerScope;
  if (typeof scope.postMessage === "function") {
    scope.onmessage = ({ data }) => void runTask(run, data, (frame) => scope.postMessage!(frame));
    scope.postMessage(READY);
    return;
  }
  let started = false;
  serveInput((value) => {
    if (started) Deno.exit(EXIT_PROTOCOL);
    started = true;
    void runTask(run, value, writeFrame).then(() => Deno.exit(0));
  });
}

/** First message of a Worker: its modules are loaded. */
export const READY = "ready";

/** Exit code when the authority's end of the pipe is gone. */
const EXIT_ORPHAN = 3;
/** Exit code when what came was no task. */
const EXIT_PROTOCOL = 4;

interface WorkerScope {
  postMessage?: (message: ChildFrame | typeof READY) => void;
  onmessage: ((event: { data: unknown }) => void) | null;
}

/** Reads tasks from standard input; ends the process when it ends or breaks. */
export function serveInput(take: (task: unknown) => void): void {
  const reader = new FrameReader();
  const buffer = new Uint8Array(64 * 1024);
  let waiting: TaskFrame | undefined;
  const takeFrame = (value: unknown) => {
    if (waiting !== undefined) {
      take({ ...waiting, payload: value });
      waiting = undefined;
    } else if ((value as TaskFrame | null)?.hasPayload) {
      waiting = value as TaskFrame;
      reader.expectBytes();
    } else {
      take(value);
    }
  };
  void (async () => {
    for (;;) {
      const count = await Deno.stdin.read(buffer);
      if (count === null) Deno.exit(EXIT_ORPHAN);
      for (const value of reader.push(buffer.slice(0, count))) takeFrame(value);
    }
  })().catch(() => Deno.exit(EXIT_PROTOCOL));
}

/** Writes a frame to standard output, whole. Waits while the pipe is full: that is the back-pressure. */
export function writeFrame(frame: ChildFrame): void {
  const bytes = encodeFrame(frame);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

async function runTask(
  run: ChildRun,
  value: unknown,
  send: (frame: ChildFrame) => void,
): Promise<void> {
  const task = value as ChildTask;
  if (task?.v !== PROTOCOL_VERSION) {
    return send({
      type: "failure",
      message: `protocol version is ${task?.v}, expected ${PROTOCOL_VERSION}`,
    });
  }
  try {
    const frame = await run({
      task,
      progress: (text) => send({ type: "progress", text: text.slice(0, MAX_PROGRESS_CHARS) }),
    });
    send(
      frame.type === "result"
        ? { type: "result", output: cutOutput(frame.output, task.maxOutputBytes) }
        : frame,
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    send({ type: "failure", message: cutOutput(message, task.maxOutputBytes) });
  }
}
