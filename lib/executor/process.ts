/**
 * Child processes that run actions: a task goes in, an answer comes out. One that is late or is cancelled is
 * killed, and nothing of its tree is left afterwards.
 *
 * @module
 */

import { ACTION_CHILD, type ChildResult, type ChildTask } from "./action_child.ts";
import { boundedProgress } from "./bounded_progress.ts";
import { MAX_FRAME_BYTES } from "../rpc/frames.ts";
import { ChildEnded, spawnChild, type SpawnedChild } from "./spawn_child.ts";
import { OUT_OF_MEMORY } from "./spawn_process.ts";

/** How a process is started. */
export interface StartOptions {
  argv: readonly string[];
  /** The whole environment. */
  env: Record<string, string>;
  /** Characters of an error's words; more is cut. */
  maxErrorChars: number;
  /** Ends every process. */
  closing: AbortSignal;
}

/** A process that takes tasks, one at a time. */
export type ActionProcess = Pick<
  SpawnedChild<typeof ACTION_CHILD.authority, typeof ACTION_CHILD.child>,
  "peer" | "end" | "gone"
>;

/** One action. */
export interface TaskOptions {
  task: ChildTask;
  /** Goes beside the task. */
  bytes?: Uint8Array<ArrayBuffer>;
  timeoutMs: number;
  /** Cancels it. */
  signal: AbortSignal;
  onProgress: (text: string) => void;
}

/** What came of a task. */
export interface TaskEnd {
  result: ChildOutcome;
  /** The last of the process's standard error. */
  stderr: string;
}

/** What a child answered, or why it didn't. */
export type ChildOutcome =
  | ChildResult
  /** In the child's words, for the model. */
  | { type: "failure"; message: string }
  | { type: "timeout"; timeoutMs: number }
  | Fault;

/** An end without an answer. */
export interface Fault {
  type: "fault";
  message: string;
  /** It took more memory than it may have. */
  outOfMemory?: true;
}

/** Of what a child may say until it answers; more is dropped. */
const PROGRESS = { maxChars: 1024 * 1024, maxTexts: Infinity };

/** Starts a process. Throws when it cannot be started. */
export function startProcess({ argv, env, maxErrorChars, closing }: StartOptions): ActionProcess {
  const child = spawnChild({
    argv,
    env,
    cwd: "/",
    ...ACTION_CHILD,
    handlers: ACTION_CHILD.authority,
    maxErrorChars,
    maxReadBytes: 2 * MAX_FRAME_BYTES,
    tellExit: (code) => `its process ended with code ${code} and without an answer`,
  });
  const onClosing = () => child.end("the service is stopping");
  closing.addEventListener("abort", onClosing, { once: true });
  void child.gone.then(() => closing.removeEventListener("abort", onClosing));
  return child;
}

/**
 * Has a process run a task. Resolves as soon as the end is known; after any but an answer the process is gone.
 * Rejects with the reason of `signal`, likewise.
 */
export async function runTask(
  { peer, end, gone }: ActionProcess,
  { task, bytes, timeoutMs, signal, onProgress }: TaskOptions,
): Promise<TaskEnd> {
  let isCancelled = false;
  let isLate = false;
  const onAbort = () => {
    isCancelled = true;
    end("it was cancelled");
  };
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => {
    isLate = true;
    end("its time was up");
  }, timeoutMs);
  if (signal.aborted) onAbort();

  async function answer(): Promise<ChildOutcome | undefined> {
    try {
      const progress = boundedProgress(onProgress, PROGRESS);
      return await peer.call("run", task, { bytes, onProgress: progress });
    } catch (error) {
      if (error instanceof ChildEnded) return undefined;
      return { type: "failure", message: (error as Error).message };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  const result = await answer();
  if (result !== undefined && !isCancelled) return { result, stderr: "" };
  const { reason, stderr } = await gone;
  if (isCancelled) throw signal.reason;
  if (isLate) return { result: { type: "timeout", timeoutMs }, stderr };
  const fault: Fault = { type: "fault", message: reason };
  if (reason === OUT_OF_MEMORY) fault.outOfMemory = true;
  return { result: fault, stderr };
}
