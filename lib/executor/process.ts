/**
 * One child process from spawn to end: the task goes in, frames come out, and nothing of its tree is
 * left afterwards.
 *
 * @module
 */

import { encodeTask, FrameReader } from "../rpc/frames.ts";
import { killTree, readTail, withinMoments } from "../base/process_tree.ts";
import {
  type ChildFrame,
  type ChildTask,
  MAX_FRAME_BYTES,
  MAX_PROGRESS_CHARS,
} from "../rpc/protocol.ts";

/** How one process is run. */
export interface ProcessOptions {
  argv: readonly string[];
  /** The whole environment. */
  env: Record<string, string>;
  task: ChildTask;
  timeoutMs: number;
  /** Cancels this action. */
  signal: AbortSignal;
  /** Ends every action. */
  closing: AbortSignal;
  onProgress: (text: string) => void;
}

/** What came of a process. */
export interface ProcessEnd {
  result:
    | Exclude<ChildFrame, { type: "progress" }>
    | { type: "timeout"; timeoutMs: number }
    | Fault;
  /** The last of its standard error. */
  stderr: string;
}

/** An end without an answer. */
export interface Fault {
  type: "fault";
  message: string;
  /** It took more memory than it may have. */
  outOfMemory?: true;
}

/** Characters of progress that one child may say; more is dropped. */
const MAX_PROGRESS_TOTAL = 1024 * 1024;
const MAX_STDERR_BYTES = 4_096;

/**
 * Starts a process. `outcome` resolves as soon as the end is known, or rejects with the reason of
 * `signal` when the process is gone; `gone` resolves when the tree has ended, and never rejects.
 * Throws when it cannot be started.
 */
export function runProcess(
  options: ProcessOptions,
): { outcome: Promise<ProcessEnd>; gone: Promise<void> } {
  const [path, ...args] = options.argv;
  const task = encodeTask(options.task);
  const child = new Deno.Command(path!, {
    args,
    clearEnv: true,
    env: options.env,
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    // A group of its own, so that it can be killed as a whole.
    detached: true,
  }).spawn();

  let exited = false;
  const status = child.status.then((status) => {
    exited = true;
    return status;
  });
  const kill = () => {
    // A number that was given back may belong to somebody else by now.
    if (!exited) killTree(child);
  };

  let ending: "timeout" | "cancelled" | "closing" | undefined;
  const end = (how: NonNullable<typeof ending>) => {
    ending ??= how;
    kill();
  };
  const onAbort = () => end("cancelled");
  const onClosing = () => end("closing");
  options.signal.addEventListener("abort", onAbort, { once: true });
  options.closing.addEventListener("abort", onClosing, { once: true });
  const timer = setTimeout(() => end("timeout"), options.timeoutMs);

  const stdin = child.stdin.getWriter();
  // Failing means that the child has gone, which its output tells better.
  for (const bytes of task) stdin.write(bytes).catch(() => {});

  const stderr = readTail(child.stderr, MAX_STDERR_BYTES);
  const answer = readAnswer(child.stdout, options.onProgress);
  const settled = answer.then((answer) => {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", onAbort);
    options.closing.removeEventListener("abort", onClosing);
    // It has said its last word, or what it says makes no sense: nothing of it is needed any more.
    kill();
    return answer;
  });
  const drained = answer.then((answer) => answer.drained);
  const gone = Promise.all([status, settled, withinMoments(Promise.all([drained, stderr]))])
    .then(() => stdin.close().catch(() => {}))
    .then(() => {}, () => {});

  async function outcome(): Promise<ProcessEnd> {
    const { frame, problem } = await settled;
    if (frame !== undefined && ending !== "cancelled") return { result: frame, stderr: "" };
    await gone;
    // Already there, but for a process that even a kill does not end.
    const said = await Promise.race([stderr, Promise.resolve("")]);
    switch (ending) {
      case "cancelled":
        throw options.signal.reason;
      case "timeout":
        return { result: { type: "timeout", timeoutMs: options.timeoutMs }, stderr: said };
      case "closing":
        return { result: { type: "fault", message: "the service is stopping" }, stderr: said };
    }
    const result: Fault = problem === undefined
      ? describeEnd(await status, said)
      : { type: "fault", message: problem };
    return { result, stderr: said };
  }
  const result = outcome();
  result.catch(() => {});
  return { outcome: result, gone };
}

interface Answer {
  frame?: Exclude<ChildFrame, { type: "progress" }>;
  /** What is wrong with what it said. */
  problem?: string;
  /** Resolves when its output has ended: the last process that held it is gone. */
  drained: Promise<unknown>;
}

async function readAnswer(
  stdout: ReadableStream<Uint8Array>,
  onProgress: (text: string) => void,
): Promise<Answer> {
  const frames = new FrameReader();
  const reader = stdout.getReader();
  let progressLeft = MAX_PROGRESS_TOTAL;
  let bytesLeft = 2 * MAX_FRAME_BYTES;
  const rest = () => drain(reader);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { drained: Promise.resolve() };
      bytesLeft -= value.length;
      if (bytesLeft < 0) return { problem: "it said too much", drained: rest() };
      for (const frame of frames.push(value)) {
        if (!isFrame(frame)) return { problem: "it answered no known frame", drained: rest() };
        if (frame.type !== "progress") return { frame, drained: rest() };
        const text = frame.text.slice(0, Math.min(MAX_PROGRESS_CHARS, progressLeft));
        progressLeft -= text.length;
        if (text !== "") onProgress(text);
      }
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { problem: `its answer cannot be read: ${message}`, drained: rest() };
  }
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // Broken pipes are as good as ended ones.
  }
}

/** What comes from a child is checked like any other input. */
function isFrame(value: unknown): value is ChildFrame {
  if (typeof value !== "object" || value === null) return false;
  const frame = value as Record<string, unknown>;
  switch (frame.type) {
    case "progress":
      return typeof frame.text === "string";
    case "result":
      return typeof frame.output === "string";
    case "failure":
      return typeof frame.message === "string";
    case "redirect":
      return typeof frame.url === "string";
    case "page":
      return [frame.head, frame.html, frame.url].every((text) => typeof text === "string") &&
        typeof frame.wantsArticle === "boolean" && typeof frame.isError === "boolean";
    case "file":
      return typeof frame.data === "string";
    case "addresses":
      return Array.isArray(frame.addresses) &&
        frame.addresses.every((address) => typeof address === "string");
    default:
      return false;
  }
}

function describeEnd(status: Deno.CommandStatus, stderr: string): Fault {
  // V8's words at the end of its heap, and those of Rust and C++ when the data limit is reached.
  if (/out of memory|memory allocation of \d+ bytes failed|bad_alloc/i.test(stderr)) {
    return { type: "fault", message: "its process ran out of memory", outOfMemory: true };
  }
  const message = status.signal === null
    ? `its process ended with code ${status.code} and without an answer`
    : `its process was ended by ${status.signal}`;
  return { type: "fault", message };
}
