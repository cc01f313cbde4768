/**
 * One action in one child process: the task goes in, an answer comes out, and nothing of its tree is left
 * afterwards.
 *
 * @module
 */

import { ACTION_CHILD, type ChildResult, type ChildTask } from "./action_child.ts";
import { boundedProgress } from "./bounded_progress.ts";
import { MAX_FRAME_BYTES } from "../rpc/frames.ts";
import { ChildEnded, spawnChild } from "./spawn_child.ts";
import { OUT_OF_MEMORY } from "./spawn_process.ts";

/** How one process is run. */
export interface ProcessOptions {
  argv: readonly string[];
  /** The whole environment. */
  env: Record<string, string>;
  task: ChildTask;
  /** Goes beside the task. */
  bytes?: Uint8Array<ArrayBuffer>;
  timeoutMs: number;
  /** Cancels this action. */
  signal: AbortSignal;
  /** Ends every action. */
  closing: AbortSignal;
  onProgress: (text: string) => void;
}

/** What came of a process. */
export interface ProcessEnd {
  result: ChildOutcome;
  /** The last of its standard error. */
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

/** Of what one child may say until it answers; more is dropped. */
const PROGRESS = { maxChars: 1024 * 1024, maxTexts: Infinity };

/**
 * Starts a process. `outcome` resolves as soon as the end is known, or rejects with the reason of
 * `signal` when the process is gone; `gone` resolves when the tree has ended, and never rejects.
 * Throws when it cannot be started.
 */
export function runProcess(
  options: ProcessOptions,
): { outcome: Promise<ProcessEnd>; gone: Promise<void> } {
  const { task, bytes, timeoutMs, signal, closing } = options;
  const { peer, end, gone } = spawnChild({
    argv: options.argv,
    env: options.env,
    cwd: "/",
    ...ACTION_CHILD,
    handlers: ACTION_CHILD.authority,
    maxErrorChars: task.maxOutputBytes,
    maxReadBytes: 2 * MAX_FRAME_BYTES,
    tellExit: (code) => `its process ended with code ${code} and without an answer`,
  });
  let isCancelled = false;
  let isLate = false;
  const onAbort = () => {
    isCancelled = true;
    end("it was cancelled");
  };
  const onClosing = () => end("the service is stopping");
  signal.addEventListener("abort", onAbort, { once: true });
  closing.addEventListener("abort", onClosing, { once: true });
  const timer = setTimeout(() => {
    isLate = true;
    end("its time was up");
  }, timeoutMs);

  async function answer(): Promise<ChildOutcome | undefined> {
    const onProgress = boundedProgress(options.onProgress, PROGRESS);
    try {
      return await peer.call("run", task, { bytes, onProgress });
    } catch (error) {
      if (error instanceof ChildEnded) return undefined;
      return { type: "failure", message: (error as Error).message };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      closing.removeEventListener("abort", onClosing);
      // It has said its last word: nothing of it is needed any more.
      end("it has answered");
    }
  }

  async function outcome(): Promise<ProcessEnd> {
    const result = await answer();
    if (result !== undefined && !isCancelled) return { result, stderr: "" };
    const { reason, stderr } = await gone;
    if (isCancelled) throw signal.reason;
    if (isLate) return { result: { type: "timeout", timeoutMs }, stderr };
    const fault: Fault = { type: "fault", message: reason };
    if (reason === OUT_OF_MEMORY) fault.outOfMemory = true;
    return { result: fault, stderr };
  }
  const result = outcome();
  result.catch(() => {});
  return { outcome: result, gone: gone.then(() => {}) };
}
